use crate::protocol::StoredMessage;
use std::collections::{HashMap, VecDeque};

/// Messages read for redelivery at once.
pub const LOAD: usize = 256;

/// Messages that wait to be delivered again, first come first served, each once.
#[derive(Debug, Default)]
pub struct RedeliveryQueue {
    queue: VecDeque<(u64, u64)>,
    /// By stream sequence.
    waiting: HashMap<u64, Waiting>,
    places: u64,
}

#[derive(Debug)]
struct Waiting {
    /// Which of the queue's entries for this sequence is the valid one.
    place: u64,
    message: Option<StoredMessage>,
}

/// What stands at the head of the queue.
#[derive(Debug)]
pub enum Head {
    Empty,
    /// Its message has to be read first.
    Unread,
    Ready(StoredMessage),
}

impl RedeliveryQueue {
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn contains(&self, seq: u64) -> bool {
        self.waiting.contains_key(&seq)
    }

    /// Lines up a message, unless it waits already.
    pub fn push(&mut self, seq: u64) {
        if !self.contains(seq) {
            self.places += 1;
            self.queue.push_back((seq, self.places));
            self.waiting.insert(seq, Waiting { place: self.places, message: None });
        }
    }

    /// Puts a message before all others.
    pub fn push_front(&mut self, seq: u64) {
        self.places += 1;
        self.queue.push_front((seq, self.places));
        self.waiting.insert(seq, Waiting { place: self.places, message: None });
    }

    /// A message no longer waits. Returns whether it did.
    pub fn remove(&mut self, seq: u64) -> bool {
        let was = self.waiting.remove(&seq).is_some();
        if self.waiting.is_empty() {
            self.queue.clear();
        }
        was
    }

    /// The sequence at the head.
    pub fn first(&mut self) -> Option<u64> {
        let waiting = &self.waiting;
        let is_dead = |&(seq, place): &(u64, u64)| waiting.get(&seq).is_none_or(|w| w.place != place);
        while self.queue.front().is_some_and(is_dead) {
            self.queue.pop_front();
        }
        self.queue.front().map(|entry| entry.0)
    }

    pub fn head(&mut self) -> Head {
        let Some(seq) = self.first() else { return Head::Empty };
        match self.waiting.get(&seq).and_then(|waiting| waiting.message.clone()) {
            Some(message) => Head::Ready(message),
            None => Head::Unread,
        }
    }

    /// The next messages to read.
    pub fn unread(&self) -> Vec<u64> {
        let unread = |&&(seq, place): &&(u64, u64)| {
            self.waiting.get(&seq).is_some_and(|w| w.place == place && w.message.is_none())
        };
        self.queue.iter().filter(unread).take(LOAD).map(|entry| entry.0).collect()
    }

    /// A message was read.
    pub fn loaded(&mut self, message: StoredMessage) {
        if let Some(waiting) = self.waiting.get_mut(&message.seq) {
            waiting.message = Some(message);
        }
    }

    /// Keeps what `keep` says.
    pub fn retain(&mut self, keep: impl Fn(u64) -> bool) {
        self.waiting.retain(|&seq, _| keep(seq));
    }

    pub fn clear(&mut self) {
        self.queue.clear();
        self.waiting.clear();
    }
}
