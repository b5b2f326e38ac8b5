use crate::store::{Change, ConsumerState};
use bytes::Bytes;
use roaring::RoaringTreemap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// What the store knows of all streams at a position of the journal; a generation of `meta` holds it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// The journal from here on is not in it.
    pub position: u64,
    /// Never handed out so far.
    pub next_stream: u64,
    pub next_volume: u64,
    pub streams: BTreeMap<u64, StreamModel>,
}

/// A stream, without its messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamModel {
    pub account: String,
    pub name: String,
    pub config: Bytes,
    pub created: i64,
    /// Nothing is below.
    pub first: u64,
    pub last: u64,
    pub last_timestamp: i64,
    pub next_consumer: u64,
    pub consumers: BTreeMap<u64, ConsumerModel>,
    /// By first sequence: where sealed messages are.
    pub blocks: BTreeMap<u64, Block>,
    /// Sequences within blocks that are not there, or no longer.
    pub removed: RoaringTreemap,
    /// Acknowledged once, and damaged since. In order, without overlap.
    pub lost: Vec<RangeInclusive<u64>>,
    pub lost_bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConsumerModel {
    pub name: String,
    pub config: Bytes,
    pub created: i64,
    pub state: ConsumerState,
}

/// A run of messages in a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    pub last: u64,
    /// Bytes of the block.
    pub bytes: u32,
    pub volume: u64,
}

impl Model {
    /// Takes a change of a stream. A change of a stream that is not there changes nothing.
    pub fn apply(&mut self, stream: u64, change: Change) {
        self.next_stream = self.next_stream.max(stream + 1);
        match change {
            Change::Create { account, name, config, created } => {
                let model = self.streams.entry(stream).or_default();
                if model.created == 0 {
                    (model.first, model.next_consumer) = (1, 1);
                }
                (model.account, model.name, model.config, model.created) = (account, name, config, created.max(1));
            }
            Change::Delete => drop(self.streams.remove(&stream)),
            change => {
                if let Some(model) = self.streams.get_mut(&stream) {
                    model.apply(change);
                }
            }
        }
    }
}

impl StreamModel {
    fn apply(&mut self, change: Change) {
        match change {
            Change::Create { .. } | Change::Delete => {}
            Change::Configure { config } => self.config = config,
            Change::Remove { seqs } => {
                for seq in seqs {
                    self.remove(seq..=seq);
                }
            }
            Change::Advance { first, last, last_timestamp } => self.advance(first, last, last_timestamp),
            Change::RemoveRanges { ranges } => {
                for range in ranges.into_iter().filter(|range| !range.is_empty()) {
                    self.remove(range.start..=range.end - 1);
                }
            }
            Change::CreateConsumer { consumer, name, config, created, state } => {
                self.next_consumer = self.next_consumer.max(consumer.0 + 1);
                // The second copy of the change must not undo what came between: nothing comes between.
                self.consumers.insert(consumer.0, ConsumerModel { name, config, created, state });
            }
            Change::ConfigureConsumer { consumer, config } => {
                if let Some(model) = self.consumers.get_mut(&consumer.0) {
                    model.config = config;
                }
            }
            Change::DeleteConsumer { consumer } => drop(self.consumers.remove(&consumer.0)),
            Change::Consumed { consumer, deltas } => {
                if let Some(model) = self.consumers.get_mut(&consumer.0) {
                    deltas.iter().for_each(|delta| model.state.apply(delta));
                }
            }
            Change::SetConsumer { consumer, state } => {
                if let Some(model) = self.consumers.get_mut(&consumer.0) {
                    model.state = state;
                }
            }
        }
    }

    fn remove(&mut self, range: RangeInclusive<u64>) {
        cut_out(&mut self.lost, &range);
        // Only what lies in blocks is remembered: the rest is forgotten with the tail, and ranges may be huge.
        let from = self.block_of(*range.start()).map_or(*range.start(), |(first, _)| first);
        let mut dead = Vec::new();
        for (&first, block) in self.blocks.range(from..=*range.end()) {
            let (start, end) = (first.max(*range.start()), block.last.min(*range.end()));
            if start > end {
                continue;
            }
            self.removed.insert_range(start..=end);
            if live_in(&self.removed, first, block) == 0 {
                dead.push(first);
            }
        }
        dead.into_iter().for_each(|first| self.drop_block(first));
    }

