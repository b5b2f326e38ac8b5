//! Whether a client is still there (core reference 1.8).

use super::{Connection, Timer};
use crate::protocol::ProtocolError;
use bytes::Bytes;
use std::time::{Duration, Instant};

/// The first PING comes soon, to measure the round trip.
const FIRST_PING: Duration = Duration::from_secs(2);
/// The round trip is measured anew after this long, however busy the client is.
const RTT_LASTS: Duration = Duration::from_secs(3600);
/// Timers are this much longer, at most, so that clients that came together do not stay together.
const JITTER: f64 = 0.2;

#[derive(Default)]
pub(super) struct Heartbeat {
    /// Something came since the last alarm.
    heard: bool,
    /// PINGs without an answer.
    unanswered: u32,
    sent: Option<Instant>,
    rtt: Option<(Duration, Instant)>,
    /// From its coming to its first CONNECT: stands for the round trip until one is measured.
    greeting: Option<Duration>,
    /// Which of the alarms set counts.
    round: u32,
}

impl Heartbeat {
    pub(super) fn heard(&mut self) {
        self.heard = true;
    }

    /// A PONG.
    pub(super) fn answered(&mut self) {
        self.unanswered = 0;
        if let Some(sent) = self.sent.take() {
            let now = Instant::now();
            self.rtt = Some((now - sent, now));
        }
    }

    /// Its CONNECT came so long after it.
    pub(super) fn greeted(&mut self, after: Duration) {
        self.greeting.get_or_insert(after);
    }

    pub(super) fn rtt(&self) -> Option<Duration> {
        self.rtt.map(|(rtt, _)| rtt).or(self.greeting)
    }

    fn needs_rtt(&self) -> bool {
        self.rtt.is_none_or(|(_, at)| at.elapsed() > RTT_LASTS)
    }
}

impl Connection {
    pub(super) fn schedule_first_ping(&mut self) {
        self.heartbeat.round += 1;
        let first = FIRST_PING.min(self.options.ping_interval);
        let jitter = first.mul_f64(JITTER * rand::random::<f64>());
        self.set_alarm(Timer::Ping, first + jitter, self.heartbeat.round);
    }

    pub(super) fn ping_alarm(&mut self, round: u32) {
        if round != self.heartbeat.round || self.closing.is_some() {
            return;
        }
        let heard = std::mem::take(&mut self.heartbeat.heard);
        if !heard || self.heartbeat.needs_rtt() {
            if self.heartbeat.unanswered >= self.options.ping_max {
                tracing::debug!("{} - Stale Client Connection - Closing", self.label());
                return self.fail(ProtocolError::StaleConnection);
            }
            self.heartbeat.unanswered += 1;
            self.heartbeat.sent = Some(Instant::now());
            self.outbound.say(Bytes::from_static(b"PING\r\n"));
        }
        self.set_alarm(Timer::Ping, self.options.ping_interval, round);
    }
}
