//! How messages and changes look in the journal and in volumes.
//!
//! An *entry* is `[length u32][crc u32][sequence u64][body]`, little-endian. The length counts the body, its highest
//! bit tells a change from a message. The crc32c covers sequence and body, so that an entry vouches for itself
//! wherever it lies. The body of a message is the MessagePack array `[subject, headers, payload, timestamp]`, as
//! rmp-serde writes it; the body of a change is the [`Change`] as rmp-serde writes it, its sequence is zero.

use super::{Change, Draft, IndexEntry};
use crate::protocol::StoredMessage;
use bytes::{BufMut, Bytes, BytesMut};
use std::ops::Range;

/// Bytes in front of the body of an entry.
pub const ENTRY_HEAD: usize = 16;

/// Set in the length of an entry whose body is a change.
const CHANGE_BIT: u32 = 1 << 31;

/// Makes the checksum of a change differ from that of a message with the same bytes: the bit above is not covered.
const CHANGE_SEED: u32 = 0x6368_616e;

/// The longest MessagePack prefix of a binary string or integer.
const LONGEST_PREFIX: usize = 9;

/// Where the parts of a message lie in its entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub timestamp: i64,
    pub subject: Range<u32>,
    pub headers: Range<u32>,
    pub payload: Range<u32>,
}

/// Bytes that the entry of this draft needs at most.
pub fn message_bound(draft: &Draft<'_>) -> usize {
    let parts = draft.subject.len() + draft.headers[0].len() + draft.headers[1].len() + draft.payload.len();
    ENTRY_HEAD + parts + 5 * LONGEST_PREFIX
}

/// Appends the entry of a message to an empty buffer.
pub fn encode_message(into: &mut BytesMut, draft: &Draft<'_>) -> Layout {
    debug_assert!(into.is_empty(), "ranges are relative to the entry");
    into.put_bytes(0, ENTRY_HEAD);
    into.put_u8(0x94);
    let subject = put_binary(into, [draft.subject, &[]]);
    let headers = put_binary(into, draft.headers);
    let payload = put_binary(into, [draft.payload, &[]]);
    rmp::encode::write_sint(&mut into.writer(), draft.timestamp).expect("a growing buffer takes everything");
    finish(into, draft.seq, 0, 0);
    Layout { timestamp: draft.timestamp, subject, headers, payload }
}

/// Appends the entry of a change to an empty buffer.
pub fn encode_change(into: &mut BytesMut, change: &Change) {
    debug_assert!(into.is_empty(), "the head lies at the start");
    into.put_bytes(0, ENTRY_HEAD);
    rmp_serde::encode::write(&mut into.writer(), change).expect("changes are made of what MessagePack knows");
    finish(into, 0, CHANGE_BIT, CHANGE_SEED);
}

fn put_binary(into: &mut BytesMut, pieces: [&[u8]; 2]) -> Range<u32> {
    let length = (pieces[0].len() + pieces[1].len()) as u32;
    rmp::encode::write_bin_len(&mut into.writer(), length).expect("a growing buffer takes everything");
    let start = into.len() as u32;
    into.put_slice(pieces[0]);
    into.put_slice(pieces[1]);
    start..start + length
}

fn finish(entry: &mut BytesMut, seq: u64, bit: u32, seed: u32) {
    let length = (entry.len() - ENTRY_HEAD) as u32 | bit;
    entry[8..16].copy_from_slice(&seq.to_le_bytes());
    let crc = crc32c::crc32c_append(seed, &entry[8..]);
    entry[..4].copy_from_slice(&length.to_le_bytes());
    entry[4..8].copy_from_slice(&crc.to_le_bytes());
}

/// An entry found whole in a larger buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub seq: u64,
    pub crc: u32,
    pub is_change: bool,
    /// Bytes of the whole entry.
    pub size: usize,
}

/// The entry at the start of `bytes`, if its checksum holds.
pub fn entry_at(bytes: &[u8]) -> Option<Found> {
    let size = entry_size(bytes)?;
    let is_change = bytes[3] & 0x80 != 0;
    let crc = u32::from_le_bytes(bytes[4..8].try_into().ok()?);
    let seed = if is_change { CHANGE_SEED } else { 0 };
    let seq = u64::from_le_bytes(bytes[8..16].try_into().ok()?);
    (crc32c::crc32c_append(seed, &bytes[8..size]) == crc).then_some(Found { seq, crc, is_change, size })
}

/// The size that the entry at the start of `bytes` claims, if that much is there.
pub fn entry_size(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?) & !CHANGE_BIT;
    let size = ENTRY_HEAD.checked_add(length as usize)?;
    (length > 0 && size <= bytes.len()).then_some(size)
}

/// Where the parts of a message are; `None` if the entry is none of ours.
pub fn layout(entry: &[u8]) -> Option<Layout> {
    body_layout(entry, ENTRY_HEAD)
}

/// As [`layout`], for a body that begins at `start`.
pub fn body_layout(bytes: &[u8], start: usize) -> Option<Layout> {
    let mut rest = bytes.get(start..)?;
    let total = bytes.len();
    if rmp::decode::read_array_len(&mut rest).ok()? != 4 {
        return None;
    }
    let mut parts = [const { 0..0 }; 3];
    for part in &mut parts {
        let length = rmp::decode::read_bin_len(&mut rest).ok()? as usize;
        let start = total - rest.len();
        rest = rest.get(length..)?;
        *part = start as u32..(start + length) as u32;
    }
    let timestamp = rmp::decode::read_int(&mut rest).ok()?;
    let [subject, headers, payload] = parts;
    rest.is_empty().then_some(Layout { timestamp, subject, headers, payload })
}

/// The change in a whole entry.
pub fn decode_change(entry: &[u8]) -> Option<Change> {
    rmp_serde::from_slice(entry.get(ENTRY_HEAD..)?).ok()
}

/// The message in a whole entry, sharing its bytes.
pub fn stored_message(seq: u64, entry: &Bytes) -> Option<StoredMessage> {
    let at = layout(entry)?;
    StoredMessage::new(seq, at.timestamp, entry.clone(), at.subject, at.headers, at.payload)
}

/// What an index needs of the message in a buffer, sharing its bytes.
pub fn index_entry(seq: u64, buffer: &Bytes, at: &Layout) -> IndexEntry {
    let slice = |range: &Range<u32>| match range.is_empty() {
        true => Bytes::new(),
        false => buffer.slice(range.start as usize..range.end as usize),
    };
    IndexEntry {
        seq,
        timestamp: at.timestamp,
        subject: slice(&at.subject),
        headers: slice(&at.headers),
        payload_len: at.payload.end - at.payload.start,
    }
}
