use super::matchset::MatchSet;
use crate::subject::tokens;
use ahash::RandomState;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::rc::Rc;

/// Subjects remembered per account: 10 MB where they are all different. Beyond it all are forgotten, so a working set
/// just above it is dear.
const CAPACITY: usize = 65_536;
/// Counters of changes, by hash of the first tokens of a pattern.
const GROUNDS: usize = 1024;
/// Hashes of subjects that were seen once. With fewer places than subjects in use, one drives out the other before it is
/// seen again; the memory is untouched, so free, until there are subjects.
const SEEN: usize = 32_768;

/// Who gets what is published on a subject, remembered.
///
/// A change of a literal subscription touches one entry. A change of a pattern makes stale only entries that share its
/// first two tokens (its first, if it has a wildcard in second place; all, if it begins with one), by raising a counter:
/// entries remember the sum of the counters that concern them, and counters only grow. A subject is remembered when it is
/// asked for the second time, so that reply subjects, each used once, do not push out those that repeat.
pub(super) struct MatchCache {
    entries: HashMap<Subject, Entry, RandomState>,
    grounds: Box<[u32]>,
    everywhere: u32,
    seen: Box<[u32]>,
    hasher: RandomState,
    pub(super) hits: u64,
    pub(super) misses: u64,
}

/// Most subjects lie in the table itself: one wait for memory less at each look-up.
type Subject = SmallVec<[u8; 32]>;

struct Entry {
    set: Rc<MatchSet>,
    /// The sum of the counters below when it was made.
    sum: u32,
    first: u16,
    second: u16,
}

impl MatchCache {
    pub(super) fn new() -> Self {
        let hasher = RandomState::new();
        Self {
            entries: HashMap::with_hasher(hasher.clone()),
            grounds: vec![0; GROUNDS].into(),
            everywhere: 0,
            seen: vec![0; SEEN].into(),
            hasher,
            hits: 0,
            misses: 0,
        }
    }

    /// What is remembered of a subject, or else found by `find`.
    pub(super) fn get(&mut self, subject: &[u8], find: impl FnOnce() -> MatchSet) -> Rc<MatchSet> {
        if let Some(entry) = self.entries.get(subject)
            && entry.sum == self.sum(entry.first, entry.second)
        {
            self.hits += 1;
            return entry.set.clone();
        }
        self.misses += 1;
        let set = Rc::new(find());
        let hash = self.hasher.hash_one(subject) as u32 | 1;
        let seen = &mut self.seen[hash as usize / 2 % SEEN];
        if *seen != hash {
            *seen = hash;
            return set;
        }
        if self.entries.len() >= CAPACITY {
            self.entries.clear();
        }
        let (first, second) = self.grounds_of(subject);
        let entry = Entry { set: set.clone(), sum: self.sum(first, second), first, second };
        self.entries.insert(subject.into(), entry);
        set
    }

    /// Somebody subscribed to `pattern`, or no longer does.
    pub(super) fn changed(&mut self, pattern: &[u8], literal: bool) {
        if literal {
            self.entries.remove(pattern);
            return;
        }
        let mut tokens = tokens(pattern);
        let wild = |token: &[u8]| token == b"*" || token == b">";
        let (first, second) = (tokens.next(), tokens.next());
        let counter = match (first, second) {
            (Some(first), _) if wild(first) => &mut self.everywhere,
            (Some(_), Some(second)) if !wild(second) => {
                let (_, ground) = self.grounds_of(pattern);
                &mut self.grounds[usize::from(ground)]
            }
            _ => {
                let (ground, _) = self.grounds_of(pattern);
                &mut self.grounds[usize::from(ground)]
            }
        };
        *counter = counter.wrapping_add(1);
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The counters that concern a subject: that of its first token, and that of its first two.
    fn grounds_of(&self, subject: &[u8]) -> (u16, u16) {
        let one = memchr::memchr(b'.', subject).unwrap_or(subject.len());
        let two = subject
            .get(one + 1..)
            .map_or(subject.len(), |rest| one + 1 + memchr::memchr(b'.', rest).unwrap_or(rest.len()));
        let ground = |part: &[u8]| (self.hasher.hash_one(part) % GROUNDS as u64) as u16;
        (ground(&subject[..one]), ground(&subject[..two]))
    }

    fn sum(&self, first: u16, second: u16) -> u32 {
        // A subject of one token has one counter twice; what counts is that the sum changes.
        let (one, two) = (self.grounds[usize::from(first)], self.grounds[usize::from(second)]);
        self.everywhere.wrapping_add(one).wrapping_add(two)
    }
}
