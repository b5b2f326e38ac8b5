//! Gets out of a damaged volume what its database refuses to read.
//!
//! sled refuses a leaf, up to eight blocks, when its checksum fails. One flipped bit is turned back, and nothing is lost.
//! With more, our blocks and records have checksums of their own, and little of a leaf is really compressed: mostly all
//! but the records that were hit are still there.

use super::block::ReadBlock;
use super::heal::{is_damaged, turn_back_one_bit};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Blocks by stream and first sequence.
pub type Salvaged = BTreeMap<(u64, u64), ReadBlock>;

/// A leaf is not taken for longer than this when it is unpacked.
const LARGEST_LEAF: u64 = 1 << 30;

const BLOCK_MAGIC: &[u8] = b"prB\x01";

/// Looks through the slots of all slab files whose checksum fails.
pub fn salvage(database: &Path) -> Salvaged {
    let mut found = Salvaged::new();
    let Ok(slabs) = fs::read_dir(database.join("slabs")) else { return found };
    for slab in slabs.filter_map(Result::ok) {
        let size = slab.file_name().to_str().and_then(|name| name.parse::<u64>().ok());
        if let Some((size, file)) = size.zip(File::open(slab.path()).ok()) {
            let length = file.metadata().map_or(0, |metadata| metadata.len());
            for slot in 0..length / size.max(1) {
                let mut bytes = vec![0; size as usize];
                if file.read_exact_at(&mut bytes, slot * size).is_ok() && is_damaged(&bytes) {
                    if turn_back_one_bit(&mut bytes) {
                        tracing::warn!("store: damaged by one flipped bit, read without it: {}", slab.path().display());
                    }
                    unpack(&bytes, &mut found);
                }
            }
        }
    }
    found
}

fn unpack(slot: &[u8], found: &mut Salvaged) {
    let mut leaf = Vec::new();
    // Whatever comes out before an error is good enough.
    if let Ok(decoder) = zstd::stream::read::Decoder::new(slot) {
        decoder.single_frame().take(LARGEST_LEAF).read_to_end(&mut leaf).ok();
    }
    let leaf = Bytes::from(leaf);
    let mut at = 0;
    while let Some(next) = memchr::memmem::find(&leaf[at..], BLOCK_MAGIC) {
        at += next;
        match ReadBlock::open_cut(leaf.slice(at..)) {
            Some(block) => {
                at += block.len().max(1);
                found.insert((block.stream, block.first), block);
            }
            None => at += 1,
        }
    }
}
