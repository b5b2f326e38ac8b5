//! What JetStream, its Streams and their Consumers tell each other.
//!
//! A stream and its consumers live on one arbiter; a message between them costs next to nothing. Whatever a consumer
//! wants durable goes through its stream, so that an ack and the removal it causes are one commit.

use super::api::endpoint::Endpoint;
use super::error::ApiError;
use crate::protocol::StoredMessage;
use crate::router::messages::RouterId;
use crate::store::{ConsumerDelta, ConsumerId, ConsumerState};
use crate::subject::Filter;
use bytes::Bytes;
use std::sync::Arc;

/// One request to the JetStream API.
#[derive(Clone, Debug)]
pub struct ApiRequest {
    /// The replica that brought it and takes the answer.
    pub via: RouterId,
    /// The connection that asked.
    pub client: u64,
    pub subject: Bytes,
    /// Empty: it is executed and not answered.
    pub reply: Bytes,
    pub headers: Bytes,
    pub body: Bytes,
}

/// JetStream -> Stream -> Consumer: a request that the receiver, or one of its consumers, is to answer.
#[derive(Clone, Debug)]
pub struct ApiCall {
    pub endpoint: Endpoint,
    pub request: ApiRequest,
}

/// Stream or Consumer -> JetStream: the answer to a call. JetStream counts it, sends it, and tells the auditors.
#[derive(Debug)]
pub struct ApiAnswer {
    pub request: ApiRequest,
    /// A header block, mostly empty.
    pub headers: Bytes,
    /// JSON.
    pub body: Vec<u8>,
    pub is_error: bool,
    /// Successful `MSG.GET`s and resets are not counted (streams reference, section 1.5).
    pub is_counted: bool,
}

/// Stream -> JetStream: what it uses now, and how many consumers it has. Sent before the acks that reveal it.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    pub stream: crate::store::StreamId,
    pub bytes: u64,
    pub messages: u64,
    /// All consumers, hidden ones included.
    pub consumers: usize,
}

/// Stream -> JetStream: the stream is no more (deleted, or its creation failed).
#[derive(Clone, Copy, Debug)]
pub struct StreamEnded {
    pub stream: crate::store::StreamId,
}

/// JetStream -> Stream: the configuration has been checked; apply, commit, answer.
#[derive(Debug)]
pub struct UpdateStream {
    pub config: super::stream::StreamConfig,
    pub request: ApiRequest,
}

/// Stream -> JetStream: an update that only the stream could judge was refused; its configuration is as before.
#[derive(Debug)]
pub struct UpdateRefused {
    pub stream: crate::store::StreamId,
    pub config: super::stream::StreamConfig,
    pub request: ApiRequest,
    pub error: ApiError,
}

/// JetStream -> Stream: for `STREAM.LIST`. Answered with [`Described`].
#[derive(Clone, Copy, Debug)]
pub struct Describe {
    pub ticket: u64,
}

/// Stream -> JetStream, Consumer -> Stream: its info as a JSON object, as LIST shows it.
#[derive(Debug)]
pub struct Described {
    pub ticket: u64,
    pub name: String,
    pub info: Box<serde_json::value::RawValue>,
}

// ---- Stream -> Consumer

/// Messages have been stored and are durable.
#[derive(Clone, Copy, Debug)]
pub struct Appended {
    /// The stream's last sequence that may be delivered.
    pub last: u64,
    /// How many of the new ones match the consumer's filter.
    pub matching: u64,
}

/// Single messages are gone that match the consumer's filter (deletion, age, limits, another's ack in a work queue...).
#[derive(Clone, Debug)]
pub struct Removed {
    pub seqs: Arc<[u64]>,
}

