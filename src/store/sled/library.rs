//! All volumes and the current `meta`: loading, rebuilding, and writing the next state of both.

use super::block::{self, DamagedRecord, ReadBlock};
use super::meta::{self, Pointer, generation_path, numbered, volume_path};
use super::model::{Block, Model, StreamModel};
use super::salvage::{Salvaged, salvage};
use super::vault::{self, Vault};
use crate::store::IndexEntry;
use crate::store::journal::two_slot::TwoSlot;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// What is sealed: a model, and the volumes that it names.
pub struct Library {
    dir: PathBuf,
    pub model: Model,
    generation: u64,
    pointer: TwoSlot<Pointer>,
}

/// Streams, each with its blocks to be written: tree, key, value.
type Shelves = Vec<vault::Tree>;

/// Blocks of a volume that is about to be written, by stream.
pub type Placed = BTreeMap<u64, Vec<block::NewBlock>>;

/// A message that was read for the index, or found damaged.
pub type Indexed = (u64, Result<IndexEntry, DamagedRecord>);

impl Library {
    /// Loads the newest state that can be read; removes what was being written when the process ended.
    pub fn load(dir: &Path) -> io::Result<Self> {
        for folder in ["meta", "volumes"] {
            fs::create_dir_all(dir.join(folder))?;
        }
        let had_pointer = dir.join("pointer").exists();
        let (pointer, named, damaged) = meta::open_pointer(dir)?;
        let generations = numbered(&dir.join("meta"));
        if damaged || (named.is_none() && !generations.is_empty()) {
            let how = if had_pointer { "damaged (checksum mismatch)" } else { "lost" };
            tracing::error!("store: the pointer file is {how}");
        }
        // Without a pointer the newest generation that can be read counts; with one, nothing newer does.
        let candidates: Vec<u64> = match named {
            Some(named) if !damaged => vec![named.generation],
            _ => generations.iter().rev().copied().collect(),
        };
        let highest = generations.last().copied().unwrap_or(0).max(named.map_or(0, |named| named.generation));
        let mut loaded = None;
        let mut lacking = false;
        for generation in candidates {
            match Vault::open(&generation_path(dir, generation)).and_then(|mut vault| meta::read(&mut vault)) {
                Ok((model, 0)) => {
                    loaded = Some(model);
                    break;
                }
                Ok(_) => lacking = true,
                Err(error) => {
                    lacking = true;
                    tracing::error!("store: meta generation {generation} is damaged or lost: {error}");
                }
            }
        }
        let volumes = numbered(&dir.join("volumes"));
        let model = match loaded {
            Some(model) => model,
            None if lacking || !volumes.is_empty() => rebuild(dir, &volumes),
            None => Model::default(),
        };
        let mut library = Self { dir: dir.to_path_buf(), model, generation: highest, pointer };
        library.find_missing_volumes(&volumes);
        library.clean(named.map(|named| named.generation));
        Ok(library)
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Messages of volumes that are gone are lost: says so.
    fn find_missing_volumes(&mut self, there: &[u64]) {
        let there: BTreeSet<u64> = there.iter().copied().collect();
        for stream in self.model.streams.values_mut() {
            let gone: Vec<(u64, Block)> = stream.blocks.iter().map(|(f, b)| (*f, *b)).collect();
            for (first, block) in gone.into_iter().filter(|(_, block)| !there.contains(&block.volume)) {
                let name = format!("{} > {}", stream.account, stream.name);
                tracing::error!(
                    "stream {name}: messages {first} to {} are lost: volume {} is gone",
                    block.last,
                    block.volume
                );
                stream.lose_block(first);
            }
        }
    }

    /// Removes volumes and generations that do not count.
    fn clean(&self, keep: Option<u64>) {
        let used = self.volumes();
        for volume in numbered(&self.dir.join("volumes")).into_iter().filter(|volume| !used.contains(volume)) {
            remove(&volume_path(&self.dir, volume));
        }
        for generation in numbered(&self.dir.join("meta")) {
            if keep.is_some_and(|keep| keep != generation) {
                remove(&generation_path(&self.dir, generation));
            }
        }
    }

    /// The volumes that the model names.
    pub fn volumes(&self) -> BTreeSet<u64> {
        volumes_of(&self.model)
    }

    /// Writes a volume, and enters its blocks into a model.
    pub fn write_volume(&self, model: &mut Model, placed: Placed) -> io::Result<u64> {
        let on_disk = numbered(&self.dir.join("volumes")).last().map_or(0, |last| last + 1);
        let volume = model.next_volume.max(on_disk);
        model.next_volume = volume + 1;
        let mut contents: Shelves = Vec::new();
        for (id, blocks) in placed {
            let Some(stream) = model.streams.get_mut(&id) else { continue };
            let mut values = Vec::with_capacity(blocks.len());
            for new in blocks {
                let block = Block { last: new.last, bytes: new.bytes.len() as u32, volume };
                stream.blocks.insert(new.first, block);
                for gap in new.gaps {
                    stream.removed.insert_range(gap);
                }
                values.push((new.first.to_be_bytes().to_vec(), new.bytes));
            }
            contents.push((tree_name(id), values));
        }
        contents.push(meta::contents(&catalog(model, volume))?);
        vault::write(&volume_path(&self.dir, volume), contents)?;
        Ok(volume)
    }

    /// Writes the next generation of `meta` and makes it count.
    pub fn advance(&mut self, model: Model) -> io::Result<()> {
        let generation = self.generation + 1;
        let path = generation_path(&self.dir, generation);
        meta::write(&path, &model)?;
        let pointed = self.pointer.write(&Pointer { generation }).and_then(|()| self.pointer.sync());
        if let Err(error) = pointed.and_then(|()| fs::File::open(&self.dir)?.sync_all()) {
            // It may count or not: never use its number again.
            self.generation = generation;
            return Err(error);
        }
        self.generation = generation;
        self.model = model;
        for old in numbered(&self.dir.join("meta")).into_iter().filter(|old| *old != generation) {
            remove(&generation_path(&self.dir, old));
        }
        Ok(())
    }

    /// Removes volumes that the model no longer names; nobody may have them open.
    pub fn remove_unused(&self) {
        self.clean(Some(self.generation));
    }

    /// Reads the index of a stream's sealed messages, in order of sequence.
    pub fn index(&self, shelf: &mut Shelf, id: u64, stream: &StreamModel, mut tell: impl FnMut(Indexed)) {
        for (&first, block) in &stream.blocks {
            match shelf.block(&self.dir, id, first, block) {
                Some(read) => {
                    let there = |seq: &u64| *seq >= stream.first && !stream.removed.contains(*seq);
                    read.index().into_iter().filter(|(seq, _)| there(seq)).for_each(&mut tell);
                }
                None => {
                    let seqs = first.max(stream.first)..=block.last;
                    seqs.filter(|seq| !stream.removed.contains(*seq)).for_each(|seq| tell((seq, Err(DamagedRecord))));
                }
            }
        }
    }
}

/// Opened volumes.
#[derive(Default)]
pub struct Shelf {
    open: BTreeMap<u64, Vault>,
    failed: BTreeSet<u64>,
    /// By volume, what could be saved where its database refuses to read.
    salvaged: BTreeMap<u64, Salvaged>,
    /// In the order of their use, the last one last.
    used: Vec<u64>,
}

/// Volumes open at a time: each costs some 80 file descriptors.
const OPEN_VOLUMES: usize = 3;

impl Shelf {
    /// A block, read from its volume; none if it cannot be read. It may have damaged records.
    pub fn block(&mut self, dir: &Path, stream: u64, first: u64, block: &Block) -> Option<ReadBlock> {
        let saved = self.salvaged.get(&block.volume).and_then(|saved| saved.get(&(stream, first)));
        if let Some(saved) = saved {
            return Some(saved.clone());
        }
        let read = match self.vault(dir, block.volume) {
            Some(vault) => Self::read(vault, stream, first, block),
            None => None,
        };
        if read.is_some() {
            return read;
        }
        let volume = block.volume;
        let saved = self.salvaged.entry(volume).or_insert_with(|| {
            tracing::error!("volume {volume} is damaged, saving what can be read of it");
            salvage(&volume_path(dir, volume).join(super::vault::DATABASE))
        });
        saved.get(&(stream, first)).cloned()
    }

