use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// So many dead entries are kept before the living are sorted out.
const SLACK: usize = 1024;

/// When messages are due again. Most deadlines come in ascending order, because most waits are equally long: those are
/// a queue; the others are a heap. Acknowledged messages are left in and recognized when their time comes, or when they
/// are many.
#[derive(Debug, Default)]
pub struct Deadlines {
    queue: VecDeque<(i64, u64)>,
    odd: BinaryHeap<Reverse<(i64, u64)>>,
}

impl Deadlines {
    /// Message `seq` is due at `due`. A deadline it had before stays in, dead.
    pub fn set(&mut self, seq: u64, due: i64) {
        match self.queue.back() {
            Some(&(last, _)) if due < last => self.odd.push(Reverse((due, seq))),
            _ => self.queue.push_back((due, seq)),
        }
    }

    /// The earliest deadline. `current` tells when a message is due, if at all; what it does not confirm is dropped.
    pub fn earliest(&mut self, current: impl Fn(u64) -> Option<i64>) -> Option<i64> {
        while self.queue.front().is_some_and(|&(due, seq)| current(seq) != Some(due)) {
            self.queue.pop_front();
        }
        while self.odd.peek().is_some_and(|Reverse((due, seq))| current(*seq) != Some(*due)) {
            self.odd.pop();
        }
        let (queued, odd) = (self.queue.front().map(|e| e.0), self.odd.peek().map(|Reverse(e)| e.0));
        queued.into_iter().chain(odd).min()
    }

    /// Takes what is due by `now`, in ascending order of sequence.
    pub fn take_due(&mut self, now: i64, current: impl Fn(u64) -> Option<i64>) -> Vec<u64> {
        let mut due = Vec::new();
        while let Some(&(at, seq)) = self.queue.front().filter(|entry| entry.0 <= now) {
            self.queue.pop_front();
            due.extend((current(seq) == Some(at)).then_some(seq));
        }
        while self.odd.peek().is_some_and(|Reverse((at, _))| *at <= now) {
            if let Some(Reverse((at, seq))) = self.odd.pop() {
                due.extend((current(seq) == Some(at)).then_some(seq));
            }
        }
        due.sort_unstable();
        due.dedup();
        due
    }

    /// Sorts out the dead when they outnumber the living.
    pub fn tidy(&mut self, living: usize, current: impl Fn(u64) -> Option<i64>) {
        if self.queue.len() + self.odd.len() > 2 * living + SLACK {
            self.queue.retain(|&(due, seq)| current(seq) == Some(due));
            self.odd.retain(|&Reverse((due, seq))| current(seq) == Some(due));
        }
    }

    pub fn clear(&mut self) {
        self.queue.clear();
        self.odd.clear();
    }
}
