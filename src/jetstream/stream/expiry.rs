//! Age: messages that have lived for `max_age` go (streams reference 3.7).

use super::actor::{Later, Stream, alarms};
use super::contents::{Cause, Contents};
use crate::actor::SetAlarm;
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

    /// Whether an alarm is set: for the oldest message, so that new ones need none.
    pub fn is_watching(&self) -> bool {
        self.at.is_some()
    }

    /// Whether a message has lived too long.
    pub fn is_due(&self, contents: &Contents, max_age: i64, now: i64) -> bool {
        deadline(contents, max_age).is_some_and(|at| at <= now)
    }
}

/// When the oldest message has lived long enough. Times do not decrease with sequences, so it is the first to go.
fn deadline(contents: &Contents, max_age: i64) -> Option<i64> {
    if max_age <= 0 {
        return None;
    }
    let (_, oldest) = contents.index.next(contents.first())?;
    Some(oldest.timestamp.saturating_add(max_age))
}

impl Stream {
    /// Sets the alarm for the next message to expire, unless it is set for then or earlier.
    pub(super) fn watch_age(&mut self) {
        let Some(at) = deadline(&self.contents, self.config.max_age) else { return };
        if self.expiry.at.is_some_and(|set| set <= at) {
            return;
        }
        self.expiry.at = Some(at);
        self.set_alarm(alarms::EXPIRY, (at - self.now()).max(PAUSE));
    }

    /// Removes what has lived too long.
    pub(super) fn expire(&mut self) {
        if self.closing {
            return;
        }
        let now = self.now();
        for _ in 0..SLICE {
            match deadline(&self.contents, self.config.max_age) {
                Some(at) if at <= now => self.remove(self.contents.first(), Cause::Gone),
                _ => return self.watch_age(),
            }
        }
        self.later(Later::Expire);
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
