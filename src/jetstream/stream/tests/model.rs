//! Contents, index and look-ups against a model that is too simple to be wrong.

use crate::jetstream::stream::contents::{Cause, Changes, Contents};
use crate::jetstream::stream::lookup::PageLimit;
use crate::jetstream::stream::seqs::Seqs;
use crate::subject::{Filter, matches};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq)]
struct Naive {
    messages: BTreeMap<u64, (String, i64, u32)>,
    first: u64,
    last: u64,
}

#[derive(Clone, Debug)]
enum Step {
    Append(u8, u32),
    Skip,
    Remove(u64),
    RemoveFirst(u8),
    Wipe,
    Seal,
    Settle,
    Fail(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0u8..12, 1u32..100).prop_map(|(subject, size)| Step::Append(subject, size)),
        1 => Just(Step::Skip),
        3 => (1u64..700).prop_map(Step::Remove),
        2 => (1u8..200).prop_map(Step::RemoveFirst),
        1 => Just(Step::Wipe),
        3 => Just(Step::Seal),
        2 => Just(Step::Settle),
        1 => (0usize..4).prop_map(Step::Fail),
    ];
    // Long runs of appends make full chunks.
    let run = (1usize..300, 0u8..12).prop_map(|(n, subject)| vec![Step::Append(subject, 10); n]);
    prop::collection::vec(prop_oneof![6 => step.prop_map(|step| vec![step]), 1 => run], 1..60)
        .prop_map(|runs| runs.into_iter().flatten().collect())
}

fn subject(number: u8) -> String {
    format!("a.{}.{}", number % 4, number / 4)
}

impl Naive {
    fn remove(&mut self, seq: u64) {
        if self.messages.remove(&seq).is_some() && seq == self.first {
            self.first = self.messages.keys().next().copied().unwrap_or(self.last + 1);
        }
    }
}

fn check(contents: &Contents, naive: &Naive) {
    let bytes: u64 = naive.messages.values().map(|(_, _, size)| u64::from(*size)).sum();
    assert_eq!(contents.messages(), naive.messages.len() as u64);
    assert_eq!((contents.bytes(), contents.first(), contents.last()), (bytes, naive.first, naive.last));
    let subjects: BTreeSet<&String> = naive.messages.values().map(|(subject, ..)| subject).collect();
    assert_eq!(contents.num_subjects(), subjects.len());
    let held: Vec<u64> = contents.index.scan(0).map(|(seq, _)| seq).collect();
    assert!(held.iter().eq(naive.messages.keys()), "scan");
    let back: Vec<u64> = contents.index.scan_back(u64::MAX).map(|(seq, _)| seq).collect();
    assert!(back.iter().eq(naive.messages.keys().rev()), "scan back");
}

