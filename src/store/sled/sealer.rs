use super::archive::{Archive, Shelve, Shelved};
use super::block::{self, record_of_entry};
use super::library::{Library, Placed, Shelf, volumes_of};
use super::model::Model;
use super::replay::Replay;
use crate::actor::{Act, AfterPanic, Ctx, Mailbox, Outlet, Receive};
use crate::store::committer::{Leftover, Reread, Seal, SealDone, Wanted};
use crate::store::journal::{Ring, load, scan};
use crate::store::record::stored_message;
use crate::store::recovery::recover_stream;
use crate::store::{Closed, Damaged, Recovered, Sealed, StreamId};
use actix::ActorContext;
use actix_rt::Arbiter;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// Tells the sealer where a stream hears of what was sealed.
#[derive(Debug)]
pub struct Register {
    pub stream: StreamId,
    pub sealed: Outlet<Sealed>,
    pub damaged: Outlet<Damaged>,
}

/// The archive found messages of a volume damaged.
#[derive(Debug)]
pub struct FoundDamaged {
    pub stream: u64,
    pub ranges: Vec<RangeInclusive<u64>>,
    pub bytes: u64,
}

/// Ends an actor of the store; the last one lets go of the directory.
#[derive(Debug)]
pub struct Stop {
    pub lock: Option<File>,
    pub done: Vec<Outlet<Closed>>,
}

/// Room on the disk without which sealing is not begun: what is written twice at worst, and this.
const HEADROOM: u64 = 4 << 20;

/// Volumes of about the same size that are merged into one.
const MERGE_WIDTH: usize = 6;

/// Volumes with more alive than this are not merged: what one merge holds in memory is bounded.
const LARGEST_TO_MERGE: u64 = 32 << 20;

/// A volume with less alive than this share, in percent, is written again.
const LEAST_ALIVE: u64 = 25;

/// Moves the journal into volumes, and keeps their number small.
pub struct Sealer {
    library: Library,
    archive: Mailbox<Archive>,
    own: Outlet<Shelved>,
    ports: BTreeMap<u64, Register>,
    /// Found since the last generation.
    damaged: Vec<FoundDamaged>,
    state: SealerState,
}

/// What the sealer shows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SealerState {
    /// Volumes, and their blocks.
    pub volumes: usize,
    pub blocks: usize,
    pub streams: usize,
    /// Seals, and how many of them failed.
    pub seals: u64,
    pub failures: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Messages moved into volumes, and the bytes of their blocks.
    pub sealed_messages: u64,
    pub sealed_bytes: u64,
    pub merges: u64,
    /// Messages found damaged since the start.
    pub damaged: u64,
    /// The journal up to here is sealed.
    pub position: u64,
    pub last_seal_ms: u64,
}

impl Sealer {
    /// `damaged`: what reading the index found, to be noted in the next generation of `meta`.
    pub fn new(library: Library, archive: Mailbox<Archive>, own: Outlet<Shelved>, damaged: Vec<FoundDamaged>) -> Self {
        Self { library, archive, own, ports: BTreeMap::new(), damaged, state: SealerState::default() }
    }

