//! When to write: at once, unless the client gets so many small deliveries that gathering a few is cheaper for both.
//!
//! A publisher that writes each message by itself makes as many deliveries of one message. Each write to a socket costs
//! two microseconds here, and wakes the client, which costs more there. So what follows close upon the last write waits
//! while more comes, but not for long: whoever is written to now and then, as in request and reply, never waits.

use std::time::{Duration, Instant};

/// A write this soon after the last one may wait.
const CLOSE: Duration = Duration::from_micros(40);
/// It waits no longer than this.
const PATIENCE: Duration = Duration::from_micros(60);
/// So much is worth a write at any time.
const ENOUGH: usize = 8 * 1024;
/// It waits no longer than so many looks at the sockets that brought nothing.
const IDLE_TURNS: u32 = 2;

/// The rhythm of a connection's writes.
#[derive(Default)]
pub(super) struct Pace {
    written: Option<Instant>,
    /// Something waits since then.
    since: Option<Instant>,
    /// Messages delivered, at the last look.
    seen: u64,
    idle_turns: u32,
}

impl Pace {
    /// Whether what is pending may wait until the sockets have been looked at. `delivered` counts messages so far.
    pub(super) fn holds_back(&mut self, pending: usize, delivered: u64) -> bool {
        if pending == 0 {
            return false;
        }
        let came = delivered - self.seen;
        self.seen = delivered;
        if pending < ENOUGH && (came > 0 || self.since.is_some()) {
            let now = Instant::now();
            match self.since {
                None if self.written.is_some_and(|at| now - at < CLOSE) => {
                    (self.since, self.idle_turns) = (Some(now), 0);
                    return true;
                }
                None => self.written = Some(now),
                Some(since) => {
                    self.idle_turns = if came > 0 { 0 } else { self.idle_turns + 1 };
                    if self.idle_turns < IDLE_TURNS && now - since < PATIENCE {
                        return true;
                    }
                    self.written = Some(now);
                }
            }
        }
        self.since = None;
        false
    }
}
