//! Deliveries that arrived, and those that found nobody.

use super::Consumer;
use super::posts::Sent;
use crate::router::messages::Receipt;

impl Consumer {
    pub(super) fn arrived(&mut self, receipt: &Receipt) {
        let (lost, pulls) = self.posts.arrived(receipt);
        let now = self.now();
        for id in pulls {
            if let Some(at) = self.pulls.position(id) {
                self.pulls.touch_one(at, |request| request.heard = now);
            }
        }
        if lost.is_empty() {
            return;
        }
        lost.iter().for_each(|sent| self.take_back(sent));
        if self.config.is_push() {
            self.push.lost_interest();
            // Told at once how it is now, and of every change.
            self.watch_deliver_subject();
        }
    }

    /// A delivery found nobody (consumers reference, section 3.5): it does not count.
    fn take_back(&mut self, sent: &Sent) {
        // Whoever asked for it has gone.
        if let Some(at) = self.pulls.position(sent.pull) {
            self.pulls.remove(at);
        }
        let tracked = self.is_tracked();
        if !tracked && !self.ledger.is_last(sent.seq, sent.consumer) {
            return;
        }
        if tracked && self.ledger.pending(sent.seq).is_none() {
            return;
        }
        if self.ledger.take_back(sent.seq, sent.consumer, sent.previous, tracked) {
            self.reading.forget();
            self.read_ahead.put_back(sent.seq);
            self.next_seq = self.next_seq.min(sent.seq);
            self.tally.taken_back();
        } else {
            self.redeliveries.push_front(sent.seq);
        }
    }
}
