use super::transport::Transport;
use crate::protocol::PubOp;
use crate::router::Ack;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// What a client sent and what of it is worked off. The buffer is absent while a Router has it.
#[derive(Default)]
pub(super) struct Inbound {
    buffer: Vec<u8>,
    /// Where the next operation begins.
    at: usize,
    /// Publishes parsed and not yet handed over.
    pub ops: Vec<PubOp>,
    /// The buffer is with a Router.
    lent: bool,
    /// How much the next read may take; grows while reads fill it.
    room: usize,
    /// The buffer must hold so much before it is worth looking at again.
    wanted: usize,
    /// Something was read since the last look of the idle alarm.
    pub active: bool,
    pub idle_alarm_set: bool,
    /// The client has closed its side.
    pub ended: bool,
    /// A buffer came back shorter than it was lent: what it held is lost.
    pub damaged: bool,
}

/// How much a read may bring at once, and at first.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub first: usize,
    pub most: usize,
}

impl Inbound {
    pub(super) fn is_lent(&self) -> bool {
        self.lent
    }

    /// What has been read, and where the next operation begins.
    pub(super) fn unparsed(&self) -> (&[u8], usize) {
        (&self.buffer, self.at)
    }

    /// What has been read, where the next operation begins, and where to put publishes.
    pub(super) fn parts(&mut self) -> (&[u8], usize, &mut Vec<PubOp>) {
        (&self.buffer, self.at, &mut self.ops)
    }

    /// The next operation begins here.
    pub(super) fn advance(&mut self, at: usize) {
        self.at = at;
    }

    /// The operation that begins next is not all here: it ends no earlier than `until`.
    pub(super) fn want(&mut self, until: usize) {
        self.wanted = until.saturating_sub(self.at);
    }

    /// Hands over the buffer with the publishes in it.
    pub(super) fn lend(&mut self) -> (Vec<u8>, Vec<PubOp>) {
        self.lent = true;
        (std::mem::take(&mut self.buffer), std::mem::take(&mut self.ops))
    }

    /// The buffer is back; what was not parsed is still in it.
    pub(super) fn give_back(&mut self, ack: Ack) {
        self.lent = false;
        self.damaged |= ack.buffer.len() < self.at;
        self.buffer = ack.buffer;
        self.ops = ack.ops;
        self.ops.clear();
    }

    /// Reads once. `Ok(0)` is the end.
    pub(super) fn poll_read(
        &mut self,
        transport: &mut Transport,
        sizes: Sizes,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        self.make_room(sizes);
        let space = self.buffer.capacity() - self.buffer.len();
        let read = ready!(tokio_util::io::poll_read_buf(Pin::new(transport), cx, &mut self.buffer))?;
        self.active = true;
        if read == space {
            self.room = (self.room * 4).min(sizes.most);
        }
        Poll::Ready(Ok(read))
    }

    fn make_room(&mut self, sizes: Sizes) {
        if self.at > 0 {
            let rest = self.at.min(self.buffer.len())..self.buffer.len();
            let left = rest.len();
            self.buffer.copy_within(rest, 0);
            self.buffer.truncate(left);
            self.at = 0;
        }
        self.room = self.room.clamp(sizes.first, sizes.most);
        // A message larger than the buffer makes it as large as that; it shrinks when it is done.
        let target = self.room.max(self.wanted);
        if self.buffer.capacity() < target {
            self.buffer.reserve_exact(target - self.buffer.len());
        } else if self.buffer.is_empty() && self.buffer.capacity() > 2 * target.max(sizes.most) {
            self.buffer = Vec::with_capacity(target);
        }
        if self.buffer.len() == self.buffer.capacity() {
            self.buffer.reserve(sizes.first);
        }
    }

    /// Nothing has come for a while: the memory is not needed.
    pub(super) fn shrink(&mut self) {
        if self.lent {
            return;
        }
        if self.at >= self.buffer.len() {
            self.buffer = Vec::new();
            self.at = 0;
            self.room = 0;
        }
        self.ops = Vec::new();
    }

    pub(super) fn holds_memory(&self) -> bool {
        self.lent || self.buffer.capacity() > 0 || self.ops.capacity() > 0
    }
}
