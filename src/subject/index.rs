//! From patterns to values, found by literal subject: who is to have this message.

use super::trie::{NONE, NodeId, ROOT, Trie, Vacant};
use super::valid::{ONE, REST, is_literal, tokens};
use ahash::RandomState;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Most patterns have one subscriber.
type Values<V> = SmallVec<[V; 1]>;

/// A table of patterns, each with any number of values.
///
/// Patterns without wildcards are one hash look-up, however many there are. Wildcard patterns lie in a trie; a look-up
/// visits only those nodes whose path the subject matches. Patterns are expected to be valid subscriptions
/// ([`is_valid_subscription`](super::is_valid_subscription)).
#[derive(Debug)]
pub struct SubjectIndex<V> {
    literals: HashMap<Box<[u8]>, Values<V>, RandomState>,
    wildcards: Trie<Branch<V>>,
    /// Values stored, over all patterns.
    len: usize,
    /// Values stored in `wildcards`.
    wild: usize,
}

/// What a node of the trie holds: values of the pattern that ends here, and of the one that ends here with `.>`.
#[derive(Debug)]
struct Branch<V> {
    here: Values<V>,
    rest: Values<V>,
    /// The child under `*`, which every look-up asks for.
    one: NodeId,
}

/// The longest subject, in tokens, that is looked up without allocating.
const USUAL_TOKENS: usize = 16;

impl<V> SubjectIndex<V> {
    pub fn new() -> Self {
        Self { literals: HashMap::default(), wildcards: Trie::new(), len: 0, wild: 0 }
    }

    /// Values stored, over all patterns.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a value under a pattern, beside those already there.
    pub fn insert(&mut self, pattern: &[u8], value: V) {
        self.len += 1;
        if is_literal(pattern) {
            match self.literals.get_mut(pattern) {
                Some(values) => values.push(value),
                None => drop(self.literals.insert(pattern.into(), smallvec::smallvec![value])),
            }
            return;
        }
        self.wild += 1;
        let (path, ends_in_rest) = split_rest(pattern);
        let node = path.fold(ROOT, |node, token| {
            let child = self.wildcards.child_or_new(node, token);
            if token == ONE {
                self.wildcards.value_mut(node).one = child;
            }
            child
        });
        self.wildcards.value_mut(node).values_mut(ends_in_rest).push(value);
    }

    /// Takes out the first value under exactly this pattern that `which` accepts.
    pub fn remove(&mut self, pattern: &[u8], which: impl FnMut(&V) -> bool) -> Option<V> {
        if is_literal(pattern) {
            // The entry needs an owned key: look first, so that only a hit allocates.
            let values = self.literals.get_mut(pattern)?;
            let value = take(values, which)?;
            if values.is_empty()
                && let Entry::Occupied(entry) = self.literals.entry(pattern.into())
            {
                entry.remove();
            }
            self.len -= 1;
            return Some(value);
        }
        let (node, ends_in_rest) = self.locate(pattern);
        if node == NONE {
            return None;
        }
        let value = take(self.wildcards.value_mut(node).values_mut(ends_in_rest), which)?;
        self.wildcards.prune(node, Branch::forget);
        self.len -= 1;
        self.wild -= 1;
        Some(value)
    }

    /// Visits every value whose pattern matches a published subject. A subject with an empty token matches nothing.
    pub fn find(&self, literal: &[u8], visit: &mut impl FnMut(&V)) {
        self.walk(literal, &mut |values| {
            values.iter().for_each(&mut *visit);
            true
        });
    }

    /// Whether any pattern matches a published subject.
    pub fn has_match(&self, literal: &[u8]) -> bool {
        let mut found = false;
        self.walk(literal, &mut |values| {
            found |= !values.is_empty();
            !found
        });
        found
    }

    /// The values stored under literally this pattern, in no particular order.
    pub fn exactly(&self, pattern: &[u8]) -> &[V] {
        if is_literal(pattern) {
            return self.literals.get(pattern).map_or(&[], |values| &values[..]);
        }
        match self.locate(pattern) {
            (NONE, _) => &[],
            (node, ends_in_rest) => self.wildcards.value(node).values(ends_in_rest),
        }
    }

    /// Like [`exactly`](Self::exactly), to change the values in place.
    pub fn exactly_mut(&mut self, pattern: &[u8]) -> &mut [V] {
        if is_literal(pattern) {
            return self.literals.get_mut(pattern).map_or(&mut [], |values| &mut values[..]);
        }
        match self.locate(pattern) {
            (NONE, _) => &mut [],
            (node, ends_in_rest) => self.wildcards.value_mut(node).values_mut(ends_in_rest),
        }
    }