    fn advance(&mut self, first: u64, last: u64, last_timestamp: i64) {
        self.first = self.first.max(first);
        if last >= self.last {
            self.last = last;
            self.last_timestamp = last_timestamp;
        }
        if first == 0 {
            return;
        }
        cut_out(&mut self.lost, &(0..=first - 1));
        while let Some((&start, block)) = self.blocks.first_key_value()
            && block.last < first
        {
            self.drop_block(start);
        }
        if let Some((&start, block)) = self.blocks.first_key_value()
            && start < first
        {
            self.removed.insert_range(start..=first - 1);
            if live_in(&self.removed, start, block) == 0 {
                self.drop_block(start);
            }
        }
    }

    pub fn drop_block(&mut self, first: u64) {
        if let Some(block) = self.blocks.remove(&first) {
            self.removed.remove_range(first..=block.last);
        }
    }

    /// The messages of a block are there no longer, because it cannot be read. Returns their ranges.
    pub fn lose_block(&mut self, first: u64) -> Vec<RangeInclusive<u64>> {
        let Some(block) = self.blocks.get(&first).copied() else { return Vec::new() };
        let seqs = first.max(self.first)..=block.last;
        let lost = super::library::ranges(seqs.filter(|seq| !self.removed.contains(*seq)));
        self.drop_block(first);
        let share = block.bytes as u64 / lost.len().max(1) as u64;
        lost.iter().for_each(|range| self.lose(range.clone(), share));
        lost
    }

    /// These messages of blocks are damaged: they are there no longer, and counted as lost.
    pub fn lose_sealed(&mut self, range: RangeInclusive<u64>, bytes: u64) {
        // What is lost is in no block any more.
        if self.is_lost(&range) {
            return;
        }
        self.remove(range.clone());
        self.lose(range, bytes);
    }

    /// Whether all of these are counted as lost already.
    fn is_lost(&self, range: &RangeInclusive<u64>) -> bool {
        self.lost.iter().any(|known| known.start() <= range.start() && range.end() <= known.end())
    }

    /// The block in which a sequence would lie.
    pub fn block_of(&self, seq: u64) -> Option<(u64, Block)> {
        let (&first, &block) = self.blocks.range(..=seq).next_back()?;
        (seq <= block.last).then_some((first, block))
    }

    /// Messages of a block that are still there.
    pub fn live_in(&self, first: u64, block: &Block) -> u64 {
        live_in(&self.removed, first, block)
    }

    /// A message is there no longer because it is damaged.
    pub fn lose(&mut self, range: RangeInclusive<u64>, bytes: u64) {
        if range.is_empty() || *range.end() < self.first {
            return;
        }
        if self.is_lost(&range) {
            return;
        }
        cut_out(&mut self.lost, &range);
        let at = self.lost.partition_point(|other| other.start() < range.start());
        self.lost.insert(at, range);
        self.lost_bytes += bytes;
    }
}

fn live_in(removed: &RoaringTreemap, first: u64, block: &Block) -> u64 {
    let before = if first == 0 { 0 } else { removed.rank(first - 1) };
    (block.last - first + 1) - (removed.rank(block.last) - before)
}

/// Takes a range out of a list of ranges in order.
pub fn cut_out(ranges: &mut Vec<RangeInclusive<u64>>, gone: &RangeInclusive<u64>) {
    if !ranges.iter().any(|range| range.start() <= gone.end() && gone.start() <= range.end()) {
        return;
    }
    let mut left = Vec::with_capacity(ranges.len() + 1);
    for range in ranges.drain(..) {
        let (start, end) = range.into_inner();
        if end < *gone.start() || start > *gone.end() {
            left.push(start..=end);
            continue;
        }
        if start < *gone.start() {
            left.push(start..=gone.start() - 1);
        }
        if end > *gone.end() {
            left.push(gone.end() + 1..=end);
        }
    }
    *ranges = left;
}
