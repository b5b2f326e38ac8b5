use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The definition, as plainly as it can be said.
fn naive(pattern: &[u8], literal: &[u8]) -> bool {
    let pattern: Vec<&[u8]> = pattern.split(|&byte| byte == b'.').collect();
    let literal: Vec<&[u8]> = literal.split(|&byte| byte == b'.').collect();
    if literal.iter().any(|token| token.is_empty()) {
        return false;
    }
    let open_ended = pattern.last() == Some(&&b">"[..]);
    let fixed = if open_ended { &pattern[..pattern.len() - 1] } else { &pattern[..] };
    let lengths_fit = if open_ended { literal.len() > fixed.len() } else { literal.len() == fixed.len() };
    lengths_fit && fixed.iter().zip(&literal).all(|(wanted, token)| *wanted == b"*" || wanted == token)
}

/// Every literal of up to five tokens over an alphabet with one token that no pattern of these tests names.
fn literals() -> Vec<Vec<u8>> {
    const TOKENS: [&str; 4] = ["a", "b", "f*", "fresh"];
    let mut all: Vec<String> = Vec::new();
    let mut level = vec![String::new()];
    for _ in 0..5 {
        let longer = |start: &String| {
            TOKENS.map(|token| if start.is_empty() { token.to_owned() } else { format!("{start}.{token}") })
        };
        level = level.iter().flat_map(longer).collect();
        all.extend(level.iter().cloned());
    }
    all.into_iter().map(String::into_bytes).collect()
}

fn pattern() -> impl Strategy<Value = Vec<u8>> {
    let token = prop::sample::select(vec!["a", "b", "f*", "*"]);
    (prop::collection::vec(token, 0..4), any::<bool>())
        .prop_filter("one token at least", |(tokens, rest)| *rest || !tokens.is_empty())
        .prop_map(|(mut tokens, rest)| {
            if rest && tokens.len() < 4 {
                tokens.push(">");
            }
            tokens.join(".").into_bytes()
        })
}

fn literal() -> impl Strategy<Value = Vec<u8>> {
    let token = prop::sample::select(vec!["a", "b", "f*", "fresh", "*", ">", ""]);
    prop::collection::vec(token, 1..5).prop_map(|tokens| tokens.join(".").into_bytes())
}

#[test]
fn what_may_be_subscribed_to() {
    for good in ["a", "a.b", "*", ">", "a.*", "a.>", "*.*.>", "foo*", "f*o.x", "a>", ">a.b", "$SYS.x", "a.*b", "\0"] {
        assert!(is_valid_subscription(good.as_bytes()), "{good}");
    }
    for bad in ["", ".", "a.", ".a", "a..b", ">.a", "a.>.b"] {
        assert!(!is_valid_subscription(bad.as_bytes()), "{bad}");
    }
    assert!(is_valid_subscription(b"\xff\xfe.a"));
    assert!(is_valid_subscription(&vec![b'x'; MAX_SUBJECT_BYTES]));
    assert!(!is_valid_subscription(&vec![b'x'; MAX_SUBJECT_BYTES + 1]));
}

#[test]
fn what_is_literal_and_publishable() {
    assert!(is_literal(b"foo*.a>") && is_publishable(b"foo*.a>"));
    for wild in ["*", ">", "a.*", "a.>", "a.*.b"] {
        assert!(!is_literal(wild.as_bytes()) && !is_publishable(wild.as_bytes()), "{wild}");
    }
    for gap in ["", "a..b", ".a", "a."] {
        assert!(has_empty_token(gap.as_bytes()) && !is_publishable(gap.as_bytes()), "{gap:?}");
    }
    assert!(!has_empty_token(b"a.b"));
}

#[test]
fn configuration_is_stricter() {
    assert!(is_valid_config_subject(b"a.*.>"));
    for blank in ["a b", "a\tb", "a\r", "a\n.b", "a\x0cb"] {
        assert!(is_valid_subscription(blank.as_bytes()) && !is_valid_config_subject(blank.as_bytes()));
    }
}

#[test]
fn published_wildcards_are_ordinary_tokens() {
    assert!(matches(b"foo.*", b"foo.*") && matches(b"foo.*", b"foo.>") && matches(b"*.>", b"foo.*"));
    assert!(!matches(b"foo.bar", b"foo.*") && !matches(b">", b"a..b") && !matches(b">", b"") && !matches(b"a.>", b"a"));
    let mut index = SubjectIndex::new();
    index.insert(b"foo.*", 1);
    index.insert(b"foo.bar", 2);
    assert_eq!(found(&index, b"foo.*"), [1]);
    assert_eq!(found(&index, b"foo.>"), [1]);
    assert_eq!(found(&index, b"foo..x"), [] as [i32; 0]);
}

