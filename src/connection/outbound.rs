use super::transport::Transport;
use crate::router::messages::RouterId;
use bytes::Bytes;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;

/// Parts that go out in one system call.
const MOST_SLICES: usize = 64;

/// What waits to be written to a client, in order.
#[derive(Default)]
pub(super) struct Outbound {
    chunks: VecDeque<Chunk>,
    /// Bytes of the first chunk that are written already.
    offset: usize,
    /// Bytes that wait.
    pending: usize,
    /// Bytes ever written.
    written: u64,
    /// Bytes written of each replica's deliveries, and not yet reported to it.
    drained: SmallVec<[usize; 1]>,
}

struct Chunk {
    bytes: Bytes,
    /// The replica that delivered it; none for what the connection itself says.
    from: Option<RouterId>,
}

impl Outbound {
    /// The connection itself says something.
    pub(super) fn say(&mut self, bytes: impl Into<Bytes>) {
        self.push(bytes.into(), None);
    }

    pub(super) fn deliver(&mut self, bytes: Bytes, from: RouterId) {
        self.push(bytes, Some(from));
    }

    fn push(&mut self, bytes: Bytes, from: Option<RouterId>) {
        if !bytes.is_empty() {
            self.pending += bytes.len();
            self.chunks.push_back(Chunk { bytes, from });
        }
    }

    pub(super) fn pending(&self) -> usize {
        self.pending
    }

    /// Parts that wait.
    pub(super) fn chunks(&self) -> usize {
        self.chunks.len()
    }

    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Writes until nothing is left (`Ready`) or the socket takes no more.
    pub(super) fn poll_write(&mut self, transport: &mut Transport, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.pending == 0 {
            return Poll::Ready(Ok(()));
        }
        while self.pending > 0 {
            let written = {
                let mut slices: SmallVec<[IoSlice<'_>; MOST_SLICES]> = SmallVec::new();
                let mut offset = self.offset;
                for chunk in self.chunks.iter().take(MOST_SLICES) {
                    slices.push(IoSlice::new(&chunk.bytes[offset..]));
                    offset = 0;
                }
                ready!(Pin::new(&mut *transport).poll_write_vectored(cx, &slices))?
            };
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.advance(written);
        }
        if self.chunks.capacity() > 64 {
            self.chunks.shrink_to(4);
        }
        Pin::new(transport).poll_flush(cx)
    }

    fn advance(&mut self, mut written: usize) {
        self.pending -= written;
        self.written += written as u64;
        while written > 0 {
            let Some(first) = self.chunks.front() else { return };
            let (left, from) = (first.bytes.len() - self.offset, first.from);
            let step = left.min(written);
            if let Some(RouterId(number)) = from {
                let number = usize::from(number);
                if self.drained.len() <= number {
                    self.drained.resize(number + 1, 0);
                }
                self.drained[number] += step;
            }
            written -= step;
            if step == left {
                self.chunks.pop_front();
                self.offset = 0;
            } else {
                self.offset += step;
            }
        }
    }

    /// The replicas that are due a report, and how much was written of theirs.
    pub(super) fn take_drained(&mut self, every: usize, mut report: impl FnMut(RouterId, usize)) {
        for (number, bytes) in self.drained.iter_mut().enumerate() {
            if *bytes >= every {
                report(RouterId(number as u16), std::mem::take(bytes));
            }
        }
    }
}
