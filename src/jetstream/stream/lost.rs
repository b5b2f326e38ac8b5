//! Messages that were acknowledged once and turned out to be damaged.

use super::actor::Stream;
use super::contents::Cause;
use crate::store::Damaged;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Ranges longer than this are not taken apart: a stream with so much damage says how much, not which.
const MOST: u64 = 1_000_000;

/// What has been lost, for `state.lost` (streams reference 4.2).
#[derive(Debug, Default)]
pub struct Lost {
    seqs: BTreeSet<u64>,
    bytes: u64,
}

impl Lost {
    pub fn messages(&self) -> u64 {
        self.seqs.len() as u64
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn seqs(&self) -> impl Iterator<Item = u64> + '_ {
        self.seqs.iter().copied()
    }

    pub fn add(&mut self, ranges: &[RangeInclusive<u64>], bytes: u64) {
        let room = MOST.saturating_sub(self.messages()) as usize;
        self.seqs.extend(ranges.iter().cloned().flatten().take(room));
        self.bytes += bytes;
    }
}

impl Stream {
    /// Counts what is still here: what a read has found damaged before is counted already, and so are its bytes.
    pub(super) fn damaged(&mut self, damaged: Damaged) {
        for range in damaged.ranges {
            let here = self.contents.index.scan(*range.start()).take_while(|(seq, _)| seq <= range.end());
            for (seq, entry) in here.collect::<Vec<_>>() {
                self.lost.add(&[seq..=seq], u64::from(entry.size));
                self.remove(seq, Cause::Gone);
            }
        }
    }

    /// A message that was asked for is not what was stored.
    pub(super) fn lose(&mut self, seq: u64) {
        let Some(entry) = self.contents.index.get(seq) else { return };
        let (stream, account) = (&self.name, &self.setting.account_name);
        tracing::error!(%stream, %account, seq, "message is damaged: it is counted as lost and not served");
        self.lost.add(&[seq..=seq], u64::from(entry.size));
        self.remove(seq, Cause::Gone);
    }
}