    fn seal(&mut self, seal: &Seal) -> io::Result<()> {
        let size = seal.bytes;
        let free = fs2::available_space(self.library.dir())?;
        if free < size + size / 2 + HEADROOM {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "no space left on device for a volume"));
        }
        let Replay { mut model, fresh, damage, .. } = self.replay(&seal.ring, seal.upto)?;
        model.position = seal.upto;
        let mut placed = Placed::new();
        for (id, tail) in &fresh {
            if model.streams.contains_key(id) && !tail.is_empty() {
                let records = tail.iter().filter_map(|(seq, entry)| record_of_entry(seq, entry));
                placed.insert(*id, block::build(*id, records));
                self.state.sealed_messages += tail.len() as u64;
            }
        }
        drop(fresh);
        self.state.sealed_bytes += placed.values().flatten().map(|block| block.bytes.len() as u64).sum::<u64>();
        for found in std::mem::take(&mut self.damaged) {
            if let Some(stream) = model.streams.get_mut(&found.stream) {
                let share = found.bytes / found.ranges.len().max(1) as u64;
                found.ranges.into_iter().for_each(|range| stream.lose_sealed(range, share));
            }
        }
        if !placed.is_empty() {
            self.library.write_volume(&mut model, placed)?;
        }
        self.merge(&mut model)?;
        self.library.advance(model)?;
        self.publish();
        for (stream, range, bytes) in damage {
            if let Some(port) = self.ports.get(&stream) {
                port.damaged.send(Damaged { ranges: vec![range], bytes });
            }
        }
        Ok(())
    }

    /// The journal up to a position, on top of what is sealed.
    fn replay(&self, ring: &Ring, upto: u64) -> io::Result<Replay> {
        let from = self.library.model.position;
        let mut ring = ring.clone();
        ring.slots.retain(|slot| slot.base < upto);
        for slot in &mut ring.slots {
            slot.end = Some(slot.end.map_or(upto, |end| end.min(upto)));
        }
        let mut replay = Replay::new(self.library.model.clone());
        let slots = load::try_read_slots(&self.library.dir().join("journal"), &ring, from)?;
        scan::scan(&slots, ring.key, from, |event| replay.take(event));
        Ok(replay)
    }

    /// Tells the archive first: a stream that drops its hot messages may ask for them at once.
    fn publish(&mut self) {
        let model = &self.library.model;
        let blocks = model.streams.iter().map(|(id, stream)| (*id, stream.blocks.clone())).collect();
        self.archive.send(Shelve { blocks, done: self.own.clone() });
        self.ports.retain(|id, _| model.streams.contains_key(id) || *id >= model.next_stream);
        for (id, port) in &self.ports {
            if let Some(stream) = model.streams.get(id) {
                port.sealed.send(Sealed { last: stream.last });
            }
        }
    }

    /// Writes volumes again that are small, or mostly dead.
    fn merge(&mut self, model: &mut Model) -> io::Result<()> {
        let mut sizes: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for stream in model.streams.values() {
            for (first, block) in &stream.blocks {
                let span = (block.last - first + 1).max(1);
                let live = block.bytes as u64 * stream.live_in(*first, block) / span;
                let size = sizes.entry(block.volume).or_default();
                *size = (size.0 + live, size.1 + block.bytes as u64);
            }
        }
        let mut classes: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        let mut chosen = BTreeSet::new();
        for (volume, (live, all)) in &sizes {
            if *live <= LARGEST_TO_MERGE {
                classes.entry((live >> 16).max(1).ilog2() / 2).or_default().push(*volume);
            }
            if live * 100 < all * LEAST_ALIVE && *all > BLOCK_WORTH_MERGING {
                chosen.insert(*volume);
            }
        }
        if let Some(volumes) = classes.into_values().find(|volumes| volumes.len() >= MERGE_WIDTH) {
            chosen.extend(volumes);
        }
        let size: u64 = chosen.iter().filter_map(|volume| sizes.get(volume)).map(|size| size.0).sum();
        if chosen.is_empty() || fs2::available_space(self.library.dir())? < size + size / 2 + HEADROOM {
            return Ok(());
        }
        self.rewrite(model, &chosen)
    }

    /// Moves what is alive in these volumes into a new one.
    fn rewrite(&mut self, model: &mut Model, volumes: &BTreeSet<u64>) -> io::Result<()> {
        let mut shelf = Shelf::default();
        let mut placed = Placed::new();
        for (id, stream) in &mut model.streams {
            let mut chosen = Vec::new();
            let mut read = Vec::new();
            // Counts the blocks that stay where they are: a new block must not reach over one of them.
            let mut passed = 0;
            for (first, block) in stream.blocks.clone() {
                if !volumes.contains(&block.volume) {
                    passed += 1;
                    continue;
                }
                chosen.push(first);
                match shelf.block(self.library.dir(), *id, first, &block) {
                    Some(block) => read.push((passed, block)),
                    None => {
                        let ranges = stream.lose_block(first);
                        report(&mut self.state, &stream.name, &ranges);
                        if let Some(port) = self.ports.get(id) {
                            port.damaged.send(Damaged { ranges, bytes: block.bytes as u64 });
                        }
                    }
                }
            }
            let first = stream.first;
            let mut damaged = Vec::new();
            let mut blocks = Vec::new();
            for run in read.chunk_by(|one, next| one.0 == next.0) {
                let mut records = Vec::new();
                for (seq, record) in run.iter().flat_map(|(_, block)| block.records()) {
                    match record {
                        _ if seq < first || stream.removed.contains(seq) => {}
                        Ok(record) => records.push(record),
                        Err(_) => damaged.push(seq),
                    }
                }
                blocks.extend(block::build(*id, records.into_iter()));
            }
            let ranges = super::library::ranges(damaged.into_iter());
            if !blocks.is_empty() {
                placed.insert(*id, blocks);
            }
            chosen.into_iter().for_each(|first| stream.drop_block(first));
            if !ranges.is_empty() {
                report(&mut self.state, &stream.name, &ranges);
                ranges.iter().for_each(|range| stream.lose(range.clone(), 0));
                if let Some(port) = self.ports.get(id) {
                    port.damaged.send(Damaged { ranges, bytes: 0 });
                }
            }
        }
        shelf.close_all();
        if !placed.is_empty() {
            self.library.write_volume(model, placed)?;
        }
        self.state.merges += 1;
        Ok(())
    }
}

