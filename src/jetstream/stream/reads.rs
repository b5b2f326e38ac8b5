//! Reading messages: from memory where they are hot, else from the disk, and then going on.

use super::actor::{Later, Stream};
use super::batch::Effect;
use super::consumers::Matching;
use super::lookup::{Page, PageLimit};
use crate::jetstream::api::direct_get::DirectGet;
use crate::jetstream::api::msg_get::MessageAsked;
use crate::jetstream::messages::{Count, Counted, Read, ReadThese, Records};
use crate::protocol::StoredMessage;
use crate::store::{ConsumerId, Fetched, Lookup, MAX_FETCH, Missing};
use crate::subject::Filter;
use ahash::AHashMap;

/// Messages looked at for one read.
const BUDGET: usize = 65_536;

/// Reads that wait for the disk.
#[derive(Default)]
pub struct Reads {
    next_ticket: u64,
    waiting: AHashMap<u64, Waiting>,
}

struct Waiting {
    /// In the order asked for; what is still to come is `None`.
    found: Vec<Option<StoredMessage>>,
    then: Then,
}

/// What is done with messages once they are here. Those that cannot be had are left out.
pub(in crate::jetstream) enum Then {
    Records { consumer: ConsumerId, ticket: u64, next: u64 },
    Answer(Box<MessageAsked>),
    Direct(Box<DirectGet>),
}

impl Reads {
    pub fn underway(&self) -> usize {
        self.waiting.len()
    }
}

impl Stream {
    /// Gets messages, at most [`MAX_FETCH`], and goes on with them: at once if all are hot.
    pub(in crate::jetstream) fn gather(&mut self, seqs: Vec<u64>, then: Then) {
        debug_assert!(seqs.len() <= MAX_FETCH);
        let mut missing = Vec::new();
        let mut found = Vec::with_capacity(seqs.len());
        for seq in seqs.into_iter().filter(|seq| self.contents.index.contains(*seq)) {
            match self.store.get(seq) {
                Lookup::Here(message) => found.push(Some(message)),
                Lookup::Elsewhere => {
                    missing.push(seq);
                    found.push(None);
                }
            }
        }
        if missing.is_empty() {
            return self.gathered(found.into_iter().flatten().collect(), then);
        }
        self.reads.next_ticket += 1;
        let ticket = self.reads.next_ticket;
        self.reads.waiting.insert(ticket, Waiting { found, then });
        self.store.fetch(ticket, missing);
    }

    pub(super) fn fetched(&mut self, fetched: Fetched) {
        let Some(Waiting { mut found, then }) = self.reads.waiting.remove(&fetched.ticket) else { return };
        let mut came = fetched.messages.into_iter();
        for gap in found.iter_mut().filter(|gap| gap.is_none()) {
            match came.next() {
                // It may have been removed meanwhile.
                Some(Ok(message)) if self.contents.index.contains(message.seq) => *gap = Some(message),
                Some(Err(Missing { seq, damaged: true })) => self.lose(seq),
                _ => {}
            }
        }
        self.gathered(found.into_iter().flatten().collect(), then);
    }

    fn gathered(&mut self, messages: Vec<StoredMessage>, then: Then) {
        match then {
            Then::Records { consumer, ticket, next } => {
                if let Some(member) = self.consumers.get(consumer) {
                    member.port.records.send(Records { ticket, messages, next });
                }
            }
            Then::Answer(asked) => self.answer_message(*asked, messages.into_iter().next()),
            Then::Direct(get) => self.got_directly(*get, messages),
        }
    }

    // ---- for consumers

    pub(super) fn read(&mut self, read: Read) {
        let limit = PageLimit {
            upto: self.pipeline.durable_last,
            messages: read.max_messages.clamp(1, MAX_FETCH),
            bytes: read.max_bytes as u64,
            budget: BUDGET,
        };
        let Some(page) = self.page(read.consumer, read.from, limit) else { return };
        let then = Then::Records { consumer: read.consumer, ticket: read.ticket, next: page.next };
        self.gather(page.seqs, then);
    }

    pub(super) fn read_these(&mut self, read: ReadThese) {
        let ReadThese { consumer, ticket, mut seqs } = read;
        seqs.truncate(MAX_FETCH);
        let next = seqs.last().map_or(0, |last| last + 1);
        self.gather(seqs, Then::Records { consumer, ticket, next });
    }

    /// The next sequences that match a consumer's filter; `None` if there is no such consumer.
    fn page(&mut self, consumer: ConsumerId, from: u64, limit: PageLimit) -> Option<Page> {
        let member = self.consumers.get_mut(consumer)?;
        if member.filter.is_everything() {
            return Some(self.contents.page_where(|_| true, from, limit));
        }
        if matches!(member.matching, Matching::Unknown) {
            member.matching = match self.contents.few_matching(&member.filter) {
                Some(few) => Matching::Few(few),
                None => Matching::Many,
            };
        }
        if let Matching::Few(few) = &member.matching {
            return Some(self.contents.page_of(few, from, limit));
        }
        Some(self.page_of_many(consumer, from, limit))
    }

