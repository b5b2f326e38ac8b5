use super::frame::{ALIGN, FrameHead, frame_size};
use crate::store::StreamId;
use bytes::Bytes;
use smallvec::SmallVec;

/// The entries of one commit of one stream: written as one frame, found again as a whole or not at all.
#[derive(Clone, Debug)]
pub struct Group {
    pub stream: StreamId,
    pub entries: u32,
    pub messages: u32,
    pub first_seq: u64,
    pub last_seq: u64,
    length: usize,
    runs: SmallVec<[Run; 2]>,
}

/// Entries that lie side by side in one chunk of memory.
///
/// They were split off the same buffer one after the other, so the first and the last of them span the whole run.
#[derive(Clone, Debug)]
struct Run {
    first: Bytes,
    last: Bytes,
    length: usize,
}

impl Group {
    pub fn new(stream: StreamId) -> Self {
        Self { stream, entries: 0, messages: 0, first_seq: 0, last_seq: 0, length: 0, runs: SmallVec::new() }
    }

    /// Adds an entry. `seq` is none for a change. `joined`: it was split off the same buffer right behind the entry
    /// before; only then does the run's memory live as long as its first and last entry do.
    pub fn push(&mut self, entry: Bytes, seq: Option<u64>, joined: bool) {
        self.entries += 1;
        if let Some(seq) = seq {
            self.messages += 1;
            self.last_seq = seq;
            if self.first_seq == 0 {
                self.first_seq = seq;
            }
        }
        self.length += entry.len();
        match self.runs.last_mut() {
            Some(run) if joined && run.last.as_ptr_range().end == entry.as_ptr() => {
                run.length += entry.len();
                run.last = entry;
            }
            _ => self.runs.push(Run { first: entry.clone(), length: entry.len(), last: entry }),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Bytes of all entries.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Bytes of the frame it becomes.
    pub fn size(&self) -> usize {
        frame_size(self.length)
    }

    /// Zero bytes between the entries and the trailer.
    pub fn padding(&self) -> usize {
        self.length.next_multiple_of(ALIGN) - self.length
    }

    pub fn head(&self, position: u64, durable: u64) -> FrameHead {
        FrameHead {
            position,
            length: self.length as u32,
            entries: self.entries,
            stream: self.stream.0,
            first_seq: self.first_seq,
            last_seq: self.last_seq,
            messages: self.messages,
            durable,
        }
    }

    /// Start and length of each run, for the system call that writes them. Valid as long as the group lives.
    pub(super) fn runs(&self) -> impl Iterator<Item = (*const u8, usize)> {
        self.runs.iter().map(|run| (run.first.as_ptr(), run.length))
    }
}
