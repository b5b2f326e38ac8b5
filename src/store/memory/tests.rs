use crate::store::tail::Tail;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What may be done to a tail.
#[derive(Clone, Debug)]
enum Step {
    Push(u64),
    Remove(u64),
    Advance(u64),
    Truncate(u64),
    RemoveRange(u64, u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => prop_oneof![4 => Just(1u64), 1 => 1u64..9].prop_map(Step::Push),
        4 => (0u64..300).prop_map(Step::Remove),
        1 => (0u64..300).prop_map(Step::Advance),
        1 => (0u64..300).prop_map(Step::Truncate),
        1 => (0u64..300, 0u64..40).prop_map(|(from, length)| Step::RemoveRange(from, from + length)),
    ];
    proptest::collection::vec(step, 0..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_tail_is_like_a_map(steps in steps()) {
        let (mut tail, mut map, mut last) = (Tail::default(), BTreeMap::new(), 0);
        for step in steps {
            match step {
                Step::Push(gap) => {
                    last += gap;
                    prop_assert_eq!(tail.push(last, 10, last), true);
                    map.insert(last, last);
                }
                Step::Remove(seq) => prop_assert_eq!(tail.remove(seq), map.remove(&seq)),
                Step::Advance(first) => {
                    tail.advance(first);
                    map = map.split_off(&first);
                }
                Step::Truncate(from) => {
                    tail.truncate(from);
                    map.split_off(&from);
                    last = last.min(from.saturating_sub(1)).max(map.keys().next_back().copied().unwrap_or(0));
                }
                Step::RemoveRange(from, to) => {
                    tail.remove_range(from..=to);
                    map.retain(|seq, _| !(from..=to).contains(seq));
                }
            }
            prop_assert_eq!(tail.len(), map.len());
            prop_assert_eq!(tail.bytes() == 0, map.is_empty());
        }
        prop_assert!(tail.iter().map(|(seq, item)| (seq, *item)).eq(map.iter().map(|(seq, item)| (*seq, *item))));
        for seq in 0..=last {
            prop_assert_eq!(tail.get(seq), map.get(&seq));
        }
    }
}
