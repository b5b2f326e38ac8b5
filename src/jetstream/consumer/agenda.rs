use crate::actor::{Alarm, Outlet, SetAlarm};
use std::time::Duration;

/// What a consumer waits for the clock to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matter {
    /// A delivered message has not been acknowledged.
    AckWait,
    /// A pull request expires, or wants a heartbeat.
    Pulls,
    /// The heartbeat of a push consumer.
    Heartbeat,
    /// Nobody uses the consumer.
    Inactivity,
    /// The pause is over.
    Pause,
    /// Enough time has passed for the next message: rate limit, original replay.
    Pace,
    /// The pinned client has been silent for too long.
    Pin,
    /// A failed save is tried again.
    Save,
}

const MATTERS: usize = 8;

/// All the times a consumer waits for, with one alarm set: for the earliest.
#[derive(Debug, Default)]
pub struct Agenda {
    due: [Option<i64>; MATTERS],
    armed: Option<(i64, u64)>,
    tokens: u64,
}

impl Agenda {
    pub fn set(&mut self, matter: Matter, at: Option<i64>) {
        self.due[matter as usize] = at;
    }

    /// Sets it unless it is set for earlier.
    pub fn advance(&mut self, matter: Matter, at: i64) {
        let due = &mut self.due[matter as usize];
        *due = Some(due.map_or(at, |before| before.min(at)));
    }

    pub fn get(&self, matter: Matter) -> Option<i64> {
        self.due[matter as usize]
    }

    /// Whether its time has come; if so it is no longer set.
    pub fn take(&mut self, matter: Matter, now: i64) -> bool {
        let due = &mut self.due[matter as usize];
        let come = due.is_some_and(|at| at <= now);
        if come {
            *due = None;
        }
        come
    }

    /// An alarm rang.
    pub fn rang(&mut self, alarm: Alarm) {
        if self.armed.is_some_and(|(_, token)| token == alarm.0) {
            self.armed = None;
        }
    }

    /// The alarm to set now, if one is needed earlier than the one that is set.
    pub fn arm(&mut self, now: i64, to: &Outlet<Alarm>) -> Option<SetAlarm> {
        let earliest = self.due.iter().flatten().copied().min()?;
        if self.armed.is_some_and(|(at, _)| at <= earliest) {
            return None;
        }
        self.tokens += 1;
        self.armed = Some((earliest, self.tokens));
        let after = Duration::from_nanos(earliest.saturating_sub(now).max(0) as u64);
        Some(SetAlarm { after, token: self.tokens, to: to.clone() })
    }
}
