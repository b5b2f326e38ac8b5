use crate::jetstream::consumer::ConsumerConfig;
use crate::jetstream::consumer::config::AckPolicy;
use crate::jetstream::consumer::ledger::Ledger;

/// How long a delivered message may go unacknowledged.
#[derive(Clone, Debug)]
pub struct AckWaits {
    /// 0: for ever.
    pub wait: i64,
    backoff: Vec<i64>,
}

impl AckWaits {
    pub fn new(config: &ConsumerConfig) -> Self {
        let timed = matches!(config.ack_policy, AckPolicy::Explicit | AckPolicy::All);
        Self { wait: if timed { config.ack_wait } else { 0 }, backoff: config.backoff.clone() }
    }

    /// After so many deliveries of a message.
    pub fn after(&self, deliveries: u64) -> i64 {
        let extra = usize::try_from(deliveries.saturating_sub(1)).unwrap_or(usize::MAX);
        self.backoff.get(extra).or(self.backoff.last()).copied().unwrap_or(self.wait)
    }

    /// When a message is due again, in ns since 1970; `None` if it is not pending, or never.
    pub fn due(&self, ledger: &Ledger, seq: u64) -> Option<i64> {
        if self.wait <= 0 {
            return None;
        }
        let pending = ledger.pending(seq)?;
        let wait = if self.backoff.is_empty() { self.wait } else { self.after(ledger.count(seq)) };
        Some(pending.timestamp.saturating_add(wait))
    }
}
