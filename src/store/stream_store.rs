use super::{Change, Sealed};
use crate::protocol::StoredMessage;

/// A message to be stored.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'a> {
    pub seq: u64,
    pub timestamp: i64,
    pub subject: &'a [u8],
    /// Up to two pieces that make up the header block together: as received, and lines appended by the server.
    pub headers: [&'a [u8]; 2],
    pub payload: &'a [u8],
}

/// What became of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commitment {
    /// Nothing to wait for: done.
    Done,
    /// [`Committed`](super::Committed) follows with the ticket.
    Underway,
}

/// Where a message is.
#[derive(Clone, Debug)]
pub enum Lookup {
    Here(StoredMessage),
    /// On the disk: [`fetch`](StreamStore::fetch) it.
    Elsewhere,
}

/// One stream's place in a store, owned by its Stream actor. Nothing above knows which kind it is.
///
/// Changes are staged in order and leave with [`commit`](Self::commit): together and atomically. The Stream asks only
/// for messages that it knows to exist.
pub trait StreamStore {
    /// Stages a message. The returned view shares its bytes with what goes to the disk. It is hot from here on.
    fn append(&mut self, draft: Draft<'_>) -> StoredMessage;

    /// Stages another change. What it removes is no longer hot.
    fn stage(&mut self, change: Change);

    /// Whether something is staged.
    fn is_dirty(&self) -> bool;

    /// Bytes staged and not yet handed over.
    fn staged_bytes(&self) -> usize;

    /// Hands over everything staged. Commits of one stream are answered in order.
    fn commit(&mut self, ticket: u64) -> Commitment;

    /// Forgets what is staged, and drops the bytes of messages with these sequences or above: a commit failed.
    fn roll_back(&mut self, from: u64);

    fn get(&self, seq: u64) -> Lookup;

    /// Reads messages that are not hot; [`Fetched`](super::Fetched) follows with the ticket. At most
    /// [`MAX_FETCH`](super::MAX_FETCH) at a time.
    fn fetch(&mut self, ticket: u64, seqs: Vec<u64>);

    /// These are in a verified volume now: their bytes need not stay in memory.
    fn sealed(&mut self, sealed: &Sealed);

    /// Bytes held in memory.
    fn hot_bytes(&self) -> usize;

    /// `file` or `memory`, as in the stream's configuration.
    fn is_durable(&self) -> bool;
}
