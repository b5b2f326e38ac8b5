//! Finding messages by subject.

use super::contents::Contents;
use super::subjects::{Slot, SubjectId};
use crate::subject::{Filter, matches};
use std::ops::ControlFlow;

/// So many matching subjects are merged; more are found by looking at messages one by one.
pub const FEW: usize = 64;

/// Messages looked at one by one before all matching subjects are asked instead.
const GLANCE: usize = 4096;

/// A part of what matches a filter.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Ascending.
    pub seqs: Vec<u64>,
    /// Everything before has been looked at.
    pub next: u64,
}

/// How much a page may hold.
#[derive(Clone, Copy, Debug)]
pub struct PageLimit {
    /// The last sequence to look at.
    pub upto: u64,
    pub messages: usize,
    /// Of accounted size. The first message is in the page, whatever its size.
    pub bytes: u64,
    /// Messages to look at, matching or not.
    pub budget: usize,
}

impl Contents {
    /// The known subjects that match a filter, if they are no more than [`FEW`].
    pub fn few_matching(&self, filter: &Filter) -> Option<Vec<SubjectId>> {
        let mut few = Vec::new();
        for pattern in filter.patterns() {
            let full = self.subjects.try_known(pattern, &mut |id, _| {
                if few.len() == FEW {
                    return ControlFlow::Break(());
                }
                if !few.contains(&id) {
                    few.push(id);
                }
                ControlFlow::Continue(())
            });
            if full.is_break() {
                return None;
            }
        }
        (!filter.is_everything()).then_some(few)
    }

    /// Visits every subject held that matches a filter, each once.
    pub fn each_matching(&self, filter: &Filter, visit: &mut impl FnMut(SubjectId, &Slot)) {
        if filter.is_everything() {
            return self.subjects.matching(b">", visit);
        }
        for (nth, pattern) in filter.patterns().enumerate() {
            self.subjects.matching(pattern, &mut |id, slot| {
                let seen = filter.patterns().take(nth).any(|earlier| matches(earlier, &slot.name));
                if !seen {
                    visit(id, slot);
                }
            });
        }
    }

    /// The first message at or after a sequence that matches.
    pub fn next_matching(&self, filter: &Filter, from: u64) -> Option<u64> {
        if filter.is_everything() {
            return self.index.next(from).map(|(seq, _)| seq);
        }
        if let Some(subject) = filter.literal() {
            return self.subjects.seqs(subject)?.next(from);
        }
        let mut looked = 0;
        for (seq, entry) in self.index.scan(from).take(GLANCE) {
            looked += 1;
            if filter.matches(&self.subjects.slot(entry.subject).name) {
                return Some(seq);
            }
        }
        if looked < GLANCE {
            return None;
        }
        let mut first: Option<u64> = None;
        self.each_matching(filter, &mut |_, slot| {
            first = first.into_iter().chain(slot.seqs.next(from)).min();
        });
        first
    }

    /// The last message at or before a sequence that matches.
    pub fn last_matching(&self, filter: &Filter, upto: u64) -> Option<u64> {
        if filter.is_everything() {
            return self.index.previous(upto).map(|(seq, _)| seq);
        }
        if let Some(subject) = filter.literal() {
            return self.subjects.seqs(subject)?.previous(upto);
        }
        let mut looked = 0;
        for (seq, entry) in self.index.scan_back(upto).take(GLANCE) {
            looked += 1;
            if filter.matches(&self.subjects.slot(entry.subject).name) {
                return Some(seq);
            }
        }
        if looked < GLANCE {
            return None;
        }
        let mut last: Option<u64> = None;
        self.each_matching(filter, &mut |_, slot| {
            last = last.max(slot.seqs.previous(upto));
        });
        last
    }

    /// How many messages from a sequence on match.
    pub fn count_matching(&self, filter: &Filter, from: u64) -> u64 {
        if filter.is_everything() {
            return if from <= self.first() { self.messages() } else { self.index.count_from(from) };
        }
        if let Some(subject) = filter.literal() {
            return self.subjects.seqs(subject).map_or(0, |seqs| seqs.count_from(from));
        }
        let mut count = 0;
        self.each_matching(filter, &mut |_, slot| count += slot.seqs.count_from(from));
        count
    }

    /// The newest message of each matching subject, at or before a sequence, ascending.
    pub fn last_of_each(&self, filter: &Filter, upto: u64) -> Vec<u64> {
        let mut seqs = Vec::new();
        self.each_matching(filter, &mut |_, slot| seqs.extend(slot.seqs.previous(upto)));
        seqs.sort_unstable();
        seqs
    }

    /// The next messages on these subjects.
    pub fn page_of(&self, subjects: &[SubjectId], from: u64, limit: PageLimit) -> Page {
        let mut heads: Vec<(u64, u64, SubjectId)> = Vec::with_capacity(subjects.len());
        for id in subjects {
            let seqs = &self.subjects.slot(*id).seqs;
            let rank = seqs.rank(from);
            heads.extend(seqs.at(rank).map(|seq| (seq, rank, *id)));
        }
        let mut page = Filling::new(from, limit);
        while let Some(least) = (0..heads.len()).min_by_key(|at| heads[*at].0) {
            let (seq, rank, id) = heads[least];
            if !page.offer(seq, self.size(seq)) {
                return page.page;
            }
            match self.subjects.slot(id).seqs.at(rank + 1) {
                Some(next) => heads[least] = (next, rank + 1, id),
                None => drop(heads.swap_remove(least)),
            }
        }
        page.finish()
    }

    /// The next messages of which `wanted` says so by their subject.
    pub fn page_where(&self, mut wanted: impl FnMut(SubjectId) -> bool, from: u64, limit: PageLimit) -> Page {
        let mut page = Filling::new(from, limit);
        for (looked, (seq, entry)) in self.index.scan(from).enumerate() {
            if seq > limit.upto {
                break;
            }
            if looked == limit.budget {
                page.page.next = seq;
                return page.page;
            }
            if wanted(entry.subject) && !page.offer(seq, u64::from(entry.size)) {
                return page.page;
            }
        }
        page.finish()
    }

    fn size(&self, seq: u64) -> u64 {
        self.index.get(seq).map_or(0, |entry| u64::from(entry.size))
    }
}

struct Filling {
    page: Page,
    limit: PageLimit,
    bytes: u64,
}

impl Filling {
    fn new(from: u64, limit: PageLimit) -> Self {
        Self { page: Page { seqs: Vec::new(), next: from }, limit, bytes: 0 }
    }

    /// Takes the next match, or leaves it for the next page.
    fn offer(&mut self, seq: u64, size: u64) -> bool {
        let full = self.page.seqs.len() >= self.limit.messages || self.bytes.saturating_add(size) > self.limit.bytes;
        if seq > self.limit.upto {
            self.page.next = self.page.next.max(self.limit.upto + 1);
            return false;
        }
        if full && !self.page.seqs.is_empty() {
            self.page.next = seq;
            return false;
        }
        self.bytes += size;
        self.page.seqs.push(seq);
        self.page.next = seq + 1;
        true
    }

    /// There was nothing more up to the limit.
    fn finish(mut self) -> Page {
        self.page.next = self.page.next.max(self.limit.upto.saturating_add(1));
        self.page
    }
}
