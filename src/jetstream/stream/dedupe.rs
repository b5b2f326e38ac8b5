//! The message ids seen within the duplicate window.

use hashbrown::HashTable;
use std::collections::VecDeque;

/// Ids in the order they came, found by hash: one allocation for each (streams reference 3.9).
pub struct Dedupe {
    /// In nanoseconds; 0 turns deduplication off.
    window: i64,
    ids: VecDeque<Seen>,
    /// How many ids have left `ids` at its front: the position of an id is its place plus this.
    gone: u64,
    positions: HashTable<u64>,
    hasher: ahash::RandomState,
    /// The id of the most recent message; empty if it had none.
    last: Vec<u8>,
}

struct Seen {
    at: i64,
    seq: u64,
    id: Box<[u8]>,
}

impl Dedupe {
    pub fn new(window: i64) -> Self {
        Self {
            window,
            ids: VecDeque::new(),
            gone: 0,
            positions: HashTable::new(),
            hasher: ahash::RandomState::new(),
            last: Vec::new(),
        }
    }

    /// Ids remembered.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    pub fn set_window(&mut self, window: i64) {
        self.window = window;
    }

    /// The sequence of the message that brought this id within the window.
    pub fn seen(&mut self, id: &[u8], now: i64) -> Option<u64> {
        self.expire(now);
        let hash = self.hasher.hash_one(id);
        let position = *self.positions.find(hash, |position| *self.at(*position).id == *id)?;
        Some(self.at(position).seq)
    }

    /// Remembers a message's id; the caller has asked [`seen`](Self::seen) before.
    pub fn remember(&mut self, id: &[u8], seq: u64, at: i64) {
        self.set_last(id);
        if self.window <= 0 {
            return;
        }
        let position = self.gone + self.ids.len() as u64;
        self.ids.push_back(Seen { at, seq, id: id.into() });
        let (ids, gone, hasher) = (&self.ids, self.gone, &self.hasher);
        let hash = hasher.hash_one(id);
        self.positions.insert_unique(hash, position, |position| hasher.hash_one(&*ids[(position - gone) as usize].id));
    }

    /// The id of the most recent message.
    pub fn last(&self) -> &[u8] {
        &self.last
    }

    pub fn set_last(&mut self, id: &[u8]) {
        if self.last != id {
            self.last.clear();
            self.last.extend_from_slice(id);
        }
    }

    /// Forgets what has left the window.
    pub fn expire(&mut self, now: i64) {
        while self.ids.front().is_some_and(|seen| now.saturating_sub(seen.at) >= self.window) {
            self.forget(0);
            self.ids.pop_front();
            self.gone += 1;
        }
    }

    /// The messages after this one were not stored.
    pub fn take_back(&mut self, last: u64) {
        while self.ids.back().is_some_and(|seen| seen.seq > last) {
            self.forget(self.ids.len() - 1);
            self.ids.pop_back();
        }
    }

    fn at(&self, position: u64) -> &Seen {
        &self.ids[(position - self.gone) as usize]
    }

    fn forget(&mut self, place: usize) {
        let position = self.gone + place as u64;
        let hash = self.hasher.hash_one(&*self.ids[place].id);
        if let Ok(found) = self.positions.find_entry(hash, |known| *known == position) {
            found.remove();
        }
    }
}