/// A volume smaller than this is not written again only because much of it is dead.
const BLOCK_WORTH_MERGING: u64 = 1 << 20;

fn report(state: &mut SealerState, name: &str, ranges: &[RangeInclusive<u64>]) {
    for range in ranges {
        state.damaged += range.end() - range.start() + 1;
        tracing::error!(
            "stream {name}: messages {} to {} are damaged in their volume (checksum mismatch) and lost",
            range.start(),
            range.end()
        );
    }
}

impl Act for Sealer {
    const KIND: &'static str = "sealer";
    type State = SealerState;

    fn name(&self) -> String {
        "volumes".into()
    }

    fn observe(&self) -> SealerState {
        let mut state = self.state.clone();
        let model = &self.library.model;
        state.volumes = volumes_of(model).len();
        state.blocks = model.streams.values().map(|stream| stream.blocks.len()).sum();
        state.streams = model.streams.len();
        state.position = model.position;
        state
    }

    fn panicked(&mut self, _: &str) -> AfterPanic {
        AfterPanic::Continue
    }
}

impl Receive<Seal> for Sealer {
    fn receive(&mut self, seal: Seal, _: &mut Ctx<Self>) {
        let begun = Instant::now();
        // The committer waits for an answer, whatever happens: sled may panic.
        let sealed = catch_unwind(AssertUnwindSafe(|| self.seal(&seal)));
        let error = match sealed {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("sealing panicked".to_string()),
        };
        self.state.seals += 1;
        self.state.last_seal_ms = begun.elapsed().as_millis() as u64;
        if let Some(error) = &error {
            self.state.failures += 1;
            if self.state.last_error.as_ref() != Some(error) {
                tracing::error!("store: the journal cannot be moved into a volume: {error}");
            }
        }
        self.state.last_error = error.clone();
        seal.done.send(SealDone { position: self.library.model.position, error });
    }
}

impl Receive<Shelved> for Sealer {
    /// Nobody opens volumes any more that are not named.
    fn receive(&mut self, _: Shelved, _: &mut Ctx<Self>) {
        self.library.remove_unused();
    }
}

impl Receive<Register> for Sealer {
    fn receive(&mut self, register: Register, _: &mut Ctx<Self>) {
        self.ports.insert(register.stream.0, register);
    }
}

impl Receive<Reread> for Sealer {
    fn receive(&mut self, reread: Reread, _: &mut Ctx<Self>) {
        let mut replay = match self.replay(&reread.ring, reread.upto) {
            Ok(replay) => replay,
            Err(error) => {
                tracing::error!("journal: cannot be read: {error}");
                match reread.wanted {
                    Wanted::Stream(recover) => recover.done.send(Recovered(Err(error.to_string()))),
                    Wanted::Messages(Leftover { fetched, to, .. }) => to.send(fetched),
                }
                return;
            }
        };
        match reread.wanted {
            Wanted::Stream(recover) => {
                let id = recover.stream.0;
                let fresh = replay.fresh.remove(&id).unwrap_or_default();
                let stream = replay.model.streams.remove(&id).map(|model| {
                    let (stream, lost) = recover_stream(&self.library, &mut Shelf::default(), id, model, &fresh);
                    self.damaged.extend(lost);
                    Box::new(stream)
                });
                recover.done.send(Recovered(Ok(stream)));
            }
            Wanted::Messages(Leftover { stream, mut fetched, to }) => {
                let fresh = replay.fresh.remove(&stream.0).unwrap_or_default();
                for message in &mut fetched.messages {
                    if let Err(missing) = message
                        && let Some(found) = fresh.get(missing.seq).and_then(|entry| stored_message(missing.seq, entry))
                    {
                        *message = Ok(found);
                    }
                }
                to.send(fetched);
            }
        }
    }
}

impl Receive<FoundDamaged> for Sealer {
    fn receive(&mut self, found: FoundDamaged, _: &mut Ctx<Self>) {
        self.state.damaged += found.ranges.iter().map(|range| range.end() - range.start() + 1).sum::<u64>();
        self.damaged.push(found);
    }
}

impl Receive<Stop> for Sealer {
    fn receive(&mut self, stop: Stop, ctx: &mut Ctx<Self>) {
        self.archive.send(stop);
        ctx.stop();
        Arbiter::current().stop();
    }
}
