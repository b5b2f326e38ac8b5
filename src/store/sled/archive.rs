use super::block::ReadBlock;
use super::library::{Shelf, ranges};
use super::model::{Block, Model};
use super::sealer::{FoundDamaged, Stop};
use crate::actor::{Act, AfterPanic, Ctx, Outlet, Receive};
use crate::protocol::StoredMessage;
use crate::store::committer::Leftover;
use crate::store::{Damaged, Fetch, Fetched, MAX_FETCH, Missing};
use actix::ActorContext;
use actix_rt::Arbiter;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::task;
use std::time::{Duration, Instant};
use tokio::time::Sleep;

/// From the sealer: where all sealed messages are now. Volumes not named in it are about to be removed.
#[derive(Debug)]
pub struct Shelve {
    pub blocks: BTreeMap<u64, BTreeMap<u64, Block>>,
    pub done: Outlet<Shelved>,
}

/// The archive has closed what was not named.
#[derive(Clone, Copy, Debug)]
pub struct Shelved;

/// Who else there is: they do not exist yet when the archive starts.
#[derive(Debug)]
pub struct Introduce {
    pub sealer: Outlet<FoundDamaged>,
    pub committer: Outlet<Leftover>,
}

/// Volumes nobody has read from for so long are closed.
const CLOSE_AFTER: Duration = Duration::from_secs(10);

/// Blocks kept as read: consumers that go through a stream side by side share them.
const CACHED_BLOCKS: usize = 32;

/// Reads messages from volumes.
pub struct Archive {
    dir: PathBuf,
    blocks: BTreeMap<u64, BTreeMap<u64, Block>>,
    shelf: Shelf,
    /// Stream, first sequence, block; the last used last.
    cache: Vec<(u64, u64, ReadBlock)>,
    /// Blocks that cannot be read.
    bad: BTreeSet<(u64, u64)>,
    others: Option<Introduce>,
    last_read: Instant,
    timer: Option<Pin<Box<Sleep>>>,
    state: ArchiveState,
}

/// What the archive shows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ArchiveState {
    pub fetches: u64,
    pub messages: u64,
    /// Asked for, and not there.
    pub missing: u64,
    /// Asked for, and damaged.
    pub damaged: u64,
    /// Blocks read from volumes, and found in memory.
    pub reads: u64,
    pub hits: u64,
    pub open_volumes: usize,
}

impl Archive {
    pub fn new(dir: PathBuf, model: &Model) -> Self {
        Self {
            dir,
            blocks: model.streams.iter().map(|(id, stream)| (*id, stream.blocks.clone())).collect(),
            shelf: Shelf::default(),
            cache: Vec::new(),
            bad: BTreeSet::new(),
            others: None,
            last_read: Instant::now(),
            timer: None,
            state: ArchiveState::default(),
        }
    }

    fn message(&mut self, stream: u64, seq: u64) -> Result<StoredMessage, Missing> {
        let place = self.blocks.get(&stream).and_then(|blocks| blocks.range(..=seq).next_back());
        let Some((first, block)) = place.map(|(first, block)| (*first, *block)).filter(|(_, block)| seq <= block.last)
        else {
            return Err(Missing { seq, damaged: false });
        };
        let damaged = Missing { seq, damaged: true };
        let read = self.block(stream, first, &block).ok_or(damaged)?;
        match read.message(seq) {
            Ok(Some(message)) => Ok(message),
            Ok(None) => Err(Missing { seq, damaged: false }),
            Err(_) => Err(damaged),
        }
    }

    fn block(&mut self, stream: u64, first: u64, block: &Block) -> Option<&ReadBlock> {
        if let Some(at) = self.cache.iter().rposition(|(id, start, _)| (*id, *start) == (stream, first)) {
            self.state.hits += 1;
            let last = self.cache.len() - 1;
            self.cache[at..].rotate_left(1);
            return Some(&self.cache[last].2);
        }
        if self.bad.contains(&(stream, first)) {
            return None;
        }
        self.state.reads += 1;
        let Some(read) = self.shelf.block(&self.dir, stream, first, block) else {
            self.bad.insert((stream, first));
            return None;
        };
        if self.cache.len() >= CACHED_BLOCKS {
            self.cache.remove(0);
        }
        self.cache.push((stream, first, read));
        self.cache.last().map(|(_, _, read)| read)
    }
}

