//! Many messages are gone at once (consumers reference, section 8.3).

use super::Consumer;
use crate::jetstream::messages::Purged;
use crate::store::ConsumerState;
use crate::subject::is_subset;

impl Consumer {
    pub(super) fn purged(&mut self, purged: &Purged) {
        self.read_ahead.stream_grew(purged.last, true);
        match &purged.filter {
            None => self.purge_below(purged.first),
            Some(filter) => {
                let filters = self.config.filters();
                let covers = |own: &String| is_subset(own.as_bytes(), filter);
                match if filters.is_empty() { &filter[..] == b">" } else { filters.iter().all(covers) } {
                    true => self.purge_below(purged.first_matching),
                    false => {
                        let reaches = self.ledger.state().floor_stream < purged.first;
                        self.purge_below(purged.first);
                        // Otherwise those gone are found when they are to be delivered again, as in the reference.
                        if reaches {
                            self.reading.doubt(self.ledger.state().pending.keys().copied());
                        }
                    }
                }
            }
        }
        // What is held may be gone as well; what is being read, too.
        self.reading.forget();
        self.read_ahead.rewind(self.next_seq);
        self.recount();
    }

    /// Everything that concerns this consumer below `first` is gone.
    fn purge_below(&mut self, first: u64) {
        self.next_seq = self.next_seq.max(first);
        let next = self.next_seq;
        if self.ledger.state().floor_stream < first {
            self.ledger.rewrite(|state| drop_below(state, first, next));
        }
        let ledger = &self.ledger;
        self.redeliveries.retain(|seq| seq >= first && ledger.pending(seq).is_some());
    }
}

/// Pending messages below `first` count as acknowledged; the floor moves up to it, and on to the next pending one.
pub(super) fn drop_below(state: &mut ConsumerState, first: u64, next: u64) {
    let rest = state.pending.split_off(&first);
    let dropped = std::mem::replace(&mut state.pending, rest);
    state.redelivered = state.redelivered.split_off(&first);
    let highest = dropped.values().map(|pending| pending.consumer).max().unwrap_or(0);
    state.delivered_stream = state.delivered_stream.max(next - 1);
    match state.pending.iter().next() {
        None => {
            state.floor_consumer = state.delivered_consumer;
            state.floor_stream = state.delivered_stream;
            state.redelivered.clear();
        }
        Some((&seq, _)) => {
            // Never past what is still pending.
            let lowest = state.pending.values().map(|pending| pending.consumer).min().unwrap_or(0);
            state.floor_consumer = state.floor_consumer.max(highest).min(lowest - 1);
            state.floor_stream = state.floor_stream.max(first - 1).max(seq - 1);
        }
    }
}