    fn read(vault: &mut Vault, stream: u64, first: u64, block: &Block) -> Option<ReadBlock> {
        match vault.get(&tree_name(stream), &first.to_be_bytes()) {
            Ok(Some(bytes)) => ReadBlock::open(bytes).filter(|read| read.stream == stream && read.first == first),
            Ok(None) => None,
            Err(error) => {
                tracing::error!("volume {}: a block of stream number {stream} is damaged: {error}", block.volume);
                None
            }
        }
    }

    fn vault(&mut self, dir: &Path, volume: u64) -> Option<&mut Vault> {
        if self.failed.contains(&volume) {
            return None;
        }
        self.used.retain(|other| *other != volume);
        self.used.push(volume);
        if !self.open.contains_key(&volume) {
            if self.open.len() >= OPEN_VOLUMES {
                let oldest = self.used.remove(0);
                self.open.remove(&oldest);
            }
            match Vault::open(&volume_path(dir, volume)) {
                Ok(vault) => drop(self.open.insert(volume, vault)),
                Err(error) => {
                    tracing::error!("volume {volume} is damaged and cannot be opened: {error}");
                    self.failed.insert(volume);
                    return None;
                }
            }
        }
        self.open.get_mut(&volume)
    }

    pub fn close(&mut self, volume: u64) {
        self.open.remove(&volume);
        self.used.retain(|other| *other != volume);
        self.failed.remove(&volume);
        self.salvaged.remove(&volume);
    }