impl Act for Archive {
    const KIND: &'static str = "archive";
    type State = ArchiveState;

    fn name(&self) -> String {
        "volumes".into()
    }

    fn observe(&self) -> ArchiveState {
        ArchiveState { open_volumes: self.shelf.open_volumes(), ..self.state.clone() }
    }

    fn wake(&mut self, _: &mut Ctx<Self>, task: &mut task::Context<'_>) {
        while self.shelf.open_volumes() > 0 || !self.cache.is_empty() {
            let left = CLOSE_AFTER.saturating_sub(self.last_read.elapsed());
            if left.is_zero() {
                self.shelf.close_all();
                self.cache.clear();
                break;
            }
            let timer = self.timer.insert(Box::pin(tokio::time::sleep(left)));
            if timer.as_mut().poll(task).is_pending() {
                return;
            }
        }
        self.timer = None;
    }

    /// What it knows is on the disk; a fetch that panicked goes unanswered, the next one is served.
    fn panicked(&mut self, _: &str) -> AfterPanic {
        self.shelf = Shelf::default();
        self.cache.clear();
        AfterPanic::Continue
    }
}

impl Receive<Fetch> for Archive {
    fn receive(&mut self, fetch: Fetch, _: &mut Ctx<Self>) {
        let stream = fetch.stream.0;
        self.state.fetches += 1;
        let seqs = fetch.seqs.into_iter().take(MAX_FETCH);
        let messages: Vec<_> = seqs.map(|seq| self.message(stream, seq)).collect();
        self.last_read = Instant::now();
        let mut damaged: Vec<u64> = Vec::new();
        let mut missing_some = false;
        for message in &messages {
            match message {
                Ok(_) => self.state.messages += 1,
                Err(missing) if missing.damaged => damaged.push(missing.seq),
                Err(_) => {
                    self.state.missing += 1;
                    missing_some = true;
                }
            }
        }
        let fetched = Fetched { ticket: fetch.ticket, messages };
        match &self.others {
            // In no volume, and the stream does not have it: its removal was not committed. Then the journal has it.
            Some(others) if missing_some => {
                others.committer.send(Leftover { stream: fetch.stream, fetched, to: fetch.fetched })
            }
            _ => fetch.fetched.send(fetched),
        }
        if damaged.is_empty() {
            return;
        }
        self.state.damaged += damaged.len() as u64;
        damaged.sort_unstable();
        damaged.dedup();
        let ranges = ranges(damaged.into_iter());
        for range in &ranges {
            let (first, last) = (range.start(), range.end());
            tracing::error!(
                "stream number {stream}: messages {first} to {last} are damaged (checksum mismatch) and lost"
            );
        }
        if let Some(others) = &self.others {
            others.sealer.send(FoundDamaged { stream, ranges: ranges.clone(), bytes: 0 });
        }
        fetch.damaged.send(Damaged { ranges, bytes: 0 });
    }
}

impl Receive<Shelve> for Archive {
    fn receive(&mut self, shelve: Shelve, _: &mut Ctx<Self>) {
        let volumes = |blocks: &BTreeMap<u64, BTreeMap<u64, Block>>| -> BTreeSet<u64> {
            blocks.values().flat_map(|blocks| blocks.values().map(|block| block.volume)).collect()
        };
        let named = volumes(&shelve.blocks);
        for gone in volumes(&self.blocks).difference(&named) {
            self.shelf.close(*gone);
        }
        self.cache.clear();
        self.bad.clear();
        self.blocks = shelve.blocks;
        shelve.done.send(Shelved);
    }
}

impl Receive<Introduce> for Archive {
    fn receive(&mut self, introduce: Introduce, _: &mut Ctx<Self>) {
        self.others = Some(introduce);
    }
}

impl Receive<Stop> for Archive {
    fn receive(&mut self, stop: Stop, ctx: &mut Ctx<Self>) {
        self.shelf.close_all();
        // Said, not only dropped: a process that is just being started from this one would hold it on.
        if let Some(Err(error)) = stop.lock.map(|lock| fs2::FileExt::unlock(&lock)) {
            tracing::warn!("store: the lock of the directory cannot be released: {error}");
        }
        for done in stop.done {
            done.send(crate::store::Closed);
        }
        ctx.stop();
        Arbiter::current().stop();
    }
}
