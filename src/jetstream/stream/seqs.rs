//! The sequences of one subject.

use std::collections::VecDeque;

/// Sequences in ascending order. Most subjects of a bucket hold one message: that needs no memory of its own.
#[derive(Debug, Default)]
pub enum Seqs {
    #[default]
    None,
    One(u64),
    Many(Box<VecDeque<u64>>),
}

impl Seqs {
    pub fn len(&self) -> u64 {
        match self {
            Self::None => 0,
            Self::One(_) => 1,
            Self::Many(seqs) => seqs.len() as u64,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn first(&self) -> Option<u64> {
        self.at(0)
    }

    pub fn last(&self) -> Option<u64> {
        self.at(self.len().checked_sub(1)?)
    }

    /// The sequence at a position from the front.
    pub fn at(&self, position: u64) -> Option<u64> {
        match self {
            Self::None => None,
            Self::One(seq) => (position == 0).then_some(*seq),
            Self::Many(seqs) => seqs.get(usize::try_from(position).ok()?).copied(),
        }
    }

    /// How many are below a sequence: the position of the first at or after it.
    pub fn rank(&self, seq: u64) -> u64 {
        match self {
            Self::None => 0,
            Self::One(only) => u64::from(*only < seq),
            Self::Many(seqs) => seqs.partition_point(|known| *known < seq) as u64,
        }
    }

    pub fn count_from(&self, seq: u64) -> u64 {
        self.len() - self.rank(seq)
    }

    /// The first at or after a sequence.
    pub fn next(&self, from: u64) -> Option<u64> {
        self.at(self.rank(from))
    }

    /// The last at or before a sequence.
    pub fn previous(&self, upto: u64) -> Option<u64> {
        let end = upto.checked_add(1).map_or(self.len(), |end| self.rank(end));
        self.at(end.checked_sub(1)?)
    }

    pub fn insert(&mut self, seq: u64) {
        match self {
            Self::None => *self = Self::One(seq),
            Self::One(only) if *only == seq => {}
            Self::One(only) => {
                let pair = [seq.min(*only), seq.max(*only)];
                *self = Self::Many(Box::new(VecDeque::from(pair)));
            }
            Self::Many(seqs) if seqs.back().is_some_and(|last| *last < seq) => seqs.push_back(seq),
            Self::Many(seqs) => {
                if let Err(at) = seqs.binary_search(&seq) {
                    seqs.insert(at, seq);
                }
            }
        }
    }

    pub fn remove(&mut self, seq: u64) {
        match self {
            Self::One(only) if *only == seq => *self = Self::None,
            Self::None | Self::One(_) => {}
            Self::Many(seqs) => {
                match seqs.front() == Some(&seq) {
                    true => drop(seqs.pop_front()),
                    false => drop(seqs.binary_search(&seq).map(|at| seqs.remove(at))),
                }
                self.shrink();
            }
        }
    }

    fn shrink(&mut self) {
        let Self::Many(seqs) = self else { return };
        if seqs.len() <= 1 {
            *self = seqs.front().map_or(Self::None, |only| Self::One(*only));
        } else if seqs.capacity() > 64 && seqs.len() < seqs.capacity() / 4 {
            seqs.shrink_to(seqs.len() * 2);
        }
    }
}