    /// Closes all databases; what was saved of damaged ones is kept.
    pub fn close_all(&mut self) {
        self.open.clear();
        self.used.clear();
    }

    pub fn open_volumes(&self) -> usize {
        self.open.len()
    }
}

/// The tree of a stream in a volume.
pub fn tree_name(stream: u64) -> Vec<u8> {
    [b"b", &stream.to_be_bytes()[..]].concat()
}

pub fn volumes_of(model: &Model) -> BTreeSet<u64> {
    model.streams.values().flat_map(|stream| stream.blocks.values().map(|block| block.volume)).collect()
}

/// What a volume says about itself and the streams at its time, should `meta` be lost.
fn catalog(model: &Model, volume: u64) -> Model {
    let mut catalog = model.clone();
    for stream in catalog.streams.values_mut() {
        stream.blocks.retain(|_, block| block.volume == volume);
    }
    catalog
}

/// Puts a model together from the catalogs of all volumes.
fn rebuild(dir: &Path, volumes: &[u64]) -> Model {
    tracing::error!("store: meta is damaged or lost, rebuilding it from {} volumes and the journal", volumes.len());
    let mut model = Model::default();
    let mut blocks: BTreeMap<u64, BTreeMap<u64, Block>> = BTreeMap::new();
    for volume in volumes {
        let read = Vault::open(&volume_path(dir, *volume)).and_then(|mut vault| meta::read(&mut vault));
        let (mut catalog, _) = match read {
            Ok(read) => read,
            Err(error) => {
                tracing::error!("volume {volume}: its catalog is damaged, its messages are lost: {error}");
                continue;
            }
        };
        for (id, stream) in &mut catalog.streams {
            let known = blocks.entry(*id).or_default();
            for (first, block) in std::mem::take(&mut stream.blocks) {
                // A merged volume holds what older ones held.
                known.retain(|other, b| b.last < first || *other > block.last);
                known.insert(first, block);
            }
        }
        model = catalog;
    }
    for (id, stream) in &mut model.streams {
        stream.blocks = blocks.remove(id).unwrap_or_default();
        let first = stream.first;
        stream.blocks.retain(|_, block| block.last >= first);
    }
    model
}

fn remove(dir: &Path) {
    if let Err(error) = fs::remove_dir_all(dir) {
        tracing::warn!("store: cannot remove {}: {error}", dir.display());
    }
}

/// Joins neighbouring sequences into ranges.
pub fn ranges(seqs: impl Iterator<Item = u64>) -> Vec<RangeInclusive<u64>> {
    let mut out: Vec<RangeInclusive<u64>> = Vec::new();
    for seq in seqs {
        match out.last_mut() {
            Some(last) if *last.end() + 1 == seq => *last = *last.start()..=seq,
            _ => out.push(seq..=seq),
        }
    }
    out
}
