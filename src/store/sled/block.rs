//! A block: a run of messages as one value of a volume.
//!
//! ```text
//! magic u32, count u32, stream u64, first u64, last u64, length u32, crc32c of all before and of the table u32
//! table: count times { offset u32, sequence - first u32 }
//! records: count times { crc32c(sequence, body) u32, body }
//! ```
//! All numbers are little-endian; `length` is that of the whole block; a record ends where the next one begins.

use crate::protocol::StoredMessage;
use crate::store::IndexEntry;
use crate::store::record::{ENTRY_HEAD, Layout, body_layout, index_entry};
use bytes::{BufMut, Bytes, BytesMut};
use std::ops::Range;

const MAGIC: u32 = u32::from_le_bytes(*b"prB\x01");
const HEAD: usize = 40;
const TABLE_ENTRY: usize = 8;
const RECORD_HEAD: usize = 4;

/// A block of small messages is closed when it is this large.
pub const BLOCK_BYTES: usize = 64 << 10;
/// The same for messages of `LARGE_MESSAGE` and more.
pub const LARGE_BLOCK_BYTES: usize = 256 << 10;
const LARGE_MESSAGE: usize = 1 << 10;

/// A block ends before a larger gap between sequences.
const LARGEST_GAP: u64 = 1 << 16;

/// Most messages in a block: with the gap, keeps offsets of sequences within 32 bits.
const MOST_MESSAGES: usize = 1 << 14;

/// A block to be written.
pub struct NewBlock {
    pub first: u64,
    pub last: u64,
    pub bytes: Bytes,
    /// Sequences between first and last that are not there.
    pub gaps: Vec<std::ops::RangeInclusive<u64>>,
}

/// A record on its way into a block: sequence, checksum, body.
pub type Record<'a> = (u64, u32, &'a [u8]);

/// The record of a whole journal entry.
pub fn record_of_entry(seq: u64, entry: &Bytes) -> Option<Record<'_>> {
    let crc = u32::from_le_bytes(entry.get(4..8)?.try_into().ok()?);
    Some((seq, crc, entry.get(ENTRY_HEAD..)?))
}

/// Puts records in ascending order of sequence into blocks.
pub fn build<'a>(stream: u64, records: impl Iterator<Item = Record<'a>>) -> Vec<NewBlock> {
    let mut blocks = Vec::new();
    let mut run: Vec<Record<'a>> = Vec::new();
    let mut size = 0;
    for record in records {
        let limit = if record.2.len() >= LARGE_MESSAGE { LARGE_BLOCK_BYTES } else { BLOCK_BYTES };
        let gap = run.last().map_or(0, |last| record.0 - last.0 - 1);
        let full = size + record.2.len() > limit || run.len() == MOST_MESSAGES || gap > LARGEST_GAP;
        if full && !run.is_empty() {
            blocks.push(encode(stream, &run));
            (run, size) = (Vec::new(), 0);
        }
        size += record.2.len() + RECORD_HEAD + TABLE_ENTRY;
        run.push(record);
    }
    if !run.is_empty() {
        blocks.push(encode(stream, &run));
    }
    blocks
}

fn encode(stream: u64, run: &[Record<'_>]) -> NewBlock {
    let (first, last) = (run[0].0, run[run.len() - 1].0);
    let start = HEAD + run.len() * TABLE_ENTRY;
    let length = start + run.iter().map(|record| RECORD_HEAD + record.2.len()).sum::<usize>();
    let mut out = BytesMut::with_capacity(length);
    out.put_u32_le(MAGIC);
    out.put_u32_le(run.len() as u32);
    out.put_u64_le(stream);
    out.put_u64_le(first);
    out.put_u64_le(last);
    out.put_u32_le(length as u32);
    out.put_u32_le(0);
    let mut offset = start;
    let mut gaps = Vec::new();
    let mut next = first;
    for (seq, _, body) in run {
        out.put_u32_le(offset as u32);
        out.put_u32_le((seq - first) as u32);
        offset += RECORD_HEAD + body.len();
        if *seq > next {
            gaps.push(next..=seq - 1);
        }
        next = seq + 1;
    }
    let crc = head_checksum(&out);
    out[HEAD - 4..HEAD].copy_from_slice(&crc.to_le_bytes());
    for (_, crc, body) in run {
        out.put_u32_le(*crc);
        out.put_slice(body);
    }
    NewBlock { first, last, bytes: out.freeze(), gaps }
}

fn part<'a>(bytes: &'a [u8], range: &Range<u32>) -> &'a [u8] {
    &bytes[range.start as usize..range.end as usize]
}

fn keep(into: &mut BytesMut, bytes: &[u8]) -> Range<u32> {
    let start = into.len() as u32;
    into.put_slice(bytes);
    start..into.len() as u32
}

fn head_checksum(head_and_table: &[u8]) -> u32 {
    let seed = crc32c::crc32c(&head_and_table[..HEAD - 4]);
    crc32c::crc32c_append(seed, &head_and_table[HEAD..])
}

/// A record whose checksum does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DamagedRecord;