    /// Looks at messages one by one; whether an audience has the consumer in it is found out once.
    fn page_of_many(&mut self, consumer: ConsumerId, from: u64, limit: PageLimit) -> Page {
        // Audiences of these subjects are found out first: the walk itself only reads.
        let subjects: Vec<_> = {
            let scan = self.contents.index.scan(from).take(limit.budget);
            scan.take_while(|(seq, _)| *seq <= limit.upto).map(|(_, entry)| entry.subject).collect()
        };
        let mut verdicts: AHashMap<u32, bool> = AHashMap::new();
        let audiences = &mut self.consumers.audiences;
        for subject in subjects {
            let number = audiences.number(self.contents.subjects.slot_mut(subject));
            verdicts.entry(number).or_insert_with(|| audiences.set(number).binary_search(&consumer).is_ok());
        }
        let subjects = &self.contents.subjects;
        let wanted = |id| verdicts.get(&subjects.slot(id).audience).copied().unwrap_or(false);
        self.contents.page_where(wanted, from, limit)
    }

    pub(super) fn count(&mut self, count: Count) {
        if let Some(effects) = self.unclear() {
            effects.push(Effect::Later(Box::new(Later::Count(count))));
            return;
        }
        let Some(member) = self.consumers.get(count.consumer) else { return };
        let pending = self.durable_count(&member.filter, count.from);
        let counted = Counted { ticket: count.ticket, pending, upto: self.pipeline.durable_last };
        member.port.counted.send(counted);
    }

    /// The effects of the commit that must be durable before what is durable can be counted; `None` if it can be.
    pub(super) fn unclear(&mut self) -> Option<&mut Vec<Effect>> {
        if !self.contents.changes().is_of(&self.contents) {
            return Some(&mut self.pipeline.open.effects);
        }
        let contents = &self.contents;
        let wiped = self.pipeline.flying.iter_mut().rev().find(|flying| !flying.changes.is_of(contents));
        wiped.map(|flying| &mut flying.batch.effects)
    }

    /// How many durable messages match from a sequence on: what is held now, less what is not durable yet, and what
    /// is gone but not durably. News of both reach the consumers later, and keep the count right.
    pub(super) fn durable_count(&self, filter: &Filter, from: u64) -> u64 {
        let held = self.contents.count_matching(filter, from);
        if !self.is_ahead() {
            return held;
        }
        let durable = self.pipeline.durable_last;
        let fresh = self.contents.count_matching(filter, from.max(durable + 1));
        let flying = self.pipeline.flying.iter().map(|flying| &flying.changes);
        let gone = flying.chain([self.contents.changes()]).flat_map(|changes| &changes.removed);
        let gone = gone.filter(|removed| removed.seq >= from && removed.seq <= durable);
        let gone = gone.filter(|removed| filter.matches(&self.contents.subjects.slot(removed.entry.subject).name));
        held - fresh + gone.count() as u64
    }

    /// Works out what the commits under way mean to a consumer that is new, or has a new filter.
    pub(super) fn catch_up(&mut self, consumer: ConsumerId, filter: &Filter) {
        let contents = &self.contents;
        let matches = |subject| filter.matches(&contents.subjects.slot(subject).name);
        let mut bounds: Vec<(u64, u64)> =
            self.pipeline.flying.iter().map(|flying| (flying.changes.before().last + 1, flying.after.last)).collect();
        bounds.push((contents.changes().before().last + 1, contents.last()));
        let flying = self.pipeline.flying.iter().map(|flying| &flying.changes);
        let removed: Vec<_> = flying.chain([contents.changes()]).flat_map(|changes| changes.removed.iter()).collect();
        let matching: Vec<u64> = bounds
            .into_iter()
            .map(|(first, last)| {
                let held = contents.index.scan(first).take_while(|(seq, _)| *seq <= last);
                let held = held.filter(|(_, entry)| matches(entry.subject)).count();
                let gone = removed.iter().filter(|removed| (first..=last).contains(&removed.seq));
                (held + gone.filter(|removed| matches(removed.entry.subject)).count()) as u64
            })
            .collect();
        let gone: Vec<Vec<u64>> = self
            .pipeline
            .flying
            .iter()
            .map(|flying| {
                let gone =
                    flying.changes.removed.iter().filter(|removed| removed.cause == super::contents::Cause::Gone);
                gone.filter(|removed| matches(removed.entry.subject)).map(|removed| removed.seq).collect()
            })
            .collect();
        let batches = self.pipeline.flying.iter_mut().map(|flying| &mut flying.batch);
        let batches = batches.chain([&mut self.pipeline.open]);
        let mut gone = gone.into_iter();
        for (batch, matching) in batches.zip(matching) {
            let news = batch.news.entry(consumer).or_default();
            news.matching = matching;
            news.removed = gone.next().unwrap_or_default();
        }
    }
}
