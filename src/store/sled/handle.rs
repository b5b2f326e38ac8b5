use crate::actor::Outlet;
use crate::protocol::StoredMessage;
use crate::store::committer::Commit;
use crate::store::journal::Group;
use crate::store::record::{encode_change, encode_message, message_bound};
use crate::store::tail::Tail;
use crate::store::{Change, Commitment, Draft, Fetch, Lookup, Sealed, StorePort, StreamId, StreamStore};
use bytes::{Bytes, BytesMut};

/// A durable stream: its hot tail, and what is staged for the journal.
///
/// An entry is encoded once, into a chunk that grows; the same bytes go to the disk and stay in the hot tail.
pub struct DurableStream {
    id: StreamId,
    port: StorePort,
    committer: Outlet<Commit>,
    archive: Outlet<Fetch>,
    staged: Group,
    chunk: BytesMut,
    chunk_size: usize,
    /// The chunk is the one that the last staged entry lies in.
    joined: bool,
    hot: Tail<StoredMessage>,
    /// Failures learned of, see [`Commit::epoch`].
    epoch: u64,
}

/// Chunks start small, for there may be thousands of idle streams, and double up to the larger size.
const SMALLEST_CHUNK: usize = 1 << 10;
const LARGEST_CHUNK: usize = 256 << 10;

/// What a change usually takes; the buffer grows if it takes more.
const CHANGE_ROOM: usize = 128;

impl DurableStream {
    pub(crate) fn new(
        id: StreamId,
        port: StorePort,
        committer: Outlet<Commit>,
        archive: Outlet<Fetch>,
        hot: Tail<StoredMessage>,
    ) -> Self {
        Self {
            id,
            port,
            committer,
            archive,
            staged: Group::new(id),
            chunk: BytesMut::new(),
            chunk_size: SMALLEST_CHUNK,
            joined: false,
            hot,
            epoch: 1,
        }
    }

    /// Makes room for an entry of so many bytes. A big one gets a chunk of its own and leaves the current one alone.
    fn reserve(&mut self, bytes: usize) -> Option<BytesMut> {
        if self.chunk.capacity() >= bytes {
            return None;
        }
        if bytes > LARGEST_CHUNK / 4 {
            self.joined = false;
            return Some(BytesMut::with_capacity(bytes));
        }
        while self.chunk_size < 4 * bytes {
            self.chunk_size *= 2;
        }
        self.chunk = BytesMut::with_capacity(self.chunk_size);
        self.chunk_size = (2 * self.chunk_size).min(LARGEST_CHUNK);
        self.joined = false;
        None
    }

    fn push(&mut self, entry: Bytes, seq: Option<u64>, own_chunk: bool) {
        self.staged.push(entry, seq, self.joined);
        self.joined = !own_chunk;
    }

    fn stage_change(&mut self, change: &Change) {
        let own = self.reserve(CHANGE_ROOM);
        debug_assert!(own.is_none(), "changes begin in the shared chunk");
        let capacity = self.chunk.capacity();
        encode_change(&mut self.chunk, change);
        if self.chunk.len() > capacity {
            // The buffer has moved: the entries before lie elsewhere.
            self.joined = false;
        }
        let entry = self.chunk.split().freeze();
        self.push(entry, None, false);
    }
}

impl StreamStore for DurableStream {
    fn append(&mut self, draft: Draft<'_>) -> StoredMessage {
        let own = self.reserve(message_bound(&draft));
        let own_chunk = own.is_some();
        let (layout, entry) = match own {
            Some(mut chunk) => {
                let layout = encode_message(&mut chunk, &draft);
                (layout, chunk.freeze())
            }
            None => {
                let layout = encode_message(&mut self.chunk, &draft);
                (layout, self.chunk.split().freeze())
            }
        };
        let (subject, headers, payload) = (layout.subject, layout.headers, layout.payload);
        let message = StoredMessage::new(draft.seq, draft.timestamp, entry.clone(), subject, headers, payload)
            .expect("the layout is that of the entry");
        self.hot.push(draft.seq, entry.len(), message.clone());
        self.push(entry, Some(draft.seq), own_chunk);
        message
    }

    fn stage(&mut self, change: Change) {
        self.stage_change(&change);
        if is_precious(&change) {
            // Twice, so that a damaged bit does not cost a whole stream or consumer; applying it twice is harmless.
            self.stage_change(&change);
        }
        self.hot.apply(&change);
    }

    fn is_dirty(&self) -> bool {
        !self.staged.is_empty()
    }

    fn staged_bytes(&self) -> usize {
        self.staged.length()
    }

    fn commit(&mut self, ticket: u64) -> Commitment {
        if self.staged.is_empty() {
            return Commitment::Done;
        }
        let group = std::mem::replace(&mut self.staged, Group::new(self.id));
        self.joined = false;
        self.committer.send(Commit { group, ticket, epoch: self.epoch, done: self.port.committed.clone() });
        Commitment::Underway
    }

    fn roll_back(&mut self, from: u64) {
        self.staged = Group::new(self.id);
        self.joined = false;
        self.hot.truncate(from);
        self.epoch += 1;
    }

    fn get(&self, seq: u64) -> Lookup {
        self.hot.get(seq).cloned().map_or(Lookup::Elsewhere, Lookup::Here)
    }

    fn fetch(&mut self, ticket: u64, seqs: Vec<u64>) {
        let (fetched, damaged) = (self.port.fetched.clone(), self.port.damaged.clone());
        self.archive.send(Fetch { stream: self.id, ticket, seqs, fetched, damaged });
    }

    fn sealed(&mut self, sealed: &Sealed) {
        self.hot.advance(sealed.last.saturating_add(1));
        if self.hot.is_empty() && self.staged.is_empty() {
            // An idle stream holds no chunk.
            self.chunk = BytesMut::new();
            self.chunk_size = SMALLEST_CHUNK;
        }
    }

    fn hot_bytes(&self) -> usize {
        self.hot.bytes()
    }

    fn is_durable(&self) -> bool {
        true
    }
}

fn is_precious(change: &Change) -> bool {
    matches!(
        change,
        Change::Create { .. }
            | Change::Configure { .. }
            | Change::Delete
            | Change::CreateConsumer { .. }
            | Change::ConfigureConsumer { .. }
            | Change::DeleteConsumer { .. }
    )
}
