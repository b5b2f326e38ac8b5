//! Which consumers a subject concerns: found out once for each subject, and shared by all that have the same answer.

use super::subjects::{Slot, UNKNOWN_AUDIENCE};
use crate::store::ConsumerId;
use crate::subject::{Filter, SubjectIndex};
use std::collections::HashMap;
use std::sync::Arc;

/// The sets of consumers that subjects of a stream have, numbered.
///
/// Whenever a consumer comes, goes or changes its filter, all is forgotten and found out anew as subjects are met.
#[derive(Debug, Default)]
pub struct Audiences {
    /// Consumers by the patterns of their filters.
    patterns: SubjectIndex<ConsumerId>,
    sets: Vec<Arc<[ConsumerId]>>,
    numbers: HashMap<Arc<[ConsumerId]>, u32, ahash::RandomState>,
    /// Numbers of sets begin here; what a slot holds from before is out of date.
    base: u32,
    members: usize,
}

impl Audiences {
    /// Nobody listens to this stream at all.
    pub fn is_empty(&self) -> bool {
        self.members == 0
    }

    pub fn add(&mut self, consumer: ConsumerId, filter: &Filter) {
        for pattern in patterns(filter) {
            self.patterns.insert(pattern, consumer);
        }
        self.members += 1;
        self.forget();
    }

    pub fn remove(&mut self, consumer: ConsumerId, filter: &Filter) {
        for pattern in patterns(filter) {
            self.patterns.remove(pattern, |known| *known == consumer);
        }
        self.members -= 1;
        self.forget();
    }

    /// The number of a subject's audience.
    pub fn number(&mut self, slot: &mut Slot) -> u32 {
        if slot.audience < self.base || slot.audience == UNKNOWN_AUDIENCE {
            slot.audience = self.find_out(&slot.name);
        }
        slot.audience
    }

    /// The consumers that a number stands for, ascending.
    pub fn set(&self, number: u32) -> &Arc<[ConsumerId]> {
        &self.sets[(number - self.base) as usize]
    }

    /// The audience of a subject that the stream need not hold.
    pub fn of(&self, subject: &[u8]) -> Vec<ConsumerId> {
        let mut found = Vec::new();
        self.patterns.find(subject, &mut |consumer| found.push(*consumer));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether anybody listens to a subject.
    pub fn has(&self, subject: &[u8]) -> bool {
        self.patterns.has_match(subject)
    }

    /// Numbers in use begin here.
    pub fn base(&self) -> u32 {
        self.base
    }

    fn find_out(&mut self, subject: &[u8]) -> u32 {
        let found: Arc<[ConsumerId]> = self.of(subject).into();
        if let Some(number) = self.numbers.get(&found) {
            return *number;
        }
        let number = self.base + self.sets.len() as u32;
        self.sets.push(found.clone());
        self.numbers.insert(found, number);
        number
    }

    fn forget(&mut self) {
        self.base += self.sets.len() as u32;
        self.sets.clear();
        self.numbers.clear();
        // Numbers would run out after four billion changes; until then an old number is always below the base.
        debug_assert!(self.base < UNKNOWN_AUDIENCE);
    }
}

fn patterns(filter: &Filter) -> Vec<&[u8]> {
    match filter.is_everything() {
        true => vec![b">"],
        false => filter.patterns().collect(),
    }
}
