use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Where frames begin in a slot: the page before it describes the slot, twice.
pub const SLOT_HEAD: u64 = 4096;

const SECOND_COPY: u64 = 2048;
const MAGIC: u64 = u64::from_le_bytes(*b"prSLOT\0\x01");

/// What a slot says about itself, should the ring file be lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotHead {
    pub key: u64,
    pub base: u64,
    /// Base and end of the slot written before it.
    pub before: Option<(u64, u64)>,
}

/// A preallocated file of the journal.
#[derive(Debug)]
pub struct Slot {
    pub id: u32,
    pub size: u64,
    pub file: File,
}

pub fn slot_path(dir: &Path, id: u32) -> PathBuf {
    dir.join(format!("slot-{id:08}"))
}

/// The number in the name of a slot file.
pub fn slot_id(name: &str) -> Option<u32> {
    name.strip_prefix("slot-").filter(|digits| digits.len() == 8)?.parse().ok()
}

impl Slot {
    /// Makes a slot of zeroes. Not synced. Leaves nothing behind if there is no room.
    pub fn create(dir: &Path, id: u32, size: u64) -> io::Result<Self> {
        let path = slot_path(dir, id);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path)?;
        let filled = fill(&file, size);
        if let Err(error) = filled {
            drop(file);
            std::fs::remove_file(&path).ok();
            return Err(error);
        }
        Ok(Self { id, size, file })
    }

    pub fn open(dir: &Path, id: u32) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(slot_path(dir, id))?;
        Ok(Self { id, size: file.metadata()?.len(), file })
    }

    pub fn write_head(&self, head: &SlotHead) -> io::Result<()> {
        let body = rmp_serde::to_vec(head).map_err(io::Error::other)?;
        let mut out = Vec::with_capacity(16 + body.len());
        out.extend_from_slice(&MAGIC.to_le_bytes());
        out.extend_from_slice(&(body.len() as u32).to_le_bytes());
        out.extend_from_slice(&crc32c::crc32c(&body).to_le_bytes());
        out.extend_from_slice(&body);
        self.file.write_all_at(&out, 0)?;
        self.file.write_all_at(&out, SECOND_COPY)
    }

    /// `None` if the slot was never used or both copies are damaged.
    pub fn read_head(&self) -> Option<SlotHead> {
        [0, SECOND_COPY].into_iter().find_map(|offset| {
            let mut bytes = [0; SECOND_COPY as usize];
            self.file.read_exact_at(&mut bytes, offset).ok()?;
            let length = u32::from_le_bytes(bytes[8..12].try_into().ok()?) as usize;
            let body = bytes.get(16..16 + length)?;
            let sound = bytes[..8] == MAGIC.to_le_bytes() && bytes[12..16] == crc32c::crc32c(body).to_le_bytes();
            sound.then(|| rmp_serde::from_slice(body).ok()).flatten()
        })
    }
}

/// Writes zeroes, so that a later write changes no block map and a sync writes data only.
fn fill(file: &File, size: u64) -> io::Result<()> {
    const STEP: usize = 1 << 20;
    let zeroes = vec![0; STEP.min(size as usize)];
    let mut at = 0;
    while at < size {
        let step = (size - at).min(STEP as u64);
        file.write_all_at(&zeroes[..step as usize], at)?;
        at += step;
    }
    Ok(())
}
