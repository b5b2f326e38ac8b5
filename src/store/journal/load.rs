use super::ring::{Ring, SlotEntry};
use super::scan::SlotData;
use super::slot::{Slot, SlotHead, slot_id, slot_path};
use super::two_slot::TwoSlot;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A journal as found on the disk.
#[derive(Debug)]
pub struct Loaded {
    pub ring: Ring,
    pub ring_file: TwoSlot<Ring>,
    pub free: Vec<Slot>,
    pub next_id: u32,
    /// The directory held no journal.
    pub is_new: bool,
}

/// Finds out which slots are in use, from the ring file and from what the slots say of themselves.
pub fn load(dir: &Path) -> io::Result<Loaded> {
    std::fs::create_dir_all(dir)?;
    let ring_path = dir.join("ring");
    let had_ring = ring_path.exists();
    let (ring_file, ring, damaged) = TwoSlot::<Ring>::open(&ring_path)?;
    let mut files: BTreeMap<u32, (Slot, Option<SlotHead>)> = BTreeMap::new();
    for file in std::fs::read_dir(dir)? {
        if let Some(id) = file?.file_name().to_str().and_then(slot_id) {
            let slot = Slot::open(dir, id)?;
            let head = slot.read_head();
            files.insert(id, (slot, head));
        }
    }
    let is_new = files.is_empty() && ring.is_none();
    if damaged || (!is_new && (ring.is_none() || !had_ring)) {
        tracing::warn!("journal: the ring file is damaged or was never finished, asking the slots");
    }
    let mut ring = ring.unwrap_or_else(|| Ring { key: key_of(&files), ..Ring::default() });
    adopt(&mut ring, &files);
    let next_id = files.keys().next_back().map_or(0, |last| last + 1);
    for entry in &ring.slots {
        files.remove(&entry.id);
    }
    let free = files.into_values().map(|(slot, _)| slot).collect();
    Ok(Loaded { ring, ring_file, free, next_id, is_new })
}

/// The key that the slots name; a new one if there are none.
fn key_of(files: &BTreeMap<u32, (Slot, Option<SlotHead>)>) -> u64 {
    let newest = files.values().filter_map(|(_, head)| head.as_ref()).max_by_key(|head| head.base);
    newest.map_or_else(rand::random, |head| head.key)
}

/// Adds slots that were begun after the ring was last written.
fn adopt(ring: &mut Ring, files: &BTreeMap<u32, (Slot, Option<SlotHead>)>) {
    let known = ring.next_base;
    // A slot that was used again since the ring was written is no longer what the ring says.
    let reused = |entry: &SlotEntry| {
        let head = files.get(&entry.id).and_then(|(_, head)| head.as_ref());
        head.is_some_and(|head| head.key == ring.key && head.base > entry.base)
    };
    let stale: Vec<u32> = ring.slots.iter().filter(|entry| reused(entry)).map(|entry| entry.id).collect();
    ring.slots.retain(|entry| !stale.contains(&entry.id));
    for (id, (slot, head)) in files {
        let Some(head) = head.as_ref().filter(|head| head.key == ring.key && head.base >= known) else { continue };
        ring.slots.push(SlotEntry { id: *id, base: head.base, size: slot.size, end: None });
    }
    ring.slots.sort_by_key(|entry| entry.base);
    let heads: Vec<&SlotHead> = files.values().filter_map(|(_, head)| head.as_ref()).collect();
    for entry in &mut ring.slots {
        let said =
            heads.iter().filter(|head| head.key == ring.key).find_map(|head| head.before.filter(|b| b.0 == entry.base));
        if let Some((_, end)) = said {
            entry.end.get_or_insert(end);
        }
        ring.next_base = ring.next_base.max(entry.base + entry.size);
    }
}

/// Reads the slots that hold anything above `from`. One that cannot be read is taken as empty, and told.
pub fn read_slots(dir: &Path, ring: &Ring, from: u64) -> Vec<SlotData> {
    let read = |entry: &SlotEntry| {
        read_slot(dir, entry).unwrap_or_else(|error| {
            tracing::error!("journal: slot {} is gone, what it held is lost: {error}", entry.id);
            SlotData { entry: entry.clone(), bytes: Bytes::new() }
        })
    };
    above(ring, from).map(read).collect()
}

/// As [`read_slots`], but fails if one cannot be read: it may be readable later.
pub fn try_read_slots(dir: &Path, ring: &Ring, from: u64) -> io::Result<Vec<SlotData>> {
    above(ring, from).map(|entry| read_slot(dir, entry)).collect()
}

fn above(ring: &Ring, from: u64) -> impl Iterator<Item = &SlotEntry> {
    ring.slots.iter().filter(move |slot| slot.end.unwrap_or(slot.base + slot.size) > from)
}

fn read_slot(dir: &Path, entry: &SlotEntry) -> io::Result<SlotData> {
    let file = File::open(slot_path(dir, entry.id))?;
    let missing = entry.size.saturating_sub(file.metadata()?.len());
    // Nothing behind the end is looked at.
    let used = entry.end.map_or(entry.size, |end| end.saturating_sub(entry.base).min(entry.size));
    let mut bytes = Vec::with_capacity(used as usize);
    file.take(used).read_to_end(&mut bytes)?;
    if missing > 0 {
        tracing::error!("journal: slot {} is damaged: {missing} bytes are missing at its end", entry.id);
    }
    Ok(SlotData { entry: entry.clone(), bytes: Bytes::from(bytes) })
}
