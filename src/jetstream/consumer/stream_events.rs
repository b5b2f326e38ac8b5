//! What happens in the stream.

use super::Consumer;
use crate::jetstream::messages::{Appended, Count, Counted};

/// Why a pending message is terminated when it leaves the stream.
const DELETED: &str = "Unacknowledged message was deleted";

impl Consumer {
    pub(super) fn appended(&mut self, appended: Appended) {
        self.tally.grew(appended.matching);
        self.read_ahead.stream_grew(appended.last, appended.matching > 0);
    }

    pub(super) fn counted(&mut self, counted: Counted) {
        self.tally.counted(counted.ticket, counted.pending);
    }

    /// Counts anew what is to be delivered.
    pub(super) fn recount(&mut self) {
        let ticket = self.ticket();
        self.tally.recounting(ticket);
        self.stream.count.send(Count { consumer: self.id, ticket, from: self.next_seq });
    }

    /// A single message is gone (consumers reference, section 8.4).
    pub(super) fn removed(&mut self, seq: u64) {
        if seq >= self.next_seq {
            self.tally.removed();
            self.read_ahead.remove(seq);
            return;
        }
        self.redeliveries.remove(seq);
        let count = self.ledger.count(seq);
        match self.ledger.pending(seq).copied() {
            Some(pending) => {
                let now = self.now();
                self.ledger.settle(seq);
                self.news.terminated(pending.consumer, seq, count, DELETED, now);
            }
            None => self.ledger.forget(seq),
        }
    }

    /// What INFO shows as pending: never more than there can be.
    pub(super) fn pending_messages(&self) -> u64 {
        let last = self.read_ahead.last();
        match self.next_seq > last {
            true => 0,
            false => self.tally.pending().min(last - self.next_seq + 1),
        }
    }
}
