use super::frame::{End, FRAME_OVERHEAD, HEAD};
use super::gather::Gather;
use super::group::Group;
use super::ring::{Ring, SlotEntry};
use super::slot::{SLOT_HEAD, Slot, SlotHead, slot_path};
use super::two_slot::TwoSlot;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Where a journal is and how its slots grow.
#[derive(Clone, Debug)]
pub struct JournalOptions {
    pub dir: PathBuf,
    /// Bytes of the first slot: what a fresh server pays for.
    pub first_slot: u64,
    /// Bytes of a slot under load.
    pub slot: u64,
}

/// The least a slot may have when the disk is nearly full.
pub const SMALLEST_SLOT: u64 = 256 * 1024;

/// Each slot may be this many times larger than the one before, up to the configured size.
const GROWTH: u64 = 4;

/// A slot takes at most this part of the room left on the disk.
const SHARE_OF_FREE_SPACE: u64 = 8;

/// After the disk was found full, it is not looked at again for so long.
const FULL_FOR: Duration = Duration::from_millis(100);

/// Free slots kept for reuse: as many as a seal gives back under load.
const SPARE_SLOTS: usize = 3;

/// A slot to be made, by whoever has time.
#[derive(Debug)]
pub struct SlotPlan {
    dir: PathBuf,
    id: u32,
    size: u64,
}

impl SlotPlan {
    /// Makes it: zeroes, and on the disk. Takes its time.
    pub fn make(self) -> io::Result<Slot> {
        let slot = Slot::create(&self.dir, self.id, self.size)?;
        slot.file.sync_all()?;
        Ok(slot)
    }
}

/// Why groups were not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// There is no slot for them; nothing was written.
    #[error("{0}")]
    NoSlot(io::Error),
    /// Something may have been written: abandon it.
    #[error("{0}")]
    Broken(io::Error),
}

/// Writes frames into slots. All calls block.
///
/// After an error nothing of what was written since the last [`sync`](Self::sync) counts: [`abandon`](Self::abandon).
#[derive(Debug)]
pub struct Journal {
    options: JournalOptions,
    ring: Ring,
    ring_file: TwoSlot<Ring>,
    current: Option<Slot>,
    /// Offset in the current slot behind the last frame.
    used: u64,
    durable: u64,
    free: Vec<Slot>,
    next_id: u32,
    /// The current slot has not been synced since it was begun, nor the ring that names it.
    newborn: bool,
    /// What the last frame says is durable.
    told: u64,
    full_since: Option<Instant>,
    largest: u64,
}

impl Journal {
    /// Goes on behind what is there: in a slot of its own, so that nothing of a torn tail can ever be read again. The
    /// slot is begun with the first write: a server that stores nothing makes none.
    /// `ring` holds the slots still needed, each with its end.
    pub fn begin(options: JournalOptions, ring: Ring, ring_file: TwoSlot<Ring>, free: Vec<Slot>, next_id: u32) -> Self {
        let durable = ring.next_base;
        // What a killed process wrote and never synced was read, and counts from here on: it must outlive a power cut.
        let last =
            ring.slots.last().map(|last| Slot::open(&options.dir, last.id).and_then(|slot| slot.file.sync_all()));
        if let Some(Err(error)) = last {
            tracing::warn!("journal: what was read cannot be synced: {error}");
        }
        let largest = ring.slots.iter().map(|slot| slot.size).chain(free.iter().map(|slot| slot.size)).max();
        Self {
            options,
            ring,
            ring_file,
            current: None,
            used: 0,
            durable,
            free,
            next_id,
            newborn: false,
            told: durable,
            full_since: None,
            largest: largest.unwrap_or(0),
        }
    }

    /// The position behind the last frame.
    pub fn position(&self) -> u64 {
        match (&self.current, self.ring.slots.last()) {
            (Some(_), Some(entry)) => entry.base + self.used,
            (_, Some(entry)) => entry.end.unwrap_or(entry.base),
            _ => self.ring.next_base,
        }
    }