    /// Every pattern with its values, in no particular order.
    pub fn patterns(&self) -> impl Iterator<Item = (Cow<'_, [u8]>, &[V])> {
        let literals = self.literals.iter().map(|(pattern, values)| (Cow::from(&pattern[..]), &values[..]));
        let wildcards = std::iter::once(ROOT).chain(self.wildcards.nodes()).flat_map(|node| {
            let branch = self.wildcards.value(node);
            let here = (!branch.here.is_empty()).then(|| (Cow::from(self.wildcards.subject(node)), &branch.here[..]));
            let rest = (!branch.rest.is_empty()).then(|| {
                let mut pattern = self.wildcards.subject(node);
                pattern.extend_from_slice(if node == ROOT { b">" } else { b".>" });
                (Cow::from(pattern), &branch.rest[..])
            });
            here.into_iter().chain(rest)
        });
        literals.chain(wildcards)
    }

    /// Hands over the values of each matching pattern until `visit` returns false.
    fn walk(&self, literal: &[u8], visit: &mut impl FnMut(&[V]) -> bool) {
        // No stored pattern has an empty token, so a subject with one finds nothing here.
        if let Some(values) = self.literals.get(literal)
            && !visit(values)
        {
            return;
        }
        if self.wild > 0 {
            self.walk_wildcards(literal, visit);
        }
    }

    fn walk_wildcards(&self, literal: &[u8], visit: &mut impl FnMut(&[V]) -> bool) {
        let path: SmallVec<[&[u8]; USUAL_TOKENS]> = tokens(literal).collect();
        if path.iter().any(|token| token.is_empty()) {
            return;
        }
        let mut open: SmallVec<[(NodeId, usize); USUAL_TOKENS]> = smallvec::smallvec![(ROOT, 0)];
        while let Some((node, depth)) = open.pop() {
            let branch = self.wildcards.value(node);
            let Some(&token) = path.get(depth) else {
                if !branch.here.is_empty() && !visit(&branch.here) {
                    return;
                }
                continue;
            };
            if !branch.rest.is_empty() && !visit(&branch.rest) {
                return;
            }
            if branch.one != NONE {
                open.push((branch.one, depth + 1));
            }
            // A published `*` is covered by the child just pushed.
            if token != ONE {
                let child = self.wildcards.child(node, token);
                if child != NONE {
                    open.push((child, depth + 1));
                }
            }
        }
    }

    /// The node a wildcard pattern leads to, or [`NONE`], and whether its values are those under `.>`.
    fn locate(&self, pattern: &[u8]) -> (NodeId, bool) {
        let (path, ends_in_rest) = split_rest(pattern);
        let mut node = ROOT;
        for token in path {
            node = self.wildcards.child(node, token);
            if node == NONE {
                break;
            }
        }
        (node, ends_in_rest)
    }
}

impl<V> Default for SubjectIndex<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> Branch<V> {
    fn values(&self, ends_in_rest: bool) -> &[V] {
        if ends_in_rest { &self.rest } else { &self.here }
    }

    fn values_mut(&mut self, ends_in_rest: bool) -> &mut Values<V> {
        if ends_in_rest { &mut self.rest } else { &mut self.here }
    }

    fn forget(&mut self, child: NodeId) {
        if self.one == child {
            self.one = NONE;
        }
    }
}

impl<V> Default for Branch<V> {
    fn default() -> Self {
        Self { here: Values::new(), rest: Values::new(), one: NONE }
    }
}

impl<V> Vacant for Branch<V> {
    fn is_vacant(&self) -> bool {
        self.here.is_empty() && self.rest.is_empty()
    }
}

/// The tokens of a pattern without a final `>`, and whether there was one.
fn split_rest(pattern: &[u8]) -> (impl Iterator<Item = &[u8]>, bool) {
    let before = match pattern {
        REST => Some(&[][..]),
        _ => pattern.strip_suffix(b".>"),
    };
    // A bare `>` has no token before it, not an empty one.
    let path = tokens(before.unwrap_or(pattern)).filter(move |token| !(pattern == REST && token.is_empty()));
    (path, before.is_some())
}

fn take<V>(values: &mut Values<V>, which: impl FnMut(&V) -> bool) -> Option<V> {
    let place = values.iter().position(which)?;
    Some(values.swap_remove(place))
}