#[test]
fn a_table_that_was_full_is_empty_again() {
    let mut index = SubjectIndex::new();
    let patterns: Vec<String> =
        (0..1000).map(|n| format!("a.{n}.{}.x", if n % 2 == 0 { "*".into() } else { n.to_string() })).collect();
    for pattern in &patterns {
        index.insert(pattern.as_bytes(), 0);
    }
    assert_eq!((index.len(), index.patterns().count()), (1000, 1000));
    for pattern in &patterns {
        assert_eq!(index.remove(pattern.as_bytes(), |_| true), Some(0));
        assert_eq!(index.remove(pattern.as_bytes(), |_| true), None);
    }
    assert!(index.is_empty() && index.patterns().next().is_none() && !index.has_match(b"a.1.1.x"));
}

#[test]
fn thousands_of_tokens_need_no_stack() {
    let long = [b"a.".repeat(MAX_TOKENS - 1), b"a".to_vec()].concat();
    let stars = [b"*.".repeat(MAX_TOKENS - 1), b"*".to_vec()].concat();
    let mut index = SubjectIndex::new();
    index.insert(&stars, ());
    assert!(index.has_match(&long));
    let mut tree = SubjectTree::new();
    tree.insert(&long, ());
    assert!(tree.has_match(&stars) && tree.has_match(b">") && !tree.has_match(b"*.a"));
    assert_eq!(index.remove(&stars, |_| true), Some(()));
    assert_eq!(tree.remove(&long), Some(()));
}

#[test]
fn a_filter_of_nothing_wants_everything() {
    for filter in [Filter::everything(), Filter::new([""]), Filter::new::<&str>([]), Filter::new([">"])] {
        assert!(filter.is_everything() && filter.matches(b"a.b") && filter.literal().is_none());
    }
    let one = Filter::new(["a.b"]);
    assert_eq!((one.literal(), one.is_everything()), (Some(&b"a.b"[..]), false));
    assert!(one.matches(b"a.b") && !one.matches(b"a.c"));
    assert_eq!(Filter::new(["a.*"]).literal(), None);
    let two = Filter::new(["a", "b"]);
    assert_eq!((two.literal(), two.patterns().len()), (None, 2));
    assert_eq!(two, Filter::new(["a", "b"]));
    assert_ne!(two, one);
}

fn found(index: &SubjectIndex<i32>, literal: &[u8]) -> Vec<i32> {
    let mut values = Vec::new();
    index.find(literal, &mut |value| values.push(*value));
    values.sort_unstable();
    values
}

