//! What a stream knows of each message without its bytes: when, on which subject, how large.

use super::subjects::SubjectId;
use std::collections::BTreeMap;

/// Sequences covered by one chunk.
const CHUNK: u64 = 256;
/// A full chunk with so few messages left is packed.
const SPARSE: usize = 32;
/// A packed chunk that has grown to so many is unpacked.
const DENSE: usize = 96;

/// What is known of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When it was stored, in nanoseconds since 1970.
    pub timestamp: i64,
    pub subject: SubjectId,
    /// As accounted (streams reference 3.11).
    pub size: u32,
}

impl Entry {
    const NONE: Self = Self { timestamp: 0, subject: SubjectId::NONE, size: 0 };

    fn get(self) -> Option<Self> {
        (self.subject != SubjectId::NONE).then_some(self)
    }
}

/// Entries by sequence: 16 bytes each where messages are dense, 24 where most are gone, nothing for gaps between
/// chunks. A bucket with one old key and millions of updates stays small.
#[derive(Debug, Default)]
pub struct Index {
    chunks: BTreeMap<u64, Chunk>,
    len: u64,
}

#[derive(Debug)]
enum Chunk {
    /// By offset; gaps are [`Entry::NONE`].
    Dense { slots: Vec<Entry>, live: u32 },
    /// In ascending order of offset.
    Sparse(Vec<(u16, Entry)>),
}

impl Index {
    /// Messages held.
    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a message, or replaces what is known of it.
    pub fn insert(&mut self, seq: u64, entry: Entry) {
        let (number, offset) = place(seq);
        let chunk = self.chunks.entry(number).or_insert_with(|| Chunk::Dense { slots: Vec::new(), live: 0 });
        self.len += u64::from(chunk.insert(offset, entry));
    }

    pub fn get(&self, seq: u64) -> Option<Entry> {
        let (number, offset) = place(seq);
        self.chunks.get(&number)?.get(offset)
    }

    pub fn contains(&self, seq: u64) -> bool {
        self.get(seq).is_some()
    }

    pub fn remove(&mut self, seq: u64) -> Option<Entry> {
        let (number, offset) = place(seq);
        let chunk = self.chunks.get_mut(&number)?;
        let entry = chunk.remove(offset)?;
        self.len -= 1;
        if chunk.live() == 0 {
            self.chunks.remove(&number);
        }
        Some(entry)
    }

    /// The first message at or after a sequence.
    pub fn next(&self, from: u64) -> Option<(u64, Entry)> {
        self.scan(from).next()
    }

    /// The last message at or before a sequence.
    pub fn previous(&self, upto: u64) -> Option<(u64, Entry)> {
        self.scan_back(upto).next()
    }

    /// Messages from a sequence on, in ascending order.
    pub fn scan(&self, from: u64) -> impl Iterator<Item = (u64, Entry)> + '_ {
        let (first, offset) = place(from);
        self.chunks.range(first..).flat_map(move |(&number, chunk)| {
            let from = if number == first { offset } else { 0 };
            chunk.iter(from).map(move |(offset, entry)| (number * CHUNK + offset as u64, entry))
        })
    }

    /// Messages up to a sequence, in descending order.
    pub fn scan_back(&self, upto: u64) -> impl Iterator<Item = (u64, Entry)> + '_ {
        let (last, offset) = place(upto);
        self.chunks.range(..=last).rev().flat_map(move |(&number, chunk)| {
            let upto = if number == last { offset } else { CHUNK as usize - 1 };
            chunk.iter_back(upto).map(move |(offset, entry)| (number * CHUNK + offset as u64, entry))
        })
    }

    /// Messages at or after a sequence: one step for each chunk.
    pub fn count_from(&self, from: u64) -> u64 {
        let (first, offset) = place(from);
        let chunks = self.chunks.range(first..);
        chunks
            .map(|(&number, chunk)| match number == first && offset > 0 {
                true => chunk.iter(offset).count() as u64,
                false => chunk.live() as u64,
            })
            .sum()
    }

    /// The first message stored at or after a time, given that times do not decrease with sequences.
    pub fn first_since(&self, time: i64) -> Option<(u64, Entry)> {
        let (mut low, mut high) = (self.next(0)?.0, self.previous(u64::MAX)?.0 + 1);
        // Invariant: what is before `low` is too old; at `high` and after nothing needs to be looked at.
        while low < high {
            let middle = low + (high - low) / 2;
            match self.next(middle) {
                Some((seq, entry)) if entry.timestamp < time => low = seq + 1,
                _ => high = middle,
            }
        }
        self.next(low)
    }
}

