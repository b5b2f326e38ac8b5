use crate::store::{ConsumerDelta, ConsumerState, PendingMessage};
use std::collections::btree_map::Entry;
use std::collections::{HashMap, VecDeque};

/// The durable part of a consumer, and the steps taken since it was last handed to the stream.
#[derive(Debug, Default)]
pub struct Ledger {
    state: ConsumerState,
    deltas: Vec<ConsumerDelta>,
    settled: Vec<u64>,
    settled_upto: u64,
    /// Deltas do not tell it all: the next save carries the whole state.
    whole: bool,
    /// The stream removes what nobody needs: it must be told what is settled.
    tells_settled: bool,
    /// By stream sequence: deliveries that found nobody and do not count.
    undone: HashMap<u64, u64>,
    /// What was settled in saves that are under way, in the order of their tickets.
    under_way: VecDeque<Underway>,
}

/// One delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The consumer sequence.
    pub consumer: u64,
    /// How often the message has been delivered now.
    pub count: u64,
}

/// What is to be saved.
#[derive(Debug, Default)]
pub struct Gathered {
    pub deltas: Vec<ConsumerDelta>,
    pub state: Option<ConsumerState>,
    pub settled: Vec<u64>,
    pub settled_upto: u64,
}

#[derive(Debug)]
struct Underway {
    ticket: u64,
    settled: Vec<u64>,
    settled_upto: u64,
}

impl Ledger {
    /// `tells_settled` for streams with work-queue or interest retention.
    pub fn new(state: ConsumerState, tells_settled: bool) -> Self {
        Self { state, tells_settled, ..Self::default() }
    }

    /// The state of a consumer that begins with the stream sequence `next`.
    pub fn beginning(next: u64) -> ConsumerState {
        let before = next.saturating_sub(1);
        ConsumerState { delivered_stream: before, floor_stream: before, ..ConsumerState::default() }
    }

    /// From here on the stream must be told what is settled, and first of all how things stand.
    pub fn tell_settled(&mut self) {
        self.tells_settled = true;
        self.whole = true;
    }

    pub fn state(&self) -> &ConsumerState {
        &self.state
    }

    pub fn pending(&self, seq: u64) -> Option<&PendingMessage> {
        self.state.pending.get(&seq)
    }

    /// How often a message has been delivered so far, if it waits for an acknowledgement or was given up; else 0.
    pub fn count(&self, seq: u64) -> u64 {
        let extra = self.state.redelivered.get(&seq).copied();
        let known = extra.is_some() || self.state.pending.contains_key(&seq);
        let all = extra.unwrap_or(0) + u64::from(known);
        all.saturating_sub(self.undone.get(&seq).copied().unwrap_or(0))
    }

    /// The numbers that the next delivery of a message will have.
    pub fn next_numbers(&self, seq: u64) -> Numbers {
        Numbers { consumer: self.state.delivered_consumer + 1, count: self.count(seq) + 1 }
    }

    /// A message is delivered. `tracked`: it waits for an acknowledgement.
    pub fn deliver(&mut self, seq: u64, now: i64, tracked: bool) {
        let consumer = self.state.delivered_consumer + 1;
        self.step(ConsumerDelta::Delivered { stream: seq, consumer, timestamp: now, tracked });
        if !tracked && self.tells_settled {
            self.settled_upto = self.settled_upto.max(seq);
        }
    }

    /// Whether this is the last delivery made, and the message the highest delivered.
    pub fn is_last(&self, seq: u64, consumer: u64) -> bool {
        self.state.delivered_consumer == consumer && self.state.delivered_stream == seq
    }

    /// Takes a delivery back that found nobody: `previous` is the highest delivered stream sequence before it. Returns
    /// whether it is as if it had never been; otherwise the message has to be delivered again, and the delivery does
    /// not count, but its number is used up if there were others since.
    pub fn take_back(&mut self, seq: u64, consumer: u64, previous: u64, tracked: bool) -> bool {
        let state = &mut self.state;
        let was_last = consumer == state.delivered_consumer;
        let is_first = state.pending.get(&seq).map_or(!tracked, |pending| pending.consumer == consumer);
        if !was_last {
            *self.undone.entry(seq).or_insert(0) += 1;
            return false;
        }
        state.delivered_consumer -= 1;
        self.whole = true;
        if is_first && state.delivered_stream == seq && previous < seq {
            state.pending.remove(&seq);
            state.delivered_stream = previous;
            if !tracked {
                (state.floor_stream, state.floor_consumer) = (previous, state.delivered_consumer);
            }
            return true;
        }
        match state.redelivered.get_mut(&seq) {
            Some(extra) if *extra > 1 => *extra -= 1,
            Some(_) => {
                state.redelivered.remove(&seq);
            }
            // It will be counted when it comes again.
            None => *self.undone.entry(seq).or_insert(0) += 1,
        }
        false
    }

