//! How fast messages may follow each other: `rate_limit_bps` and `replay_policy: original`.

use super::ConsumerConfig;
use super::config::ReplayPolicy;

const SECOND: f64 = 1e9;

/// Shorter pauses between messages are not kept, in nanoseconds.
const SHORTEST: i64 = 1_000_000;

/// A bucket of bytes, and the memory of the last message.
#[derive(Debug)]
pub struct Pace {
    /// Bytes per second; 0 for no limit.
    rate: f64,
    burst: f64,
    tokens: f64,
    filled: i64,
    /// Messages up to this sequence come at their original pace; 0 for none.
    replay_until: u64,
    /// When the last message was stored, and when it was delivered.
    last: Option<(i64, i64)>,
}

impl Pace {
    /// `burst`: bytes let through at once. `stream_last`: the stream's last sequence now.
    pub fn new(config: &ConsumerConfig, burst: u64, stream_last: u64, now: i64) -> Self {
        let replay = config.replay_policy == ReplayPolicy::Original;
        let burst = burst.max(1) as f64;
        Self {
            rate: rate(config),
            burst,
            tokens: burst,
            filled: now,
            replay_until: if replay { stream_last } else { 0 },
            last: None,
        }
    }

    pub fn set_rate(&mut self, config: &ConsumerConfig) {
        self.rate = rate(config);
    }

    /// When a message may leave: `None` for now.
    pub fn wait(&mut self, seq: u64, stored: i64, bytes: usize, now: i64) -> Option<i64> {
        if seq <= self.replay_until
            && let Some((before, delivered)) = self.last
        {
            let pause = stored.saturating_sub(before);
            let at = delivered.saturating_add(pause);
            if pause > SHORTEST && at > now {
                return Some(at);
            }
        }
        if self.rate <= 0.0 {
            return None;
        }
        self.fill(now);
        let missing = (bytes as f64).min(self.burst) - self.tokens;
        (missing > 0.0).then(|| now.saturating_add((missing / self.rate * SECOND).ceil() as i64))
    }

    /// A message left.
    pub fn sent(&mut self, stored: i64, bytes: usize, now: i64) {
        if self.replay_until > 0 {
            self.last = Some((stored, now));
        }
        if self.rate > 0.0 {
            self.fill(now);
            self.tokens -= (bytes as f64).min(self.burst);
        }
    }

    fn fill(&mut self, now: i64) {
        let gained = now.saturating_sub(self.filled).max(0) as f64 / SECOND * self.rate;
        self.tokens = (self.tokens + gained).min(self.burst);
        self.filled = now;
    }
}

fn rate(config: &ConsumerConfig) -> f64 {
    config.rate_limit_bps as f64 / 8.0
}