proptest! {
    #[test]
    fn matching_is_as_defined(pattern in pattern(), literal in literal()) {
        prop_assert_eq!(matches(&pattern, &literal), naive(&pattern, &literal));
    }

    #[test]
    fn colliding_means_a_common_literal(a in pattern(), b in pattern()) {
        let common = literals().iter().any(|literal| naive(&a, literal) && naive(&b, literal));
        prop_assert_eq!(collides(&a, &b), common);
        prop_assert_eq!(collides(&b, &a), common);
    }

    #[test]
    fn a_subset_matches_nothing_else(a in pattern(), of in pattern()) {
        let within = literals().iter().all(|literal| !naive(&a, literal) || naive(&of, literal));
        prop_assert_eq!(is_subset(&a, &of), within);
    }

    #[test]
    fn validity_is_as_defined(subject in "[a*>. ]{0,6}") {
        let tokens: Vec<&str> = subject.split('.').collect();
        let early_rest = tokens[..tokens.len() - 1].contains(&">");
        let valid = !tokens.contains(&"") && !early_rest;
        prop_assert_eq!(is_valid_subscription(subject.as_bytes()), valid);
        prop_assert_eq!(is_valid_config_subject(subject.as_bytes()), valid && !subject.contains(' '));
        prop_assert_eq!(is_literal(subject.as_bytes()), !tokens.contains(&"*") && !tokens.contains(&">"));
        prop_assert_eq!(has_empty_token(subject.as_bytes()), tokens.contains(&""));
    }

    #[test]
    fn the_index_finds_what_a_list_finds(
        steps in prop::collection::vec((pattern(), 0..6i32, any::<bool>()), 1..60),
        probes in prop::collection::vec(literal(), 20),
    ) {
        let mut index = SubjectIndex::new();
        let mut list: Vec<(Vec<u8>, i32)> = Vec::new();
        for (pattern, value, add) in steps {
            if add {
                index.insert(&pattern, value);
                list.push((pattern, value));
            } else {
                let place = list.iter().position(|entry| entry.0 == pattern && entry.1 == value);
                let expected = place.map(|place| list.swap_remove(place).1);
                prop_assert_eq!(index.remove(&pattern, |stored| *stored == value), expected);
            }
            prop_assert_eq!(index.len(), list.len());
        }
        for literal in &probes {
            let mut expected: Vec<i32> =
                list.iter().filter(|(pattern, _)| naive(pattern, literal)).map(|(_, value)| *value).collect();
            expected.sort_unstable();
            prop_assert_eq!(index.has_match(literal), !expected.is_empty());
            prop_assert_eq!(found(&index, literal), expected);
        }
        let mut listed: BTreeMap<Vec<u8>, Vec<i32>> = BTreeMap::new();
        for (pattern, value) in &list {
            listed.entry(pattern.clone()).or_default().push(*value);
        }
        let mut stored: BTreeMap<Vec<u8>, Vec<i32>> =
            index.patterns().map(|(pattern, values)| (pattern.into_owned(), values.to_vec())).collect();
        listed.values_mut().chain(stored.values_mut()).for_each(|values| values.sort_unstable());
        prop_assert_eq!(&stored, &listed);
        for (pattern, values) in listed {
            let mut exact = index.exactly(&pattern).to_vec();
            exact.sort_unstable();
            prop_assert_eq!(&exact, &values);
            index.exactly_mut(&pattern).iter_mut().for_each(|value| *value += 100);
            prop_assert!(index.exactly(&pattern).iter().all(|value| *value >= 100));
            index.exactly_mut(&pattern).iter_mut().for_each(|value| *value -= 100);
        }
        while let Some((pattern, value)) = list.pop() {
            prop_assert_eq!(index.remove(&pattern, |stored| *stored == value), Some(value));
        }
        prop_assert!(index.patterns().next().is_none());
    }

    #[test]
    fn the_tree_finds_what_a_map_finds(
        steps in prop::collection::vec(("[ab*]{1,18}(\\.[ab>]{1,2}){0,3}", any::<u8>(), any::<bool>()), 1..60),
        probes in prop::collection::vec(pattern(), 10),
    ) {
        let mut tree = SubjectTree::new();
        let mut map: BTreeMap<Vec<u8>, u8> = BTreeMap::new();
        for (subject, value, add) in steps {
            let subject = subject.into_bytes();
            if add {
                prop_assert_eq!(tree.insert(&subject, value), map.insert(subject.clone(), value));
            } else {
                let known = map.keys().next().cloned().unwrap_or(subject);
                prop_assert_eq!(tree.remove(&known), map.remove(&known));
            }
            prop_assert_eq!(tree.len(), map.len());
        }
        for (subject, value) in &map {
            prop_assert_eq!(tree.get(subject), Some(value));
            prop_assert_eq!(*tree.get_or_insert_with(subject, || unreachable!()), *value);
        }
        for pattern in probes.iter().map(|pattern| &pattern[..]).chain(map.keys().map(|subject| &subject[..])) {
            let mut found = Vec::new();
            tree.matching(pattern, &mut |subject, value| found.push((subject.to_vec(), *value)));
            found.sort();
            let expected: Vec<(Vec<u8>, u8)> =
                map.iter().filter(|(subject, _)| naive(pattern, subject)).map(|(s, v)| (s.clone(), *v)).collect();
            prop_assert_eq!(tree.has_match(pattern), !expected.is_empty());
            prop_assert_eq!(found, expected);
            let first = tree.try_matching(pattern, &mut |_, value| ControlFlow::Break(*value));
            prop_assert_eq!(first.is_break(), tree.has_match(pattern));
        }
        for subject in map.keys() {
            tree.remove(subject);
        }
        prop_assert!(tree.is_empty() && !tree.has_match(b">"));
        tree.insert(b"a.b", 1);
        tree.clear();
        prop_assert!(tree.is_empty() && tree.get(b"a.b").is_none());
    }

    #[test]
    fn a_filter_is_any_of_its_patterns(patterns in prop::collection::vec(pattern(), 1..20), literal in literal()) {
        prop_assume!(!has_empty_token(&literal));
        let filter = Filter::new(&patterns);
        prop_assert_eq!(filter.matches(&literal), patterns.iter().any(|pattern| naive(pattern, &literal)));
        prop_assert!(filter.patterns().eq(patterns.iter().map(|pattern| &pattern[..])));
    }
}
