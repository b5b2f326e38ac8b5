//! Reads a journal back, and tells a torn tail from damage.
//!
//! What lies below the durable position that some later frame states was on the disk once: if it cannot be read, it
//! is damaged, and named. What lies above may be torn: reading ends at the first frame there that is not whole.

use super::frame::{ALIGN, End, FrameHead, HEAD};
use super::ring::SlotEntry;
use super::slot::SLOT_HEAD;
use crate::store::record::{ENTRY_HEAD, Found, entry_at, entry_size};
use bytes::Bytes;

/// A slot as read from the disk: perhaps shorter than it should be, or empty if its file is gone.
pub struct SlotData {
    pub entry: SlotEntry,
    pub bytes: Bytes,
}

/// A frame that can be read, perhaps with damaged entries.
pub struct Frame<'a> {
    pub head: FrameHead,
    /// The bytes between header and trailer.
    pub body: Bytes,
    /// Where entries that vouch for themselves begin in the body.
    pub entries: &'a [(usize, Found)],
    pub is_whole: bool,
}

/// What reading came upon, in order.
pub enum Event<'a> {
    Frame(Frame<'a>),
    /// Something was here and cannot be read; whose it was is unknown.
    Unreadable {
        from: u64,
        to: u64,
    },
}

/// What reading found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Where the journal ends: behind its last good frame.
    pub end: u64,
    /// Frames that counted.
    pub frames: u64,
    /// Frames dropped at a torn tail.
    pub torn: u64,
    /// Everything below was durable.
    pub durable: u64,
}

/// A frame, or a stretch without one.
enum Piece {
    Frame { head: FrameHead, body: Bytes },
    Unreadable { from: u64, to: u64 },
}

/// Reads all frames that end above `from`. `slots` in order of position.
pub fn scan(slots: &[SlotData], key: u64, from: u64, mut tell: impl FnMut(Event<'_>)) -> Scan {
    let mut pieces = Vec::new();
    let mut durable = from;
    for (number, slot) in slots.iter().enumerate() {
        // A slot is left only when it is durable.
        let is_last = number + 1 == slots.len();
        if !is_last || slot.entry.end.is_some() {
            durable = durable.max(slot.entry.end.unwrap_or(slot.entry.base));
        }
        read_slot(slot, key, from, &mut pieces);
    }
    for piece in &pieces {
        if let Piece::Frame { head, .. } = piece {
            durable = durable.max(head.durable);
        }
    }
    let mut scan = Scan { end: from, durable, ..Scan::default() };
    let mut entries = Vec::new();
    let mut pieces = pieces.into_iter();
    for piece in pieces.by_ref() {
        match piece {
            Piece::Unreadable { from, to } if from < durable => tell(Event::Unreadable { from, to }),
            Piece::Unreadable { .. } => break,
            Piece::Frame { head, body } => {
                let is_whole = read_entries(&head, &body, &mut entries);
                if !is_whole && head.end() > durable {
                    scan.torn += 1;
                    break;
                }
                scan.frames += 1;
                scan.end = head.end();
                tell(Event::Frame(Frame { head, body, entries: &entries, is_whole }));
            }
        }
    }
    scan.torn += pieces.filter(|piece| matches!(piece, Piece::Frame { .. })).count() as u64;
    scan
}

fn read_slot(slot: &SlotData, key: u64, from: u64, pieces: &mut Vec<Piece>) {
    let base = slot.entry.base;
    let end = slot.entry.end.unwrap_or(base + slot.entry.size);
    if end <= from {
        return;
    }
    let bytes = slot.bytes.slice(..slot.bytes.len().min((end - base) as usize));
    let mut at = SLOT_HEAD as usize;
    while at + HEAD <= bytes.len() {
        let found = frame_at(&bytes, at, base, key).map(|head| (at, head)).or_else(|| search(&bytes, at, base, key));
        let Some((start, head)) = found else { break };
        if start > at && base + start as u64 > from {
            pieces.push(Piece::Unreadable { from: base + at as u64, to: base + start as u64 });
        }
        at = start + head.size() as usize;
        if head.end() > from {
            let body = start + HEAD..(start + HEAD + head.length as usize).min(bytes.len());
            pieces.push(Piece::Frame { head, body: bytes.slice(body) });
        }
    }
    // Where the end is known, nothing may be missing before it.
    if slot.entry.end.is_some() && ((at as u64) < end - base) {
        pieces.push(Piece::Unreadable { from: (base + at as u64).max(from), to: end });
    }
}

/// The frame that begins at this offset, by its header, or else by its trailer.
fn frame_at(bytes: &[u8], at: usize, base: u64, key: u64) -> Option<FrameHead> {
    let head = FrameHead::decode(&bytes[at..], key, End::Header)?;
    (head.position == base + at as u64).then_some(head)
}

/// The next frame behind `at`, or the one at `at` if its trailer survived.
fn search(bytes: &[u8], at: usize, base: u64, key: u64) -> Option<(usize, FrameHead)> {
    let mut offset = at;
    while offset + HEAD <= bytes.len() {
        if bytes[offset] == b'p' && bytes[offset + 1] == b'r' {
            if let Some(head) = frame_at(bytes, offset, base, key) {
                return Some((offset, head));
            }
            if let Some(head) = FrameHead::decode(&bytes[offset..], key, End::Trailer) {
                let start = head.position.checked_sub(base).map(|start| start as usize);
                let ends_here = head.end() == base + (offset + HEAD) as u64;
                if let Some(start) = start.filter(|start| *start >= at && ends_here) {
                    return Some((start, head));
                }
            }
        }
        offset += ALIGN;
    }
    None
}

/// Collects the entries that vouch for themselves. Whether these are all of them, without anything between.
pub fn read_entries(head: &FrameHead, body: &[u8], into: &mut Vec<(usize, Found)>) -> bool {
    into.clear();
    let mut at = 0;
    let mut whole = body.len() == head.length as usize;
    while at < body.len() {
        if let Some(found) = entry_at(&body[at..]) {
            into.push((at, found));
            at += found.size;
            continue;
        }
        whole = false;
        at = next_entry(body, at);
    }
    whole && into.len() == head.entries as usize
}

/// Where to go on behind a damaged entry: where its length says if an entry is there, else wherever one is found.
fn next_entry(body: &[u8], at: usize) -> usize {
    if let Some(size) = entry_size(&body[at..]) {
        let next = at + size;
        if next == body.len() || entry_at(&body[next..]).is_some() {
            return next;
        }
    }
    let last = body.len().saturating_sub(ENTRY_HEAD);
    // A checksum over a long stretch at each offset would take for ever: bodies begin in few ways.
    let plausible = |offset: usize| matches!(body.get(offset + ENTRY_HEAD), Some(0x94 | 0x81 | 0xa0..=0xbf));
    (at + 1..=last).find(|&o| plausible(o) && entry_at(&body[o..]).is_some()).unwrap_or(body.len())
}