    /// Everything below is on the disk.
    pub fn durable(&self) -> u64 {
        self.durable
    }

    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// Bytes in use above a position.
    pub fn bytes_above(&self, position: u64) -> u64 {
        let end = self.position();
        let used = self.ring.slots.iter().map(|slot| {
            let start = (slot.base + SLOT_HEAD).max(position);
            slot.end.unwrap_or(end).saturating_sub(start)
        });
        used.sum()
    }

    /// Bytes that the journal takes or could take on its disk.
    pub fn available(&self) -> u64 {
        fs2::available_space(&self.options.dir).map_or(u64::MAX / 2, |free| free + self.size())
    }

    /// Bytes of all slot files.
    pub fn size(&self) -> u64 {
        self.ring.slots.iter().map(|slot| slot.size).chain(self.free.iter().map(|slot| slot.size)).sum()
    }

    /// Writes as many of the groups as the current slot holds, at least one; begins a new slot if it holds none.
    /// Not durable before [`sync`](Self::sync).
    pub fn write<'a>(&mut self, groups: impl Iterator<Item = &'a Group> + Clone) -> Result<usize, WriteError> {
        let Some(first) = groups.clone().next() else { return Ok(0) };
        // Room for a mark is kept back: without one, damage to the last frame would pass for a torn tail.
        let kept = if first.is_empty() { 0 } else { FRAME_OVERHEAD as u64 };
        if self.room(kept) < first.size() as u64 {
            if self.durable < self.position() {
                // A slot is left only when it is durable: a round never spans two files.
                self.sync().map_err(WriteError::Broken)?;
            }
            self.open_slot(first.size() as u64 + kept).map_err(WriteError::NoSlot)?;
        }
        let start = self.position();
        let (mut position, mut left, mut count) = (start, self.room(kept), 0);
        let mut heads: Vec<[u8; HEAD]> = Vec::new();
        let mut taken: Vec<&Group> = Vec::new();
        for group in groups {
            let size = group.size() as u64;
            if size > left {
                break;
            }
            let head = group.head(position, self.durable);
            heads.push(head.encode(self.ring.key, End::Header));
            heads.push(head.encode(self.ring.key, End::Trailer));
            taken.push(group);
            (position, left, count) = (position + size, left - size, count + 1);
        }
        const PADDING: [u8; 8] = [0; 8];
        let mut gather = Gather::default();
        for (group, ends) in taken.iter().zip(heads.chunks_exact(2)) {
            gather.push(ends[0].as_ptr(), HEAD);
            group.runs().for_each(|(start, length)| gather.push(start, length));
            gather.push(PADDING.as_ptr(), group.padding());
            gather.push(ends[1].as_ptr(), HEAD);
        }
        let slot = self.current.as_ref().ok_or_else(|| WriteError::NoSlot(io::ErrorKind::StorageFull.into()))?;
        // SAFETY: `heads` and the borrowed groups own all that was pushed, and nobody changes it meanwhile.
        unsafe { gather.write_all_at(&slot.file, self.used) }.map_err(WriteError::Broken)?;
        self.used += position - start;
        self.told = self.durable;
        Ok(count)
    }

    /// Makes everything written durable.
    pub fn sync(&mut self) -> io::Result<()> {
        let Some(slot) = &self.current else { return Ok(()) };
        if self.newborn {
            slot.file.sync_all()?;
            File::open(&self.options.dir)?.sync_all()?;
            // In this order: a slot that the ring names has been on the disk.
            self.ring_file.write(&self.ring)?;
            self.ring_file.sync()?;
            self.newborn = false;
        } else {
            slot.file.sync_data()?;
        }
        self.durable = self.position();
        Ok(())
    }

    /// Notes how far the journal is durable, should nothing follow that says so. Not synced: it helps to tell damage
    /// from a torn tail, and nothing depends on it.
    pub fn mark(&mut self) -> Result<(), WriteError> {
        if self.told >= self.durable || self.durable < self.position() {
            return Ok(());
        }
        let group = Group::new(crate::store::StreamId(0));
        if self.room(0) < group.size() as u64 {
            return Ok(());
        }
        // What it adds is durable only with the next round, and says nothing that would be missed.
        let durable = self.durable;
        self.write(std::iter::once(&group))?;
        self.told = durable;
        Ok(())
    }

    pub fn needs_mark(&self) -> bool {
        self.told < self.durable && self.durable == self.position()
    }

    /// A write or a sync failed: nothing from `position` on counts, now or after a restart. Goes on in another slot.
    pub fn abandon(&mut self, position: u64) -> io::Result<()> {
        let end = self.position().max(self.ring.slots.last().map_or(0, |slot| slot.base + slot.size));
        self.current = None;
        self.ring.next_base = self.ring.next_base.max(end);
        while let Some(last) = self.ring.slots.last_mut() {
            if last.base + SLOT_HEAD < position || self.ring.slots.len() == 1 {
                let last = self.ring.slots.last_mut().expect("seen above");
                last.end = Some(last.end.map_or(position, |end| end.min(position)));
                break;
            }
            let gone = self.ring.slots.pop().expect("seen above");
            std::fs::remove_file(slot_path(&self.options.dir, gone.id)).ok();
        }
        self.full_since = None;
        self.open_slot(0)?;
        self.sync()
    }

    /// What to make to have a slot to go on with before the current one is exhausted. Its number is taken.
    pub fn wants_slot(&mut self) -> Option<SlotPlan> {
        let slot = self.current.as_ref()?;
        if !self.free.is_empty() || self.used <= slot.size / 2 || self.is_known_full() {
            return None;
        }
        let (size, _) = self.sizes(0);
        self.next_id += 1;
        Some(SlotPlan { dir: self.options.dir.clone(), id: self.next_id - 1, size })
    }

    /// Takes a slot that was made as planned.
    pub fn add_spare(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    /// Whether a frame of this size needs another slot, and none is there.
    pub fn lacks_slot(&self, size: usize) -> bool {
        self.room(FRAME_OVERHEAD as u64) < size as u64 && self.free.is_empty()
    }

    /// Where a seal of what lies above `from` ends: with the journal, or with a slot that is left, so that no more than
    /// a slot's worth is held in memory for it.
    pub fn seal_end(&self, from: u64) -> u64 {
        let all = self.bytes_above(from);
        let bytes_to = |end: u64| all - self.bytes_above(end);
        if all <= self.options.slot {
            return self.position();
        }
        let ends: Vec<u64> =
            self.ring.slots.iter().filter_map(|slot| slot.end).filter(|end| bytes_to(*end) > 0).collect();
        let fitting = ends.iter().rfind(|end| bytes_to(**end) <= self.options.slot);
        fitting.or(ends.first()).copied().unwrap_or(self.position())
    }

    /// Everything is in verified volumes: gives all slots back, so that a store at rest holds nothing twice.
    ///
    /// The ring says so first, in both of its places: none ever names a slot that is gone. Positions and the key go on.
    pub fn retire(&mut self) -> io::Result<()> {
        self.ring.next_base = self.ring.next_base.max(self.position());
        self.current = None;
        let used = std::mem::take(&mut self.ring.slots).into_iter().map(|slot| slot.id);
        let gone: Vec<u32> = used.chain(self.free.drain(..).map(|slot| slot.id)).collect();
        for _ in 0..2 {
            self.ring_file.write(&self.ring)?;
            self.ring_file.sync()?;
        }
        for id in gone {
            std::fs::remove_file(slot_path(&self.options.dir, id))?;
        }
        File::open(&self.options.dir)?.sync_all()
    }

    /// Slots with nothing at or above this position may be used again.
    pub fn release(&mut self, below: u64) {
        let live = self.ring.slots.len().saturating_sub(1);
        let gone = self.ring.slots[..live].iter().take_while(|slot| slot.end.is_some_and(|end| end <= below)).count();
        for entry in self.ring.slots.drain(..gone) {
            match Slot::open(&self.options.dir, entry.id) {
                Ok(slot) if slot.size == entry.size => self.free.push(slot),
                // Somebody cut it or took it away: it is of no use any more.
                _ => drop(std::fs::remove_file(slot_path(&self.options.dir, entry.id))),
            }
        }
        if gone > 0 {
            if let Err(error) = self.ring_file.write(&self.ring) {
                tracing::warn!("journal: cannot note which slots are free: {error}");
            }
            self.trim();
        }
    }

    /// Keeps the largest free slots.
    fn trim(&mut self) {
        self.free.sort_by_key(|slot| std::cmp::Reverse(slot.size));
        let least = self.largest.min(self.options.slot) / GROWTH;
        let mut kept = 0;
        self.free.retain(|slot| {
            kept += 1;
            let keep = kept <= SPARE_SLOTS && slot.size >= least;
            if !keep {
                std::fs::remove_file(slot_path(&self.options.dir, slot.id)).ok();
            }
            keep
        });
    }

    /// Bytes left in the current slot, without those that are kept back.
    fn room(&self, kept: u64) -> u64 {
        self.current.as_ref().map_or(0, |slot| slot.size.saturating_sub(self.used + kept))
    }

    fn open_slot(&mut self, needed: u64) -> io::Result<()> {
        let position = self.position();
        let slot = self.take_slot(needed)?;
        let before = self.ring.slots.last().cloned();
        let base = match &before {
            Some(last) => self.ring.next_base.max(last.base + last.size).max(position),
            None => self.ring.next_base,
        };
        if let Some(last) = self.ring.slots.last_mut() {
            last.end.get_or_insert(position);
        }
        let ended = self.ring.slots.last().and_then(|last| Some((last.base, last.end?)));
        self.ring.slots.push(SlotEntry { id: slot.id, base, size: slot.size, end: None });
        self.ring.next_base = base + slot.size;
        let head = SlotHead { key: self.ring.key, base, before: ended };
        if let Err(error) = slot.write_head(&head) {
            self.ring.slots.pop();
            if let (Some(last), Some(before)) = (self.ring.slots.last_mut(), before) {
                last.end = before.end;
            }
            return Err(error);
        }
        self.largest = self.largest.max(slot.size);
        self.current = Some(slot);
        self.used = SLOT_HEAD;
        self.durable = self.durable.max(position);
        self.told = self.durable;
        self.newborn = true;
        Ok(())
    }

    /// A slot that holds a frame of this size.
    fn take_slot(&mut self, needed: u64) -> io::Result<Slot> {
        let fits = |slot: &Slot| slot.size >= needed + SLOT_HEAD;
        if let Some(at) = (0..self.free.len()).filter(|at| fits(&self.free[*at])).max_by_key(|at| self.free[*at].size) {
            return Ok(self.free.swap_remove(at));
        }
        self.make(needed)
    }

    fn is_known_full(&self) -> bool {
        self.full_since.is_some_and(|since| since.elapsed() < FULL_FOR)
    }

    /// How large the next slot should be, and the least it may be.
    fn sizes(&self, needed: u64) -> (u64, u64) {
        let least = (needed + SLOT_HEAD).next_multiple_of(4096).max(SMALLEST_SLOT.min(self.options.slot));
        let share = fs2::available_space(&self.options.dir).map_or(u64::MAX, |free| free / SHARE_OF_FREE_SPACE);
        let wanted = match self.largest {
            0 => self.options.first_slot,
            largest => largest.saturating_mul(GROWTH).min(self.options.slot),
        };
        ((wanted.min(share) & !4095).max(least), least)
    }

    fn make(&mut self, needed: u64) -> io::Result<Slot> {
        if self.is_known_full() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let (mut size, least) = self.sizes(needed);
        loop {
            let id = self.next_id;
            match Slot::create(&self.options.dir, id, size) {
                Ok(slot) => {
                    self.next_id += 1;
                    self.full_since = None;
                    return Ok(slot);
                }
                Err(error) if size == least => {
                    self.full_since = Some(Instant::now());
                    return Err(error);
                }
                Err(_) => size = ((size / 2) & !4095).max(least),
            }
        }
    }
}