fn place(seq: u64) -> (u64, usize) {
    (seq / CHUNK, (seq % CHUNK) as usize)
}

impl Chunk {
    fn live(&self) -> usize {
        match self {
            Self::Dense { live, .. } => *live as usize,
            Self::Sparse(packed) => packed.len(),
        }
    }

    fn get(&self, offset: usize) -> Option<Entry> {
        match self {
            Self::Dense { slots, .. } => slots.get(offset)?.get(),
            Self::Sparse(packed) => Some(packed[find(packed, offset).ok()?].1),
        }
    }

    /// Whether it was not there before.
    fn insert(&mut self, offset: usize, entry: Entry) -> bool {
        match self {
            Self::Dense { slots, live } => {
                if slots.len() <= offset {
                    slots.resize(offset + 1, Entry::NONE);
                }
                let new = slots[offset].get().is_none();
                slots[offset] = entry;
                *live += u32::from(new);
                new
            }
            Self::Sparse(packed) => match find(packed, offset) {
                Ok(at) => {
                    packed[at].1 = entry;
                    false
                }
                Err(at) => {
                    packed.insert(at, (offset as u16, entry));
                    self.unpack_if_full();
                    true
                }
            },
        }
    }

    fn remove(&mut self, offset: usize) -> Option<Entry> {
        match self {
            Self::Dense { slots, live } => {
                let entry = std::mem::replace(slots.get_mut(offset)?, Entry::NONE).get()?;
                *live -= 1;
                self.pack_if_sparse();
                Some(entry)
            }
            Self::Sparse(packed) => Some(packed.remove(find(packed, offset).ok()?).1),
        }
    }

    fn pack_if_sparse(&mut self) {
        if let Self::Dense { slots, live } = self
            && slots.len() == CHUNK as usize
            && *live as usize <= SPARSE
        {
            *self = Self::Sparse(self.iter(0).map(|(offset, entry)| (offset as u16, entry)).collect());
        }
    }

    fn unpack_if_full(&mut self) {
        if let Self::Sparse(packed) = self
            && packed.len() > DENSE
        {
            let mut slots = vec![Entry::NONE; CHUNK as usize];
            packed.iter().for_each(|(offset, entry)| slots[usize::from(*offset)] = *entry);
            *self = Self::Dense { live: packed.len() as u32, slots };
        }
    }

    fn iter(&self, from: usize) -> Entries<'_> {
        match self {
            Self::Dense { slots, .. } => Entries::Dense { slots, offset: from },
            Self::Sparse(packed) => Entries::Sparse(&packed[find(packed, from).unwrap_or_else(|at| at)..]),
        }
    }

    fn iter_back(&self, upto: usize) -> EntriesBack<'_> {
        match self {
            Self::Dense { slots, .. } => EntriesBack::Dense(&slots[..slots.len().min(upto + 1)]),
            Self::Sparse(packed) => {
                let end = find(packed, upto).map_or_else(|at| at, |at| at + 1);
                EntriesBack::Sparse(&packed[..end])
            }
        }
    }
}

fn find(packed: &[(u16, Entry)], offset: usize) -> Result<usize, usize> {
    packed.binary_search_by_key(&offset, |(known, _)| usize::from(*known))
}

enum Entries<'a> {
    Dense { slots: &'a [Entry], offset: usize },
    Sparse(&'a [(u16, Entry)]),
}

impl Iterator for Entries<'_> {
    type Item = (usize, Entry);

    fn next(&mut self) -> Option<(usize, Entry)> {
        match self {
            Self::Dense { slots, offset } => loop {
                let slot = *slots.get(*offset)?;
                *offset += 1;
                if let Some(entry) = slot.get() {
                    return Some((*offset - 1, entry));
                }
            },
            Self::Sparse(rest) => {
                let ((offset, entry), after) = rest.split_first()?;
                *rest = after;
                Some((usize::from(*offset), *entry))
            }
        }
    }
}

enum EntriesBack<'a> {
    Dense(&'a [Entry]),
    Sparse(&'a [(u16, Entry)]),
}

impl Iterator for EntriesBack<'_> {
    type Item = (usize, Entry);

    fn next(&mut self) -> Option<(usize, Entry)> {
        match self {
            Self::Dense(rest) => loop {
                let (slot, before) = rest.split_last()?;
                *rest = before;
                if let Some(entry) = slot.get() {
                    return Some((before.len(), entry));
                }
            },
            Self::Sparse(rest) => {
                let ((offset, entry), before) = rest.split_last()?;
                *rest = before;
                Some((usize::from(*offset), *entry))
            }
        }
    }
}
