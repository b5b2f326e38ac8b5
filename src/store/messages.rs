//! What streams and the store tell each other. Sent on behalf of a stream by its `StreamStore`.

use super::{ConsumerId, ConsumerState, StreamId};
use crate::actor::Outlet;
use crate::protocol::StoredMessage;
use bytes::Bytes;
use std::ops::RangeInclusive;

/// Messages in one fetch.
pub const MAX_FETCH: usize = 1024;

/// A commit is on the disk, or it is not.
#[derive(Debug)]
pub struct Committed {
    pub ticket: u64,
    /// After an error nothing of the commit is there, and every later commit of the stream made before the stream
    /// learned of this one fails too. The stream may commit anew right away; the error goes away with its cause.
    pub result: Result<(), CommitError>,
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum CommitError {
    #[error("no space left on device")]
    Full,
    #[error("{0}")]
    Io(String),
}

/// The answer to a fetch, in the order asked for.
#[derive(Debug)]
pub struct Fetched {
    pub ticket: u64,
    pub messages: Vec<Result<StoredMessage, Missing>>,
}

/// A message that was asked for and cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    pub seq: u64,
    /// It is there, and its bytes are not what was stored.
    pub damaged: bool,
}

/// All messages up to `last` that were committed before are in verified volumes.
#[derive(Clone, Debug)]
pub struct Sealed {
    pub last: u64,
}

/// Messages have turned out to be damaged. Already logged; the stream counts them as lost and goes on.
#[derive(Clone, Debug)]
pub struct Damaged {
    pub ranges: Vec<RangeInclusive<u64>>,
    /// Bytes lost, as far as known.
    pub bytes: u64,
}

/// A stream as found on the disk.
pub struct RecoveredStream {
    pub id: StreamId,
    pub account: String,
    pub name: String,
    pub config: Bytes,
    pub created: i64,
    pub first: u64,
    pub last: u64,
    pub last_timestamp: i64,
    /// Existing messages in ascending order of sequence.
    pub index: Vec<IndexEntry>,
    /// Messages that were acknowledged once and are damaged now.
    pub lost: Vec<RangeInclusive<u64>>,
    pub lost_bytes: u64,
    pub consumers: Vec<RecoveredConsumer>,
    /// Never handed out so far.
    pub next_consumer: ConsumerId,
    /// What is still in memory; goes to [`Store::stream`](super::Store::stream).
    pub hot: Hot,
}

/// Messages of a recovered stream that are in no volume yet.
#[derive(Default)]
pub struct Hot(pub(crate) super::tail::Tail<StoredMessage>);

/// What was found when a store was opened.
pub struct Recovery {
    pub streams: Vec<RecoveredStream>,
    /// The first number that no stream ever had.
    pub next_stream: StreamId,
}

/// Asks for a stream as it is on the disk, while the store is open: its actor has ended and is to begin anew.
#[derive(Debug)]
pub struct Recover {
    pub stream: StreamId,
    pub done: Outlet<Recovered>,
}

/// The answer: none if there is no such stream, an error if the disk cannot be read now.
pub struct Recovered(pub Result<Option<Box<RecoveredStream>>, String>);

/// Where a stream hears from the store.
#[derive(Clone, Debug)]
pub struct StorePort {
    pub committed: Outlet<Committed>,
    pub fetched: Outlet<Fetched>,
    pub sealed: Outlet<Sealed>,
    pub damaged: Outlet<Damaged>,
}

/// Asks the archive for messages of a stream.
#[derive(Debug)]
pub struct Fetch {
    pub stream: StreamId,
    pub ticket: u64,
    pub seqs: Vec<u64>,
    pub fetched: Outlet<Fetched>,
    pub damaged: Outlet<Damaged>,
}

/// The store is closed: everything is on the disk, and its directory may be opened again.
#[derive(Clone, Copy, Debug)]
pub struct Closed;

/// What a stream must know of a stored message to build its index.
#[derive(Clone, Debug)]
pub struct IndexEntry {
    pub seq: u64,
    pub timestamp: i64,
    pub subject: Bytes,
    /// Empty if the message has none.
    pub headers: Bytes,
    pub payload_len: u32,
}

#[derive(Debug)]
pub struct RecoveredConsumer {
    pub id: ConsumerId,
    pub name: String,
    pub config: Bytes,
    pub created: i64,
    pub state: ConsumerState,
}
