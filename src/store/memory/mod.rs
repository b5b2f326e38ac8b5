//! Streams with `storage: memory`: as long as the process lives.

#[cfg(test)]
mod tests;

use super::record::{encode_message, message_bound};
use super::tail::Tail;
use super::{Change, Commitment, Draft, Fetched, Lookup, Missing, Sealed, StorePort, StreamStore};
use crate::protocol::StoredMessage;
use bytes::BytesMut;

/// A stream in memory. Every commit is done at once.
///
/// Each message has a buffer of its own, so that a removed one gives back its memory whatever its neighbours do.
pub struct MemoryStream {
    port: StorePort,
    messages: Tail<StoredMessage>,
    staged: usize,
}

impl MemoryStream {
    pub fn new(port: StorePort) -> Self {
        Self { port, messages: Tail::default(), staged: 0 }
    }
}

impl StreamStore for MemoryStream {
    fn append(&mut self, draft: Draft<'_>) -> StoredMessage {
        let mut buffer = BytesMut::with_capacity(message_bound(&draft));
        let at = encode_message(&mut buffer, &draft);
        let size = buffer.capacity();
        let message =
            StoredMessage::new(draft.seq, draft.timestamp, buffer.freeze(), at.subject, at.headers, at.payload)
                .expect("the layout is that of the entry");
        self.messages.push(draft.seq, size, message.clone());
        self.staged += size;
        message
    }

    fn stage(&mut self, change: Change) {
        self.messages.apply(&change);
    }

    fn is_dirty(&self) -> bool {
        self.staged > 0
    }

    fn staged_bytes(&self) -> usize {
        self.staged
    }

    fn commit(&mut self, _: u64) -> Commitment {
        self.staged = 0;
        Commitment::Done
    }

    fn roll_back(&mut self, from: u64) {
        self.staged = 0;
        self.messages.truncate(from);
    }

    fn get(&self, seq: u64) -> Lookup {
        self.messages.get(seq).cloned().map_or(Lookup::Elsewhere, Lookup::Here)
    }

    fn fetch(&mut self, ticket: u64, seqs: Vec<u64>) {
        let read = |seq| self.messages.get(seq).cloned().ok_or(Missing { seq, damaged: false });
        self.port.fetched.send(Fetched { ticket, messages: seqs.into_iter().map(read).collect() });
    }

    fn sealed(&mut self, _: &Sealed) {}

    fn hot_bytes(&self) -> usize {
        self.messages.bytes()
    }

    fn is_durable(&self) -> bool {
        false
    }
}
