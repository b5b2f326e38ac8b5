use super::ConsumerDelta;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A message delivered and not yet acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingMessage {
    /// The consumer sequence of its first delivery.
    pub consumer: u64,
    /// When it was last delivered or marked as in progress, in ns since 1970.
    pub timestamp: i64,
}

/// Where a consumer stands: the part of its state that outlives the process.
///
/// One model for the Consumer actor, the journal and recovery: all of them [`apply`](Self::apply) the same deltas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsumerState {
    /// The highest delivered stream sequence, or the one before the first to deliver.
    pub delivered_stream: u64,
    /// The consumer sequence of the last delivery.
    pub delivered_consumer: u64,
    /// Everything up to here is settled.
    pub floor_stream: u64,
    pub floor_consumer: u64,
    /// By stream sequence.
    pub pending: BTreeMap<u64, PendingMessage>,
    /// Extra deliveries by stream sequence, also of messages given up.
    pub redelivered: BTreeMap<u64, u64>,
}

impl ConsumerState {
    /// Takes one step. Floor rules: consumers reference, section 3.4.
    ///
    /// Steps taken before (a journal replayed over a newer state) change nothing: a delivery is known by its consumer
    /// sequence, which only grows, and a settled message is never pending again. Where a state was set back, the
    /// journal holds the whole state at that point, and the steps behind it follow from that.
    pub fn apply(&mut self, delta: &ConsumerDelta) {
        match *delta {
            ConsumerDelta::Delivered { stream, consumer, timestamp, tracked } => {
                self.delivered(stream, consumer, timestamp, tracked)
            }
            ConsumerDelta::Settled { stream } => self.settled(stream),
            ConsumerDelta::SettledUpTo { stream, consumer } => self.settled_up_to(stream, consumer),
            ConsumerDelta::GivenUp { stream } => drop(self.pending.remove(&stream)),
            ConsumerDelta::Forgotten { stream } => {
                self.redelivered.remove(&stream);
            }
        }
    }

    fn delivered(&mut self, stream: u64, consumer: u64, timestamp: i64, tracked: bool) {
        if consumer <= self.delivered_consumer {
            return;
        }
        self.delivered_consumer = consumer;
        let again = stream <= self.delivered_stream;
        self.delivered_stream = self.delivered_stream.max(stream);
        if !tracked {
            self.floor_stream = self.floor_stream.max(stream);
            self.floor_consumer = consumer;
            return;
        }
        if stream <= self.floor_stream {
            // Settled already: what is below the floor is never pending.
            return;
        }
        if again {
            *self.redelivered.entry(stream).or_insert(0) += 1;
        }
        self.pending
            .entry(stream)
            .and_modify(|pending| pending.timestamp = timestamp)
            .or_insert(PendingMessage { consumer, timestamp });
    }

    fn settled(&mut self, stream: u64) {
        self.redelivered.remove(&stream);
        let Some(gone) = self.pending.remove(&stream) else { return };
        match self.pending.first_key_value() {
            None => {
                self.floor_stream = self.floor_stream.max(self.delivered_stream);
                self.floor_consumer = self.floor_consumer.max(self.delivered_consumer);
            }
            // Up to just below the next message that is still pending.
            Some((next, pending)) if gone.consumer == self.floor_consumer + 1 => {
                self.floor_stream = self.floor_stream.max(next - 1);
                self.floor_consumer = self.floor_consumer.max(pending.consumer - 1);
            }
            Some(_) => {}
        }
    }

