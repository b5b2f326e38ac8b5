use super::ConsumerConfig;
use crate::jetstream::messages::ApiRequest;
use crate::jetstream::stream::config::{Retention, Storage};
use crate::store::{ConsumerId, ConsumerState, StreamId};
use std::sync::Arc;

/// All a Consumer is given at its start, by its stream.
#[derive(Debug)]
pub struct ConsumerBirth {
    pub id: ConsumerId,
    /// A name that was made up is not in the configuration.
    pub name: Arc<str>,
    pub stream_id: StreamId,
    pub stream_name: Arc<str>,
    /// Tells the stream from others of its name: the hash of the time of its creation.
    pub stream_identity: Arc<str>,
    /// Where the consumer's state lies: memory for `mem_storage` and on memory streams.
    pub storage: Storage,
    pub retention: Retention,
    /// The largest message the stream takes, or the server; what a rate limit lets through at once.
    pub max_message: u64,
    /// Checked, and with all defaults.
    pub config: ConsumerConfig,
    /// Nanoseconds since 1970.
    pub created: i64,
    pub start: Start,
    /// The state it was recovered with; none for a new consumer.
    pub recovered: Option<ConsumerState>,
    /// The create request, which the consumer answers once [`Saved`](crate::jetstream::messages::Saved) with ticket 0
    /// says that it exists.
    pub request: Option<ApiRequest>,
}

/// Where delivery begins (consumers reference, section 2.5), as the stream found it.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// The first sequence to look at, after the list of `last_per_subject`. For a recovered consumer: the one after its
    /// highest delivered.
    pub next: u64,
    /// Messages to be delivered: the list, or those from `next` on that match the filter.
    pub pending: u64,
    /// The stream's last sequence when they were counted.
    pub upto: u64,
    /// For `last_per_subject`: exactly these first, in ascending order, then on from `next`.
    pub last_per_subject: Option<Vec<u64>>,
    /// The stream's last sequence at the start, for `replay_policy: original`.
    pub stream_last: u64,
    /// For `by_start_time`, also of a recovered consumer: the first sequence at or after that time. No reset goes back
    /// further.
    pub earliest: u64,
}