/// Many messages are gone at once (consumers reference, section 8.3).
#[derive(Clone, Debug)]
pub struct Purged {
    /// The stream's first sequence now (last + 1 if empty).
    pub first: u64,
    /// The stream's last sequence now; a purge may move it forward.
    pub last: u64,
    /// The filter of the purge.
    pub filter: Option<Bytes>,
    /// For a filtered purge: the first sequence left that matches it, last + 1 if none.
    pub first_matching: u64,
}

/// The answer to [`Read`] and [`ReadThese`].
#[derive(Debug)]
pub struct Records {
    pub ticket: u64,
    /// In ascending order for `Read`; in the order asked for `ReadThese`. Messages gone meanwhile are left out.
    pub messages: Vec<StoredMessage>,
    /// For `Read`: everything below has been looked at; read on from here. `last + 1` at the end of the stream.
    pub next: u64,
}

/// The answer to [`Count`].
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    pub ticket: u64,
    /// Matching messages from `from` on.
    pub pending: u64,
    /// The stream's last sequence when it was counted.
    pub upto: u64,
}

/// A consumer's [`Save`] is durable, or failed.
#[derive(Clone, Copy, Debug)]
pub struct Saved {
    pub ticket: u64,
    pub ok: bool,
}

/// The consumer is deleted, with its stream or alone: end waiting pulls, tell its advisories, stop.
/// With `request`, this is what was asked for, and the stream answers it.
#[derive(Clone, Copy, Debug)]
pub struct EndConsumer;

/// The server shuts down in order: end waiting pulls with `409 Server Shutdown`.
#[derive(Clone, Copy, Debug)]
pub struct ServerShutdown;

/// A create or update request for a consumer that is there: the configuration has its defaults and has been validated,
/// and no other consumer of the stream is in its way. The consumer compares it with what it has, and answers.
#[derive(Debug)]
pub struct UpdateConsumer {
    pub config: Box<super::consumer::ConsumerConfig>,
    pub action: super::api::consumer_create::Action,
    pub request: ApiRequest,
}

// ---- Consumer -> Stream

/// The next messages that match the consumer's filter, from a sequence on. One read of a consumer at a time.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    pub consumer: ConsumerId,
    pub ticket: u64,
    pub from: u64,
    pub max_messages: usize,
    pub max_bytes: usize,
}

/// These messages, whatever the filter: redeliveries, last per subject.
#[derive(Clone, Debug)]
pub struct ReadThese {
    pub consumer: ConsumerId,
    pub ticket: u64,
    pub seqs: Vec<u64>,
}

/// How many messages match the consumer's filter from a sequence on.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    pub consumer: ConsumerId,
    pub ticket: u64,
    pub from: u64,
}

/// Make the consumer's steps durable, together with the removals they cause in a work-queue or interest stream.
/// Answered with [`Saved`] if `answer`.
#[derive(Debug)]
pub struct Save {
    pub consumer: ConsumerId,
    pub ticket: u64,
    pub deltas: Vec<ConsumerDelta>,
    /// The whole state, instead of deltas: after a reset, a purge, or a failed save.
    pub state: Option<ConsumerState>,
    /// Stream sequences this consumer no longer needs (acked, terminated; delivered with policy none).
    pub settled: Vec<u64>,
    /// Everything up to here is no longer needed (policies all and none); 0 for nothing.
    pub settled_upto: u64,
    pub answer: bool,
}

/// The stream removes from now on what nobody needs: a consumer saves its whole state, and tells what is settled.
#[derive(Clone, Copy, Debug)]
pub struct TellSettled;

/// A changed configuration of a consumer, already checked by it: the stream makes it durable, adopts the filter, and
/// answers with [`Saved`].
#[derive(Debug)]
pub struct SaveConfig {
    pub consumer: ConsumerId,
    pub ticket: u64,
    pub config: Box<super::consumer::ConsumerConfig>,
    pub filter: Filter,
}

/// The consumer has been inactive for its threshold: delete it.
#[derive(Clone, Copy, Debug)]
pub struct Expired {
    pub consumer: ConsumerId,
}
