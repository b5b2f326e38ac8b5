//! Reading from the stream: one read at a time, redeliveries first.

use super::Consumer;
use super::read_ahead::{MAX_BYTES, MAX_MESSAGES, Wanted};
use super::redelivery::LOAD;
use crate::jetstream::messages::{Read, ReadThese, Records};

/// A pull request for one message makes this many be read.
const MIN_MESSAGES: i64 = 16;

/// The read that is under way.
#[derive(Debug, Default)]
pub struct Reading {
    open: Option<(u64, What)>,
    /// Pending messages that may be gone, in descending order.
    doubted: Vec<u64>,
}

#[derive(Debug)]
enum What {
    /// The next ones.
    On,
    /// Some of a list, up to this one.
    Listed(u64),
    /// For redelivery.
    Again(Vec<u64>),
    /// To see whether they are there.
    Doubted(Vec<u64>),
}

impl Reading {
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// These pending messages, in ascending order, may be gone.
    pub fn doubt(&mut self, seqs: impl DoubleEndedIterator<Item = u64>) {
        self.doubted = seqs.rev().collect();
    }

    /// What is under way is of no interest any more.
    pub fn forget(&mut self) {
        if let Some((_, What::Doubted(seqs))) = self.open.take() {
            self.doubted.extend(seqs.into_iter().rev());
        }
    }
}

impl Consumer {
    /// Asks for what is needed next, if anybody is there to take it.
    pub(super) fn read_on(&mut self) {
        let now = self.now();
        let wanted = match self.config.is_push() {
            true => self.push.is_active(),
            false => !self.pulls.is_empty(),
        };
        if !self.reading.is_open() && !self.reading.doubted.is_empty() {
            let kept = self.reading.doubted.len().saturating_sub(LOAD);
            let seqs: Vec<u64> = self.reading.doubted.drain(kept..).rev().collect();
            let (consumer, ticket) = (self.id, self.ticket());
            self.stream.read_these.send(ReadThese { consumer, ticket, seqs: seqs.clone() });
            self.reading.open = Some((ticket, What::Doubted(seqs)));
        }
        if self.reading.is_open() || !wanted || !self.is_born || self.is_paused(now) {
            return;
        }
        let (consumer, again) = (self.id, self.redeliveries.unread());
        if !again.is_empty() {
            let ticket = self.ticket();
            self.stream.read_these.send(ReadThese { consumer, ticket, seqs: again.clone() });
            self.reading.open = Some((ticket, What::Again(again)));
            return;
        }
        match self.read_ahead.wanted() {
            None => {}
            Some(Wanted::These(seqs)) => {
                let ticket = self.ticket();
                self.reading.open = Some((ticket, What::Listed(seqs.last().copied().unwrap_or(0))));
                self.stream.read_these.send(ReadThese { consumer, ticket, seqs });
            }
            Some(Wanted::From(from)) => {
                let ticket = self.ticket();
                self.reading.open = Some((ticket, What::On));
                let max_messages = match self.config.is_push() {
                    true => MAX_MESSAGES,
                    false => self.pulls.wanted().clamp(MIN_MESSAGES, MAX_MESSAGES as i64) as usize,
                };
                self.stream.read.send(Read { consumer, ticket, from, max_messages, max_bytes: MAX_BYTES });
            }
        }
    }

    pub(super) fn records(&mut self, records: Records) {
        match self.reading.open.take() {
            Some((ticket, what)) if ticket == records.ticket => match what {
                What::On => self.read_ahead.read(records.messages, records.next),
                What::Listed(last) => self.read_ahead.read_these(records.messages, last),
                What::Doubted(asked) => {
                    let there: Vec<u64> = records.messages.iter().map(|message| message.seq).collect();
                    asked.into_iter().filter(|seq| there.binary_search(seq).is_err()).for_each(|seq| {
                        self.redeliveries.remove(seq);
                        self.ledger.settle(seq);
                    });
                }
                What::Again(asked) => {
                    // In the order asked for; what is gone is left out.
                    let mut messages = records.messages.into_iter().peekable();
                    for seq in asked {
                        match messages.next_if(|message| message.seq == seq) {
                            Some(message) => self.redeliveries.loaded(message),
                            None if self.redeliveries.contains(seq) => self.removed(seq),
                            None => {}
                        }
                    }
                }
            },
            other => self.reading.open = other,
        }
    }
}
