//! Who still needs a message: the part of a consumer's state that retention looks at (consumers reference 8.2).

use crate::store::ConsumerState;
use ahash::AHashSet;

/// What a consumer has finished with, among messages that its stream still holds.
#[derive(Debug, Default)]
pub struct Need {
    /// Everything up to here.
    floor: u64,
    /// And these.
    settled: AHashSet<u64>,
}

impl Need {
    /// A consumer that begins here needs nothing before.
    pub fn from(next: u64) -> Self {
        Self { floor: next.saturating_sub(1), settled: AHashSet::new() }
    }

    /// The need of a recovered consumer. `delivered` lists messages still held that match its filter, from its floor
    /// up to the last it was delivered.
    pub fn recovered(state: &ConsumerState, held: impl Iterator<Item = u64>) -> Self {
        let waits = |seq: &u64| state.pending.contains_key(seq) || state.redelivered.contains_key(seq);
        let settled = held.filter(|seq| !waits(seq)).collect();
        // Messages given up lie below the floor and are needed all the same.
        let given_up = state.redelivered.keys().next().copied().unwrap_or(u64::MAX);
        Self { floor: state.floor_stream.min(given_up.saturating_sub(1)), settled }
    }

    /// Whether a message that matches its filter is needed still.
    pub fn needs(&self, seq: u64) -> bool {
        seq > self.floor && !self.settled.contains(&seq)
    }

    /// It is done with a message.
    pub fn settle(&mut self, seq: u64) {
        if seq > self.floor {
            self.settled.insert(seq);
        }
    }

    pub fn settle_up_to(&mut self, seq: u64) {
        if seq > self.floor {
            self.floor = seq;
            self.settled.retain(|settled| *settled > seq);
        }
    }

    /// The message is no longer there.
    pub fn forget(&mut self, seq: u64) {
        if !self.settled.is_empty() {
            self.settled.remove(&seq);
        }
    }

    pub fn floor(&self) -> u64 {
        self.floor
    }
}
