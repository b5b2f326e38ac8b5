//! The ack floor, against a model that keeps every delivery and looks at all of them each time.

use crate::jetstream::consumer::ledger::Ledger;
use crate::jetstream::consumer::purge::drop_below;
use crate::store::ConsumerState;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Step {
    /// So many sequences on from the last.
    Deliver(u64),
    /// One of the pending ones.
    Again(usize),
    Settle(usize),
    SettleUpTo(usize),
    GiveUp(usize),
    PurgeBelow(u64),
}

/// The rules of the reference (section 3.4), in the plainest way.
#[derive(Debug, Default)]
struct Model {
    delivered: (u64, u64),
    floor: (u64, u64),
    /// Stream sequence to the consumer sequence of the first delivery.
    pending: BTreeMap<u64, u64>,
}

impl Model {
    fn deliver(&mut self, seq: u64) {
        self.delivered = (self.delivered.0 + 1, self.delivered.1.max(seq));
        self.pending.entry(seq).or_insert(self.delivered.0);
    }

    fn settle(&mut self, seq: u64) {
        let Some(first) = self.pending.remove(&seq) else { return };
        if self.pending.is_empty() {
            self.floor = self.delivered;
        } else if first == self.floor.0 + 1 {
            self.floor = (first, seq);
            for next in seq..=self.delivered.1 {
                if let Some(consumer) = self.pending.get(&next) {
                    self.floor = (consumer - 1, next - 1);
                    break;
                }
            }
        }
    }

    fn settle_up_to(&mut self, seq: u64, consumer: u64) {
        if seq > self.floor.1 && consumer > self.floor.0 {
            self.floor = (consumer, seq);
            self.pending.retain(|&pending, _| pending > seq);
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1..4u64).prop_map(Step::Deliver),
        1 => any::<usize>().prop_map(Step::Again),
        4 => any::<usize>().prop_map(Step::Settle),
        1 => any::<usize>().prop_map(Step::SettleUpTo),
        1 => any::<usize>().prop_map(Step::GiveUp),
        1 => (0..5u64).prop_map(Step::PurgeBelow),
    ];
    proptest::collection::vec(step, 0..120)
}

fn pick(state: &ConsumerState, at: usize) -> Option<u64> {
    let len = state.pending.len();
    (len > 0).then(|| *state.pending.keys().nth(at % len).expect("within"))
}

/// A stream and a consumer sequence.
type Pair = (u64, u64);

fn positions(state: &ConsumerState) -> (Pair, Pair, Vec<Pair>) {
    let pending = state.pending.iter().map(|(&seq, p)| (seq, p.consumer)).collect();
    ((state.delivered_consumer, state.delivered_stream), (state.floor_consumer, state.floor_stream), pending)
}

