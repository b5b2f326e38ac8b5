//! What messages say about their own lives: `Nats-TTL`, and whether they are delete markers (streams reference 3.7).

use super::publish_headers::PublishHeaders;
use super::ttl::Ttl;
use std::collections::{BTreeMap, BTreeSet};

const SECOND: i64 = 1_000_000_000;

/// What one message says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Life {
    pub ttl: Option<Ttl>,
    /// It tells of a deletion: when it expires, no marker takes its place.
    pub is_marker: bool,
}

impl Life {
    /// `has_ttls`: whether the stream allows them.
    pub fn of(headers: &PublishHeaders<'_>, has_ttls: bool) -> Self {
        let is_marker = headers.marker_reason.is_some() || headers.kv_operation == Some(b"PURGE");
        Self { ttl: headers.ttl.filter(|_| has_ttls).and_then(Ttl::parse), is_marker }
    }

    fn is_ordinary(self) -> bool {
        self == Self::default()
    }

    /// When it ends by its own word, in nanoseconds since 1970.
    pub fn end(self, stored: i64) -> Option<i64> {
        match self.ttl? {
            Ttl::Never => None,
            Ttl::Seconds(seconds) => Some(stored.saturating_add(seconds.saturating_mul(SECOND))),
        }
    }
}

/// The lives of those messages that are not ordinary. A message is kept here until its removal is durable, so that it
/// can be put back; what is no longer in the stream is passed over.
#[derive(Debug, Default)]
pub struct Lifetimes {
    lives: BTreeMap<u64, (Life, Option<i64>)>,
    ends: BTreeSet<(i64, u64)>,
    /// Up to here no message ends by age: those still there never do.
    ageless_upto: u64,
}

impl Lifetimes {
    pub fn add(&mut self, seq: u64, life: Life, stored: i64) {
        if life.is_ordinary() {
            return;
        }
        let end = life.end(stored);
        self.lives.insert(seq, (life, end));
        self.ends.extend(end.map(|end| (end, seq)));
    }

    pub fn get(&self, seq: u64) -> Life {
        self.lives.get(&seq).map_or_else(Life::default, |(life, _)| *life)
    }

    /// Messages with a life of their own.
    pub fn count(&self) -> usize {
        self.lives.len()
    }

    /// The first end of all, among messages that are there.
    pub fn first_end(&self, mut is_there: impl FnMut(u64) -> bool) -> Option<(i64, u64)> {
        self.ends.iter().copied().find(|(_, seq)| is_there(*seq))
    }

    /// The first message that `max_age` concerns: `next` finds the message at or after a sequence.
    pub fn first_aging<T>(&mut self, mut next: impl FnMut(u64) -> Option<(u64, T)>) -> Option<(u64, T)> {
        loop {
            let (seq, found) = next(self.ageless_upto + 1)?;
            if self.get(seq).ttl != Some(Ttl::Never) {
                return Some((seq, found));
            }
            self.ageless_upto = seq;
        }
    }

    /// The message is gone for good.
    pub fn forget(&mut self, seq: u64) {
        if let Some((_, Some(end))) = self.lives.remove(&seq) {
            self.ends.remove(&(end, seq));
        }
    }

    /// All messages up to here are gone for good.
    pub fn forget_up_to(&mut self, last: u64) {
        self.lives = self.lives.split_off(&(last + 1));
        self.ends.retain(|(_, seq)| *seq > last);
    }

    /// Messages after `last` were never stored, and removals of others have been taken back.
    pub fn take_back(&mut self, last: u64) {
        self.lives.split_off(&(last + 1));
        self.ends.retain(|(_, seq)| *seq <= last);
        self.ageless_upto = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: Life = Life { ttl: Some(Ttl::Never), is_marker: false };

    fn seconds(seconds: i64) -> Life {
        Life { ttl: Some(Ttl::Seconds(seconds)), is_marker: false }
    }

    #[test]
    fn the_first_end_is_of_a_message_that_is_there() {
        let mut lives = Lifetimes::default();
        lives.add(1, seconds(5), 0);
        lives.add(2, seconds(1), 0);
        lives.add(3, NEVER, 0);
        lives.add(4, Life::default(), 0);
        assert_eq!((lives.count(), lives.first_end(|_| true)), (3, Some((SECOND, 2))));
        assert_eq!(lives.first_end(|seq| seq != 2), Some((5 * SECOND, 1)));
        lives.forget(2);
        lives.forget_up_to(1);
        assert_eq!((lives.first_end(|_| true), lives.get(3)), (None, NEVER));
    }

    #[test]
    fn age_passes_over_what_never_ends() {
        let mut lives = Lifetimes::default();
        lives.add(1, NEVER, 0);
        lives.add(3, NEVER, 0);
        let held = |from: u64| (1..=4).find(|seq| *seq >= from).map(|seq| (seq, ()));
        assert_eq!(lives.first_aging(held), Some((2, ())));
        lives.take_back(2);
        assert_eq!(lives.first_aging(|from| (3..=3).find(|seq| *seq >= from).map(|seq| (seq, ()))), Some((3, ())));
    }
}
