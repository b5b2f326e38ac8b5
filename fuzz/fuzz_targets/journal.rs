#![no_main]
//! A slot of the journal with arbitrary bytes: reading never panics, and never hands out an entry without a checksum.

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use postroom::store::journal::SlotEntry;
use postroom::store::journal::frame::{End, FrameHead, HEAD};
use postroom::store::journal::scan::{Event, SlotData, scan};
use postroom::store::journal::slot::SLOT_HEAD;
use postroom::store::record::entry_at;

const KEY: u64 = 7;

fuzz_target!(|input: &[u8]| {
    let mut slot = vec![0; SLOT_HEAD as usize];
    // Heads that verify, so that what lies between them is looked into: a byte says how long each body is.
    let mut rest = input;
    while let Some((&length, left)) = rest.split_first() {
        let (body, left) = left.split_at(left.len().min(length as usize));
        let position = slot.len() as u64;
        let head = FrameHead { position, length: body.len() as u32, entries: 1, stream: 1, durable: position, ..FrameHead::default() };
        slot.extend_from_slice(&head.encode(KEY, End::Header));
        slot.extend_from_slice(body);
        slot.resize(slot.len().next_multiple_of(8), 0);
        slot.extend_from_slice(&head.encode(KEY, End::Trailer));
        rest = left;
    }
    if let Some(flip) = input.first() {
        let at = SLOT_HEAD as usize + *flip as usize * HEAD;
        if let Some(byte) = slot.get_mut(at) {
            *byte ^= 0x10;
        }
    }
    let entry = SlotEntry { id: 0, base: 0, size: slot.len() as u64, end: None };
    scan(&[SlotData { entry, bytes: Bytes::from(slot) }], KEY, 0, |event| {
        if let Event::Frame(frame) = event {
            for (at, found) in frame.entries {
                assert_eq!(entry_at(&frame.body[*at..]), Some(*found));
            }
        }
    });
});