proptest! {
    #[test]
    fn explicit_acks_move_the_floor_as_the_model_says(steps in steps()) {
        let (mut ledger, mut model, mut saved) = (Ledger::default(), Model::default(), ConsumerState::default());
        for (now, step) in steps.into_iter().enumerate() {
            match step {
                Step::Deliver(on) => {
                    let seq = ledger.state().delivered_stream + on;
                    ledger.deliver(seq, now as i64, true);
                    model.deliver(seq);
                }
                Step::Again(at) => if let Some(seq) = pick(ledger.state(), at) {
                    ledger.deliver(seq, now as i64, true);
                    model.deliver(seq);
                },
                Step::Settle(at) => if let Some(seq) = pick(ledger.state(), at) {
                    ledger.settle(seq);
                    model.settle(seq);
                },
                Step::GiveUp(at) => if let Some(seq) = pick(ledger.state(), at) {
                    ledger.give_up(seq);
                    model.pending.remove(&seq);
                },
                Step::SettleUpTo(_) | Step::PurgeBelow(_) => {}
            }
            let (delivered, floor, pending) = positions(ledger.state());
            prop_assert_eq!(delivered, model.delivered);
            prop_assert_eq!(floor, model.floor);
            prop_assert_eq!(pending, model.pending.clone().into_iter().collect::<Vec<_>>());
            prop_assert!(floor.1 <= delivered.1 && floor.0 <= delivered.0);
            // What is saved is what is known.
            if now % 3 == 0 {
                let gathered = ledger.gather(now as u64);
                saved = gathered.state.unwrap_or(saved);
                gathered.deltas.iter().for_each(|delta| saved.apply(delta));
                prop_assert_eq!(&saved, ledger.state());
            }
        }
    }

    #[test]
    fn acks_of_all_move_the_floor_as_the_model_says(steps in steps()) {
        let (mut ledger, mut model) = (Ledger::default(), Model::default());
        for step in steps {
            match step {
                Step::Deliver(on) => {
                    let seq = ledger.state().delivered_stream + on;
                    ledger.deliver(seq, 0, true);
                    model.deliver(seq);
                }
                Step::SettleUpTo(at) | Step::Settle(at) => if let Some(seq) = pick(ledger.state(), at) {
                    let consumer = ledger.pending(seq).expect("picked").consumer;
                    if seq > ledger.state().floor_stream && consumer > ledger.state().floor_consumer {
                        ledger.settle_up_to(seq, consumer);
                    }
                    model.settle_up_to(seq, consumer);
                },
                _ => {}
            }
            let (delivered, floor, pending) = positions(ledger.state());
            prop_assert_eq!((delivered, floor), (model.delivered, model.floor));
            prop_assert_eq!(pending, model.pending.clone().into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn without_acks_the_floor_is_where_deliveries_are(steps in steps()) {
        let mut ledger = Ledger::default();
        for step in steps {
            if let Step::Deliver(on) = step {
                ledger.deliver(ledger.state().delivered_stream + on, 0, false);
            }
            let (delivered, floor, pending) = positions(ledger.state());
            prop_assert_eq!(delivered, floor);
            prop_assert!(pending.is_empty());
        }
    }

    #[test]
    fn purges_keep_the_floor_below_what_is_pending(steps in steps()) {
        let mut ledger = Ledger::default();
        let mut next = 1;
        for step in steps {
            let before = positions(ledger.state()).1;
            match step {
                Step::Deliver(on) => {
                    next = next.max(ledger.state().delivered_stream + 1) + on - 1;
                    ledger.deliver(next, 0, true);
                    next += 1;
                }
                Step::Settle(at) => if let Some(seq) = pick(ledger.state(), at) {
                    ledger.settle(seq);
                },
                Step::PurgeBelow(beyond) => {
                    let first = ledger.state().floor_stream + beyond;
                    next = next.max(first);
                    if ledger.state().floor_stream < first {
                        ledger.rewrite(|state| drop_below(state, first, next));
                    }
                }
                _ => {}
            }
            let (delivered, floor, pending) = positions(ledger.state());
            prop_assert!(floor.0 >= before.0 && floor.1 >= before.1, "the floor never sinks");
            prop_assert!(floor.0 <= delivered.0 && floor.1 <= delivered.1);
            prop_assert!(pending.iter().all(|&(seq, consumer)| seq > floor.1 && consumer > floor.0), "{floor:?} {pending:?}");
        }
    }

    #[test]
    fn what_is_taken_back_has_never_been(seqs in proptest::collection::vec(1..4u64, 1..20), lost in 0..20usize) {
        let mut ledger = Ledger::default();
        let mut sent = Vec::new();
        let mut states = vec![ledger.state().clone()];
        for on in seqs {
            let previous = ledger.state().delivered_stream;
            let consumer = ledger.state().delivered_consumer + 1;
            ledger.deliver(previous + on, 0, true);
            sent.push((previous + on, consumer, previous));
            states.push(ledger.state().clone());
        }
        for _ in 0..lost.min(sent.len()) {
            let (seq, consumer, previous) = sent.pop().expect("as many as sent");
            prop_assert!(ledger.take_back(seq, consumer, previous, true));
            states.pop();
            prop_assert_eq!(ledger.state(), states.last().expect("the first"));
        }
    }
}