/// A block as read.
#[derive(Clone, Debug)]
pub struct ReadBlock {
    pub stream: u64,
    pub first: u64,
    pub last: u64,
    count: usize,
    bytes: Bytes,
}

impl ReadBlock {
    /// `None` if head or table are damaged, or something is missing. Bytes behind the block are ignored.
    pub fn open(bytes: Bytes) -> Option<Self> {
        let whole = u32::from_le_bytes(bytes.get(32..36)?.try_into().ok()?) as usize <= bytes.len();
        Self::open_cut(bytes).filter(|_| whole)
    }

    /// As [`open`](Self::open), for a block whose last records may be missing.
    pub fn open_cut(bytes: Bytes) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let long = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let (count, length) = (word(4)? as usize, word(32)? as usize);
        let table_end = HEAD.checked_add(count.checked_mul(TABLE_ENTRY)?)?;
        if word(0)? != MAGIC || table_end > length || table_end > bytes.len() {
            return None;
        }
        let sound = head_checksum(&bytes[..table_end]) == word(36)?;
        let (stream, first, last) = (long(8)?, long(16)?, long(24)?);
        let bytes = bytes.slice(..length.min(bytes.len()));
        sound.then_some(Self { stream, first, last, count, bytes })
    }

    /// Sequence, and where its record lies: all of them, in order.
    fn places(&self) -> impl Iterator<Item = (u64, Range<usize>)> {
        (0..self.count).map(|number| self.place(number))
    }

    fn place(&self, number: usize) -> (u64, Range<usize>) {
        let (offset, seq) = self.table(number);
        let end = if number + 1 < self.count { self.table(number + 1).0 } else { self.bytes.len() };
        (seq, offset..end)
    }

    fn table(&self, number: usize) -> (usize, u64) {
        let at = HEAD + number * TABLE_ENTRY;
        let word = |at: usize| u32::from_le_bytes(self.bytes[at..at + 4].try_into().expect("four bytes"));
        (word(at) as usize, self.first.saturating_add(word(at + 4) as u64))
    }

    fn number_of(&self, seq: u64) -> Option<usize> {
        let guess = usize::try_from(seq.checked_sub(self.first)?).ok()?;
        if guess < self.count && self.table(guess).1 == seq {
            return Some(guess);
        }
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = (low + high) / 2;
            match self.table(middle).1.cmp(&seq) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The checksum and the body of a record, if the checksum holds.
    fn sound(&self, seq: u64, place: Range<usize>) -> Option<(u32, Range<usize>)> {
        let record = self.bytes.get(place.clone())?;
        let (crc, body) = record.split_first_chunk::<RECORD_HEAD>()?;
        let crc = u32::from_le_bytes(*crc);
        let actual = crc32c::crc32c_append(crc32c::crc32c(&seq.to_le_bytes()), body);
        (actual == crc).then_some((crc, place.start + RECORD_HEAD..place.end))
    }

    /// A message: `Ok(None)` if it is not in the block, an error if it is damaged.
    pub fn message(&self, seq: u64) -> Result<Option<StoredMessage>, DamagedRecord> {
        let Some(number) = self.number_of(seq) else { return Ok(None) };
        let (_, place) = self.place(number);
        let (_, body) = self.sound(seq, place).ok_or(DamagedRecord)?;
        let buffer = self.bytes.slice(body);
        let at = body_layout(&buffer, 0).ok_or(DamagedRecord)?;
        StoredMessage::new(seq, at.timestamp, buffer, at.subject, at.headers, at.payload).map(Some).ok_or(DamagedRecord)
    }

    /// All records in order; an error for a damaged one.
    pub fn records(&self) -> impl Iterator<Item = (u64, Result<Record<'_>, DamagedRecord>)> {
        self.places().map(|(seq, place)| {
            let record = self.sound(seq, place).map(|(crc, body)| (seq, crc, &self.bytes[body]));
            (seq, record.ok_or(DamagedRecord))
        })
    }

    /// What an index needs of each message; an error for a damaged one.
    ///
    /// It is a copy: a start that held on to the payloads would need as much memory as there is stored.
    pub fn index(&self) -> Vec<(u64, Result<IndexEntry, DamagedRecord>)> {
        let mut kept = BytesMut::new();
        let mut before = 0..0;
        let found: Vec<(u64, Option<Layout>)> = self
            .places()
            .map(|(seq, place)| {
                let body = self.sound(seq, place).map(|(_, body)| &self.bytes[body]);
                let at = body.and_then(|body| Some((body, body_layout(body, 0)?)));
                let copied = at.map(|(body, mut at)| {
                    let subject = part(body, &at.subject);
                    // Neighbours often have one subject.
                    if part(&kept, &before) != subject {
                        before = keep(&mut kept, subject);
                    }
                    at.subject = before.clone();
                    at.headers = keep(&mut kept, part(body, &at.headers));
                    at
                });
                (seq, copied)
            })
            .collect();
        let kept = kept.freeze();
        let entry = |seq, at: Option<Layout>| at.map(|at| index_entry(seq, &kept, &at)).ok_or(DamagedRecord);
        found.into_iter().map(|(seq, at)| (seq, entry(seq, at))).collect()
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
