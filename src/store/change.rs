use super::{ConsumerId, ConsumerState};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// One change of a stream's durable state. The changes of one commit become durable together or not at all.
///
/// Appended messages are changes too; a store makes those itself, see [`StreamStore::append`](super::StreamStore).
/// Every change can be applied twice without harm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// The stream exists from here on. `config` is not looked into.
    Create {
        account: String,
        name: String,
        config: Bytes,
        created: i64,
    },
    /// A new configuration.
    Configure {
        config: Bytes,
    },
    /// The stream and all of its consumers are gone.
    Delete,
    /// These messages are gone (deleted, acked in a work queue, replaced by a newer one on their subject...).
    Remove {
        seqs: Vec<u64>,
    },
    /// Everything below `first` is gone, and the next message gets at least `last + 1`: limits, age, purges,
    /// sequences that were used up without a message, `first_seq`. `last_timestamp` as in the stream's state.
    Advance {
        first: u64,
        last: u64,
        last_timestamp: i64,
    },
    /// These interior ranges are gone: filtered purges.
    RemoveRanges {
        ranges: Vec<Range<u64>>,
    },
    CreateConsumer {
        consumer: ConsumerId,
        name: String,
        config: Bytes,
        created: i64,
        state: ConsumerState,
    },
    ConfigureConsumer {
        consumer: ConsumerId,
        config: Bytes,
    },
    DeleteConsumer {
        consumer: ConsumerId,
    },
    /// Deliveries and acks since the last commit.
    Consumed {
        consumer: ConsumerId,
        deltas: Vec<ConsumerDelta>,
    },
    /// The whole state: after a reset, a purge, or a commit that failed.
    SetConsumer {
        consumer: ConsumerId,
        state: ConsumerState,
    },
}

/// A step of a consumer. [`ConsumerState::apply`] says what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConsumerDelta {
    /// A message was delivered: `stream` is its sequence, `consumer` the delivery's. `timestamp` in ns since 1970.
    /// `tracked`: it waits for an acknowledgement.
    #[serde(rename = "d")]
    Delivered { stream: u64, consumer: u64, timestamp: i64, tracked: bool },
    /// A message is settled: acknowledged, terminated, or gone (explicit policy).
    #[serde(rename = "s")]
    Settled { stream: u64 },
    /// Everything up to this pair is settled (policy `all`, `none`, `flow_control`).
    #[serde(rename = "u")]
    SettledUpTo { stream: u64, consumer: u64 },
    /// Its deliveries have used up `max_deliver`: no longer pending, still remembered as redelivered.
    #[serde(rename = "g")]
    GivenUp { stream: u64 },
    /// It is forgotten: left the stream after it had been given up.
    #[serde(rename = "f")]
    Forgotten { stream: u64 },
}