    /// A message is acknowledged, terminated, or gone. Returns what was known of it.
    pub fn settle(&mut self, seq: u64) -> Option<PendingMessage> {
        let pending = self.state.pending.get(&seq).copied();
        self.undone.remove(&seq);
        if pending.is_some() || self.state.redelivered.contains_key(&seq) {
            self.step(ConsumerDelta::Settled { stream: seq });
            if self.tells_settled {
                self.settled.push(seq);
            }
        }
        pending
    }

    /// Everything up to a delivery is acknowledged.
    pub fn settle_up_to(&mut self, seq: u64, consumer: u64) {
        self.undone.retain(|&undone, _| undone > seq);
        self.step(ConsumerDelta::SettledUpTo { stream: seq, consumer });
        if self.tells_settled {
            self.settled_upto = self.settled_upto.max(seq);
        }
    }

    /// A message has used up its deliveries.
    pub fn give_up(&mut self, seq: u64) {
        // It stays known as redelivered even if it was delivered only once.
        if let Entry::Vacant(none) = self.state.redelivered.entry(seq) {
            none.insert(0);
            self.whole = true;
        }
        self.step(ConsumerDelta::GivenUp { stream: seq });
    }

    /// A message that had been given up has left the stream.
    pub fn forget(&mut self, seq: u64) {
        self.undone.remove(&seq);
        if self.state.redelivered.contains_key(&seq) && !self.state.pending.contains_key(&seq) {
            self.step(ConsumerDelta::Forgotten { stream: seq });
        }
    }

    /// Sets when a message was last delivered or marked as in progress. Not made durable by itself: after a restart the
    /// message comes again a little sooner.
    pub fn touch(&mut self, seq: u64, timestamp: i64) {
        if let Some(pending) = self.state.pending.get_mut(&seq) {
            pending.timestamp = timestamp;
        }
    }

    /// Begins anew with the stream sequence `next`.
    pub fn reset(&mut self, next: u64) {
        self.state = Self::beginning(next);
        self.undone.clear();
        self.whole = true;
    }

    /// Changes the state by more than steps can tell.
    pub fn rewrite(&mut self, change: impl FnOnce(&mut ConsumerState)) {
        change(&mut self.state);
        let redelivered = &self.state.redelivered;
        self.undone.retain(|seq, _| redelivered.contains_key(seq));
        self.whole = true;
    }

    pub fn is_dirty(&self) -> bool {
        self.whole || !self.deltas.is_empty() || !self.settled.is_empty() || self.settled_upto > 0
    }

    /// Everything since the last save, to be saved under a ticket.
    pub fn gather(&mut self, ticket: u64) -> Gathered {
        let deltas = std::mem::take(&mut self.deltas);
        let whole = std::mem::take(&mut self.whole);
        let settled = std::mem::take(&mut self.settled);
        let settled_upto = std::mem::take(&mut self.settled_upto);
        if self.tells_settled {
            self.under_way.push_back(Underway { ticket, settled: settled.clone(), settled_upto });
        }
        match whole {
            true => Gathered { deltas: Vec::new(), state: Some(self.state.clone()), settled, settled_upto },
            false => Gathered { deltas, state: None, settled, settled_upto },
        }
    }

    /// A save is on the disk, or is not: then all of it is saved again.
    pub fn saved(&mut self, ticket: u64, ok: bool) {
        let at = self.under_way.iter().position(|save| save.ticket == ticket);
        let save = at.and_then(|at| self.under_way.remove(at));
        if ok {
            return;
        }
        if let Some(save) = save {
            self.settled.extend(save.settled);
            self.settled_upto = self.settled_upto.max(save.settled_upto);
        }
        self.whole = true;
    }

    fn step(&mut self, delta: ConsumerDelta) {
        self.state.apply(&delta);
        if !self.whole {
            self.deltas.push(delta);
        }
    }
}
