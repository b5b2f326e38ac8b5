use crate::protocol::StoredMessage;
use std::collections::VecDeque;

/// Messages asked for at once.
pub const MAX_MESSAGES: usize = 512;

/// Bytes asked for at once.
pub const MAX_BYTES: usize = 1 << 20;

/// What has been read of the stream and not yet been delivered for the first time, and where to read on.
#[derive(Debug, Default)]
pub struct ReadAhead {
    messages: VecDeque<StoredMessage>,
    /// `last_per_subject`: to be read before anything else.
    listed: VecDeque<u64>,
    /// Read on from here, after the list.
    next: u64,
    /// The stream's last sequence.
    last: u64,
}

/// What to read.
#[derive(Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The next messages from this sequence on.
    From(u64),
    /// Exactly these.
    These(Vec<u64>),
}

impl ReadAhead {
    pub fn new(next: u64, last: u64, listed: Vec<u64>) -> Self {
        Self { messages: VecDeque::new(), listed: listed.into(), next, last }
    }

    /// Messages held.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// The stream's last sequence.
    pub fn last(&self) -> u64 {
        self.last
    }

    pub fn front(&self) -> Option<&StoredMessage> {
        self.messages.front()
    }

    pub fn pop(&mut self) -> Option<StoredMessage> {
        self.messages.pop_front()
    }

    /// Nothing is left: the stream has been read to its end.
    pub fn is_exhausted(&self) -> bool {
        self.messages.is_empty() && self.listed.is_empty() && self.next > self.last
    }

    /// What to read next, if more is there and little is held.
    pub fn wanted(&self) -> Option<Wanted> {
        if self.messages.len() > MAX_MESSAGES / 2 {
            return None;
        }
        if !self.listed.is_empty() {
            return Some(Wanted::These(self.listed.iter().take(MAX_MESSAGES / 4).copied().collect()));
        }
        (self.next <= self.last).then_some(Wanted::From(self.next))
    }

    /// The answer to [`Wanted::From`]; `next` is where to read on.
    pub fn read(&mut self, messages: Vec<StoredMessage>, next: u64) {
        self.messages.extend(messages);
        self.next = self.next.max(next);
    }

    /// The answer to [`Wanted::These`], of which `last` was the last.
    pub fn read_these(&mut self, messages: Vec<StoredMessage>, last: u64) {
        while self.listed.front().is_some_and(|&seq| seq <= last) {
            self.listed.pop_front();
        }
        self.messages.extend(messages);
    }

    /// The stream has messages up to `last`; `matching`: some of the new ones match the filter.
    pub fn stream_grew(&mut self, last: u64, matching: bool) {
        // What does not match need not be looked at.
        if !matching && self.next == self.last + 1 {
            self.next = self.next.max(last + 1);
        }
        self.last = self.last.max(last);
    }

    /// A message is gone from the stream.
    pub fn remove(&mut self, seq: u64) {
        if let Ok(at) = self.messages.binary_search_by_key(&seq, |message| message.seq) {
            self.messages.remove(at);
        }
        if let Ok(at) = self.listed.binary_search(&seq) {
            self.listed.remove(at);
        }
    }

    /// A message was handed out in vain: it comes first again.
    pub fn put_back(&mut self, seq: u64) {
        while let Some(message) = self.messages.pop_back() {
            self.listed.push_front(message.seq);
        }
        self.listed.push_front(seq);
    }

    /// Starts over from `next`. Of a list, what is left comes first all the same.
    pub fn rewind(&mut self, next: u64) {
        self.messages.clear();
        self.next = next;
    }
}
