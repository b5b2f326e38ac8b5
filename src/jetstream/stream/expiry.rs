//! Age: messages that have lived for `max_age`, or for as long as their TTL says, go (streams reference 3.7).

use super::actor::{Later, Stream, alarms};
use super::contents::Cause;
use super::ingest::Publication;
use super::lifetimes::Life;
use super::publish_headers::PublishHeaders;
use super::rollup::Rollup;
use crate::actor::SetAlarm;
use crate::protocol::{GoDuration, headers};
use std::borrow::Cow;
use std::time::Duration;

/// Messages that expire in one turn.
const SLICE: usize = 8192;

/// Two looks at the clock are never closer together.
const PAUSE: i64 = 50_000_000;

/// When the next look is due.
#[derive(Debug, Default)]
pub struct Expiry {
    /// What the alarm is set for.
    at: Option<i64>,
    ids_are_watched: bool,
}

impl Expiry {
    pub fn rang(&mut self) {
        self.at = None;
    }

    /// Whether an alarm is set: for the oldest message, so that new ones without a TTL need none.
    pub fn is_watching(&self) -> bool {
        self.at.is_some()
    }
}

impl Stream {
    /// When the next message will have lived long enough, and which. Times do not decrease with sequences, so age
    /// concerns the oldest; a TTL any.
    fn next_end(&mut self) -> Option<(i64, u64)> {
        let index = &self.contents.index;
        let by_ttl = self.lifetimes.first_end(|seq| index.contains(seq));
        if self.config.max_age <= 0 {
            return by_ttl;
        }
        let by_age = self.lifetimes.first_aging(|from| index.next(from));
        let by_age = by_age.map(|(seq, oldest)| (oldest.timestamp.saturating_add(self.config.max_age), seq));
        by_ttl.into_iter().chain(by_age).min()
    }

    /// Whether a message has lived too long.
    pub(super) fn is_expiry_due(&mut self) -> bool {
        let now = self.now();
        self.next_end().is_some_and(|(end, _)| end <= now)
    }

    /// Sets the alarm for the next message to expire.
    pub(super) fn watch_age(&mut self) {
        if let Some((end, _)) = self.next_end() {
            self.watch(end);
        }
    }

    /// Sets the alarm for a message that ends then, unless it is set for then or earlier.
    pub(super) fn watch(&mut self, end: i64) {
        if self.expiry.at.is_some_and(|set| set <= end) {
            return;
        }
        self.expiry.at = Some(end);
        self.set_alarm(alarms::EXPIRY, (end - self.now()).max(PAUSE));
    }

    /// Removes what has lived too long.
    pub(super) fn expire(&mut self) {
        if self.closing {
            return;
        }
        let now = self.now();
        for _ in 0..SLICE {
            match self.next_end() {
                Some((end, seq)) if end <= now => self.expire_one(seq, now),
                _ => return self.watch_age(),
            }
        }
        self.later(Later::Expire);
    }

    /// Removes one message; if it was the last on its subject, a delete marker may take its place.
    fn expire_one(&mut self, seq: u64, now: i64) {
        if let Some(subject) = self.subject_to_mark(seq) {
            self.put_marker(&subject, now);
        }
        self.remove(seq, Cause::Gone);
    }

    fn subject_to_mark(&mut self, seq: u64) -> Option<Vec<u8>> {
        if self.config.subject_delete_marker_ttl <= 0 || self.lifetimes.get(seq).is_marker {
            return None;
        }
        let slot = self.contents.subjects.slot(self.contents.index.get(seq)?.subject);
        (slot.seqs.len() == 1).then(|| slot.name.to_vec())
    }

    fn put_marker(&mut self, subject: &[u8], now: i64) {
        let ttl = GoDuration(self.config.subject_delete_marker_ttl).to_string();
        let block = headers::Builder::new()
            .header("Nats-Marker-Reason", "MaxAge")
            .header("Nats-TTL", ttl)
            .header("Nats-Rollup", "sub")
            .finish();
        let size = self.accounted(subject, block.len(), 0);
        let life = Life::of(&PublishHeaders::parse(&block), true);
        let marker = Publication { subject, headers: Cow::Borrowed(&block), payload: b"" };
        let seq = self.put(&marker, None, life, size, now);
        self.roll_up(Rollup::Subject, subject, seq);
    }

    /// Sees to it that ids leave memory when their window is over, also if nothing is published any more.
    pub(super) fn watch_ids(&mut self) {
        if !self.expiry.ids_are_watched && self.config.duplicate_window > 0 {
            self.expiry.ids_are_watched = true;
            self.set_alarm(alarms::DEDUPE, self.config.duplicate_window.max(PAUSE));
        }
    }

    pub(super) fn forget_ids(&mut self) {
        self.expiry.ids_are_watched = false;
        self.dedupe.expire(self.now());
        if !self.dedupe.is_empty() {
            self.watch_ids();
        }
    }

    fn set_alarm(&self, token: u64, after: i64) {
        let after = Duration::from_nanos(u64::try_from(after).unwrap_or(0));
        self.setting.timers.send(SetAlarm { after, token, to: self.own.outlet() });
    }
}