fn check_lookups(contents: &Contents, naive: &Naive, from: u64) {
    for pattern in ["a.1.0", "a.*.1", "a.2.>", "a.>", "b", ">"] {
        let filter = Filter::new([pattern]);
        let wanted = |seq: &u64| matches(pattern.as_bytes(), naive.messages[seq].0.as_bytes());
        let held: Vec<u64> = naive.messages.keys().copied().filter(wanted).collect();
        let after: Vec<u64> = held.iter().copied().filter(|seq| *seq >= from).collect();
        assert_eq!(contents.next_matching(&filter, from), after.first().copied());
        assert_eq!(contents.last_matching(&filter, from), held.iter().rfind(|seq| **seq <= from).copied());
        assert_eq!(contents.count_matching(&filter, from), after.len() as u64);
        let mut newest: BTreeMap<&String, u64> = BTreeMap::new();
        newest.extend(held.iter().filter(|seq| **seq <= from).map(|seq| (&naive.messages[seq].0, *seq)));
        let newest: BTreeSet<u64> = newest.into_values().collect();
        assert!(contents.last_of_each(&filter, from).into_iter().eq(newest), "last of each");
        let limit = PageLimit { upto: naive.last, messages: 3, bytes: u64::MAX, budget: 10_000 };
        let first: Vec<u64> = after.iter().copied().take(3).collect();
        let next = if after.len() > 3 { after[3] } else { naive.last + 1 };
        let subjects = &contents.subjects;
        let page = contents.page_where(|id| filter.matches(&subjects.slot(id).name), from, limit);
        assert_eq!((&page.seqs, page.next), (&first, next.max(from)), "page where {pattern}");
        if let Some(few) = contents.few_matching(&filter) {
            let page = contents.page_of(&few, from, limit);
            assert_eq!((&page.seqs, page.next), (&first, next.max(from)), "page of {pattern}");
        }
    }
    let since = naive.messages.iter().find(|(_, (_, at, _))| *at >= from as i64 * 10).map(|(seq, _)| *seq);
    assert_eq!(contents.index.first_since(from as i64 * 10).map(|(seq, _)| seq), since);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn contents_are_as_the_model_says_also_after_failures(steps in steps(), from in 0u64..800) {
        let mut contents = Contents::new(1);
        let mut naive = Naive { messages: BTreeMap::new(), first: 1, last: 0 };
        // What is sealed and not settled, each with the model before it; then what is not sealed.
        let mut flying: Vec<(Naive, Changes)> = Vec::new();
        let mut open = naive.clone();
        for step in steps {
            let is_append = matches!(step, Step::Append(..));
            match step {
                Step::Append(number, size) => {
                    let at = (naive.last as i64 + 1) * 10;
                    let stored = contents.append(subject(number).as_bytes(), at, size);
                    naive.last += 1;
                    prop_assert_eq!(stored.seq, naive.last);
                    naive.messages.insert(naive.last, (subject(number), at, size));
                }
                Step::Skip => {
                    contents.skip(0);
                    naive.last += 1;
                    if naive.messages.is_empty() {
                        naive.first = naive.last + 1;
                    }
                }
                Step::Remove(seq) => {
                    prop_assert_eq!(contents.remove(seq, Cause::Gone).is_some(), naive.messages.contains_key(&seq));
                    naive.remove(seq);
                }
                Step::RemoveFirst(n) => for _ in 0..n {
                    contents.remove(naive.first, Cause::Gone);
                    naive.remove(naive.first);
                },
                Step::Wipe => {
                    let changes = contents.seal();
                    flying.push((open.clone(), changes));
                    open = naive.clone();
                    contents.wipe();
                    naive.messages.clear();
                    naive.first = naive.last + 1;
                }
                Step::Seal => {
                    let changes = contents.seal();
                    flying.push((open.clone(), changes));
                    open = naive.clone();
                }
                Step::Settle => if !flying.is_empty() {
                    let (_, changes) = flying.remove(0);
                    drop(contents.settle(changes, |_, _| {}));
                },
                Step::Fail(which) => {
                    let changes = contents.seal();
                    flying.push((open.clone(), changes));
                    let at = which.min(flying.len() - 1);
                    naive = flying[at].0.clone();
                    flying.drain(at..).rev().for_each(|(_, changes)| contents.undo(changes));
                    open = naive.clone();
                }
            }
            if !is_append {
                check(&contents, &naive);
            }
        }
        check(&contents, &naive);
        check_lookups(&contents, &naive, from);
    }

    #[test]
    fn sequences_of_a_subject_are_a_sorted_set(steps in prop::collection::vec((any::<bool>(), 0u64..40), 0..120), from in 0u64..45) {
        let (mut seqs, mut set) = (Seqs::default(), BTreeSet::new());
        for (insert, seq) in steps {
            match insert {
                true => { seqs.insert(seq); set.insert(seq); }
                false => { seqs.remove(seq); set.remove(&seq); }
            }
            prop_assert_eq!((seqs.len(), seqs.first(), seqs.last()), (set.len() as u64, set.first().copied(), set.last().copied()));
            prop_assert_eq!(seqs.next(from), set.range(from..).next().copied());
            prop_assert_eq!(seqs.previous(from), set.range(..=from).next_back().copied());
            prop_assert_eq!(seqs.count_from(from), set.range(from..).count() as u64);
        }
    }
}
