#![no_main]
//! Arbitrary bytes as entry, change and block: never a panic.

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use postroom::store::record::{body_layout, decode_change, entry_at, layout, stored_message};
use postroom::store::sled::block::ReadBlock;

fuzz_target!(|input: &[u8]| {
    let bytes = Bytes::copy_from_slice(input);
    entry_at(input);
    layout(input);
    body_layout(input, 0);
    decode_change(input);
    if let Some(message) = stored_message(1, &bytes) {
        assert!(message.subject().len() + message.headers().len() + message.payload().len() <= input.len());
    }
    if let Some(block) = ReadBlock::open(bytes) {
        for seq in block.first.saturating_sub(1)..block.first.saturating_add(70) {
            block.message(seq).ok();
        }
        block.records().count();
        let _ = block.index().len();
    }
});