    fn settled_up_to(&mut self, stream: u64, consumer: u64) {
        if stream <= self.floor_stream {
            return;
        }
        self.floor_stream = stream;
        self.floor_consumer = self.floor_consumer.max(consumer);
        self.pending = self.pending.split_off(&stream.saturating_add(1));
        self.redelivered = self.redelivered.split_off(&stream.saturating_add(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Change, ConsumerId};
    use proptest::prelude::*;

    /// What a Consumer actor might do next; it turns the choice into a step that is possible now.
    #[derive(Clone, Copy, Debug)]
    enum Act {
        Deliver(u64),
        Again(usize),
        Settle(usize),
        SettleUpTo(usize),
        GiveUp(usize),
        Forget(usize),
        Reset(u64),
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let act = prop_oneof![
            6 => (1u64..4).prop_map(Act::Deliver),
            2 => any::<usize>().prop_map(Act::Again),
            5 => any::<usize>().prop_map(Act::Settle),
            1 => any::<usize>().prop_map(Act::SettleUpTo),
            1 => any::<usize>().prop_map(Act::GiveUp),
            1 => any::<usize>().prop_map(Act::Forget),
            1 => (0u64..9).prop_map(Act::Reset),
        ];
        proptest::collection::vec(act, 0..60)
    }

    /// The step of an act, as it would stand in the journal.
    fn step(state: &ConsumerState, act: Act, time: i64) -> Option<Change> {
        let pending = |n: usize| state.pending.keys().nth(n % state.pending.len().max(1)).copied();
        let given_up = |n: usize| {
            let mut seqs = state.redelivered.keys().filter(|seq| !state.pending.contains_key(seq));
            seqs.nth(n % state.redelivered.len().max(1)).copied()
        };
        let consumer = state.delivered_consumer + 1;
        let delivered = |stream| ConsumerDelta::Delivered { stream, consumer, timestamp: time, tracked: true };
        let delta = match act {
            Act::Deliver(skip) => delivered(state.delivered_stream + skip),
            Act::Again(n) => delivered(pending(n)?),
            Act::Settle(n) => ConsumerDelta::Settled { stream: pending(n)? },
            Act::SettleUpTo(n) => {
                let stream = pending(n)?;
                ConsumerDelta::SettledUpTo { stream, consumer: state.pending[&stream].consumer }
            }
            Act::GiveUp(n) => ConsumerDelta::GivenUp { stream: pending(n)? },
            Act::Forget(n) => ConsumerDelta::Forgotten { stream: given_up(n)? },
            Act::Reset(to) => {
                let state = ConsumerState { delivered_stream: to, floor_stream: to, ..ConsumerState::default() };
                return Some(Change::SetConsumer { consumer: ConsumerId(1), state });
            }
        };
        Some(Change::Consumed { consumer: ConsumerId(1), deltas: vec![delta] })
    }

    fn take(state: &mut ConsumerState, change: &Change) {
        match change {
            Change::Consumed { deltas, .. } => deltas.iter().for_each(|delta| state.apply(delta)),
            Change::SetConsumer { state: set, .. } => *state = set.clone(),
            _ => unreachable!("made above"),
        }
    }

    proptest! {
        #[test]
        fn the_floor_stays_below_what_is_pending(acts in acts()) {
            let mut state = ConsumerState::default();
            for (time, act) in acts.into_iter().enumerate() {
                let Some(change) = step(&state, act, time as i64) else { continue };
                let before = state.clone();
                take(&mut state, &change);
                if matches!(change, Change::Consumed { .. }) {
                    prop_assert!(state.floor_stream >= before.floor_stream);
                    prop_assert!(state.floor_consumer >= before.floor_consumer);
                }
                prop_assert!(state.pending.keys().all(|seq| *seq > state.floor_stream && *seq <= state.delivered_stream));
                prop_assert!(state.pending.values().all(|p| p.consumer > state.floor_consumer));
                prop_assert!(state.floor_stream <= state.delivered_stream);
                prop_assert!(state.floor_consumer <= state.delivered_consumer);
                prop_assert!(state.redelivered.values().all(|count| *count > 0));
            }
        }

        #[test]
        fn replaying_any_suffix_over_the_newest_state_changes_nothing(acts in acts()) {
            let mut state = ConsumerState::default();
            let mut journal = Vec::new();
            for (time, act) in acts.into_iter().enumerate() {
                let Some(change) = step(&state, act, time as i64) else { continue };
                take(&mut state, &change);
                journal.push(change);
            }
            for from in 0..journal.len() {
                let mut again = state.clone();
                journal[from..].iter().for_each(|change| take(&mut again, change));
                prop_assert_eq!(&again, &state, "from {} of {:?}", from, &journal);
            }
        }
    }

    #[test]
    fn acks_out_of_order_move_the_floor_when_the_gap_closes() {
        let mut state = ConsumerState::default();
        for seq in [2, 4, 6] {
            let consumer = seq / 2;
            state.apply(&ConsumerDelta::Delivered { stream: seq, consumer, timestamp: 0, tracked: true });
        }
        state.apply(&ConsumerDelta::Settled { stream: 4 });
        assert_eq!((state.floor_consumer, state.floor_stream), (0, 0));
        state.apply(&ConsumerDelta::Settled { stream: 2 });
        assert_eq!((state.floor_consumer, state.floor_stream), (2, 5), "just below the next pending one");
        state.apply(&ConsumerDelta::Settled { stream: 6 });
        assert_eq!((state.floor_consumer, state.floor_stream), (3, 6));
    }

    #[test]
    fn a_message_given_up_holds_the_floor_until_a_real_ack() {
        let mut state = ConsumerState::default();
        let delivered = |stream, consumer| ConsumerDelta::Delivered { stream, consumer, timestamp: 0, tracked: true };
        for delta in [delivered(1, 1), delivered(2, 2), delivered(1, 3), ConsumerDelta::GivenUp { stream: 1 }] {
            state.apply(&delta);
        }
        assert_eq!((state.floor_consumer, state.redelivered[&1], state.pending.len()), (0, 1, 1));
        state.apply(&ConsumerDelta::Settled { stream: 2 });
        assert_eq!((state.floor_consumer, state.floor_stream), (3, 2));
        state.apply(&ConsumerDelta::Settled { stream: 1 });
        assert!(state.redelivered.is_empty(), "a late ack forgets the redeliveries");
    }
}
