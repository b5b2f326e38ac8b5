use super::ConsumerDelta;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A message delivered and not yet acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingMessage {
    /// The consumer sequence of its first delivery.
    pub consumer: u64,
    /// When it was last delivered or marked as in progress, in ns since 1970.
    pub timestamp: i64,
}

/// Where a consumer stands: the part of its state that outlives the process.
///
/// One model for the Consumer actor, the journal and recovery: all of them [`apply`](Self::apply) the same deltas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsumerState {
    /// The highest delivered stream sequence, or the one before the first to deliver.
    pub delivered_stream: u64,
    /// The consumer sequence of the last delivery.
    pub delivered_consumer: u64,
    /// Everything up to here is settled.
    pub floor_stream: u64,
    pub floor_consumer: u64,
    /// By stream sequence.
    pub pending: BTreeMap<u64, PendingMessage>,
    /// Extra deliveries by stream sequence, also of messages given up.
    pub redelivered: BTreeMap<u64, u64>,
}

impl ConsumerState {
    /// Takes one step. Steps taken before (a journal replayed over a newer state) change nothing.
    /// Floor rules: consumers reference, section 3.4.
    pub fn apply(&mut self, delta: &ConsumerDelta) {
        match *delta {
            ConsumerDelta::Delivered { stream, consumer, timestamp, tracked } => {
                self.delivered(stream, consumer, timestamp, tracked)
            }
            ConsumerDelta::Settled { stream } => self.settled(stream),
            ConsumerDelta::SettledUpTo { stream, consumer } => self.settled_up_to(stream, consumer),
            ConsumerDelta::GivenUp { stream } => {
                self.pending.remove(&stream);
            }
            ConsumerDelta::Forgotten { stream } => {
                self.redelivered.remove(&stream);
            }
        }
    }

    fn delivered(&mut self, stream: u64, consumer: u64, timestamp: i64, tracked: bool) {
        if consumer <= self.delivered_consumer {
            return;
        }
        self.delivered_consumer = consumer;
        let again = stream <= self.delivered_stream;
        self.delivered_stream = self.delivered_stream.max(stream);
        if !tracked {
            self.floor_stream = self.floor_stream.max(stream);
            self.floor_consumer = consumer;
            return;
        }
        if again {
            *self.redelivered.entry(stream).or_insert(0) += 1;
        }
        self.pending
            .entry(stream)
            .and_modify(|p| p.timestamp = timestamp)
            .or_insert(PendingMessage { consumer, timestamp });
    }

    fn settled(&mut self, stream: u64) {
        self.redelivered.remove(&stream);
        let Some(gone) = self.pending.remove(&stream) else { return };
        if self.pending.is_empty() {
            self.floor_stream = self.delivered_stream;
            self.floor_consumer = self.delivered_consumer;
        } else if gone.consumer == self.floor_consumer + 1 {
            self.floor_stream = stream;
            self.floor_consumer = gone.consumer;
            // Up to just below the next message that is still pending.
            if let Some((&next, pending)) = self.pending.range(stream..).next() {
                self.floor_stream = next - 1;
                self.floor_consumer = pending.consumer - 1;
            }
        }
    }

    fn settled_up_to(&mut self, stream: u64, consumer: u64) {
        if stream <= self.floor_stream {
            return;
        }
        self.floor_stream = stream;
        self.floor_consumer = self.floor_consumer.max(consumer);
        let rest = self.pending.split_off(&(stream + 1));
        self.pending = rest;
        let rest = self.redelivered.split_off(&(stream + 1));
        self.redelivered = rest;
    }
}
