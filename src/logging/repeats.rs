//! Keeps one and the same warning from filling the log.

use ahash::RandomState;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Different lines that are counted at one time; more than these are written without being counted.
const MAX_LINES: usize = 1024;

/// Counts lines by what they say.
pub(super) struct Repeats {
    limit: u32,
    interval: Duration,
    lines: HashMap<u64, Count>,
    hasher: RandomState,
}

struct Count {
    since: Instant,
    written: u32,
    held_back: u64,
}

/// What to do with a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Write it. So many like it were held back since the last one.
    Write { held_back: u64 },
    /// It has been told often enough for now.
    Hold,
}

impl Repeats {
    /// `limit` equal lines in each `interval`; 0 has no limit.
    pub(super) fn new(limit: u32, interval: Duration) -> Self {
        Self { limit, interval, lines: HashMap::new(), hasher: RandomState::new() }
    }

    /// Judges a line that says `text` at `now`.
    pub(super) fn judge(&mut self, text: &str, now: Instant) -> Verdict {
        if self.limit == 0 {
            return Verdict::Write { held_back: 0 };
        }
        let hash = self.hasher.hash_one(text);
        let interval = self.interval;
        let over = |count: &Count| now.saturating_duration_since(count.since) >= interval;
        if self.lines.len() >= MAX_LINES && !self.lines.contains_key(&hash) {
            self.lines.retain(|_, count| !over(count));
            if self.lines.len() >= MAX_LINES {
                return Verdict::Write { held_back: 0 };
            }
        }
        let count = self.lines.entry(hash).or_insert(Count { since: now, written: 0, held_back: 0 });
        let mut held_back = 0;
        if over(count) {
            held_back = std::mem::take(&mut count.held_back);
            (count.since, count.written) = (now, 0);
        }
        if count.written >= self.limit {
            count.held_back += 1;
            return Verdict::Hold;
        }
        count.written += 1;
        Verdict::Write { held_back }
    }
}
