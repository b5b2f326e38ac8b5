//! From literal subjects to values, found by pattern: what a stream holds of each subject.

use super::trie::{NONE, NodeId, ROOT, Trie, Vacant};
use super::valid::{ONE, REST, tokens};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// A map from literal subjects to values that also finds by pattern, without looking at branches that cannot match.
///
/// Made for millions of subjects: a subject costs one node for each token it does not share with another (48 bytes and
/// its `V`, plus about 10 in the table of edges; tokens over 16 bytes add their own length).
#[derive(Debug)]
pub struct SubjectTree<V> {
    trie: Trie<Option<V>>,
    len: usize,
}

impl<V> SubjectTree<V> {
    pub fn new() -> Self {
        Self { trie: Trie::new(), len: 0 }
    }

    /// Subjects stored.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value of a subject; `*` and `>` in it are ordinary tokens.
    pub fn get(&self, subject: &[u8]) -> Option<&V> {
        match self.trie.locate(subject) {
            NONE => None,
            node => self.trie.value(node).as_ref(),
        }
    }

    pub fn get_mut(&mut self, subject: &[u8]) -> Option<&mut V> {
        match self.trie.locate(subject) {
            NONE => None,
            node => self.trie.value_mut(node).as_mut(),
        }
    }

    /// Stores a value and returns the one it replaces.
    pub fn insert(&mut self, subject: &[u8], value: V) -> Option<V> {
        let node = self.trie.locate_or_new(subject);
        let before = self.trie.value_mut(node).replace(value);
        self.len += usize::from(before.is_none());
        before
    }

    /// The value of a subject, made if there is none.
    pub fn get_or_insert_with(&mut self, subject: &[u8], make: impl FnOnce() -> V) -> &mut V {
        let node = self.trie.locate_or_new(subject);
        let value = self.trie.value_mut(node);
        self.len += usize::from(value.is_none());
        value.get_or_insert_with(make)
    }

    pub fn remove(&mut self, subject: &[u8]) -> Option<V> {
        let node = self.trie.locate(subject);
        if node == NONE {
            return None;
        }
        let value = self.trie.value_mut(node).take()?;
        self.trie.prune(node, |_, _| {});
        self.len -= 1;
        Some(value)
    }

    /// Forgets everything and gives the memory back.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Visits every stored subject that matches the pattern, in no particular order.
    pub fn matching(&self, pattern: &[u8], visit: &mut impl FnMut(&[u8], &V)) {
        let all = self.try_matching(pattern, &mut |subject, value| {
            visit(subject, value);
            ControlFlow::<()>::Continue(())
        });
        debug_assert!(all.is_continue());
    }

    /// Like [`matching`](Self::matching), until the visitor breaks; returns what it broke with.
    pub fn try_matching<B>(
        &self,
        pattern: &[u8],
        visit: &mut impl FnMut(&[u8], &V) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        Search::new(&self.trie, pattern).run(visit)
    }

    /// Whether any stored subject matches the pattern.
    pub fn has_match(&self, pattern: &[u8]) -> bool {
        self.try_matching(pattern, &mut |_, _| ControlFlow::Break(())).is_break()
    }
}

impl<V> Default for SubjectTree<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> Vacant for Option<V> {
    fn is_vacant(&self) -> bool {
        self.is_none()
    }
}

/// One walk over the tree, depth first, with a stack of its own.
struct Search<'a, V> {
    trie: &'a Trie<Option<V>>,
    wanted: SmallVec<[&'a [u8]; 16]>,
    open: SmallVec<[Step; 16]>,
    /// The subject so far.
    subject: Vec<u8>,
}

/// A node to visit. With `siblings` its next sibling follows, so that a wide level costs one place on the stack.
#[derive(Clone, Copy)]
struct Step {
    node: NodeId,
    depth: usize,
    /// Length of the subject before this node's token.
    before: usize,
    siblings: bool,
}

impl<'a, V> Search<'a, V> {
    fn new(trie: &'a Trie<Option<V>>, pattern: &'a [u8]) -> Self {
        let mut search =
            Self { trie, wanted: tokens(pattern).collect(), open: SmallVec::new(), subject: Vec::with_capacity(64) };
        search.descend(ROOT, 0);
        search
    }

    fn run<B>(mut self, visit: &mut impl FnMut(&[u8], &V) -> ControlFlow<B>) -> ControlFlow<B> {
        while let Some(step) = self.open.pop() {
            if step.siblings {
                self.push(self.trie.next_sibling(step.node), step.depth, step.before, true);
            }
            self.subject.truncate(step.before);
            if step.before > 0 || step.depth > 0 {
                self.subject.push(b'.');
            }
            self.subject.extend_from_slice(self.trie.token(step.node));
            if self.ends_at(step.depth)
                && let Some(value) = self.trie.value(step.node)
            {
                visit(&self.subject, value)?;
            }
            self.descend(step.node, step.depth + 1);
        }
        ControlFlow::Continue(())
    }

    /// Opens those children of a node that the token wanted at this depth allows.
    fn descend(&mut self, node: NodeId, depth: usize) {
        let before = self.subject.len();
        match self.wanted_at(depth) {
            None => {}
            Some(ONE) => self.push(self.trie.first_child(node), depth, before, true),
            Some(REST) if self.is_rest(depth) => self.push(self.trie.first_child(node), depth, before, true),
            Some(token) => self.push(self.trie.child(node, token), depth, before, false),
        }
    }

    fn push(&mut self, node: NodeId, depth: usize, before: usize, siblings: bool) {
        if node != NONE {
            self.open.push(Step { node, depth, before, siblings });
        }
    }

    /// The token wanted at a depth; a final `>` is wanted at every depth from its own on.
    fn wanted_at(&self, depth: usize) -> Option<&'a [u8]> {
        match self.wanted.get(depth) {
            None if self.wanted.last() == Some(&REST) => Some(REST),
            token => token.copied(),
        }
    }

    fn is_rest(&self, depth: usize) -> bool {
        depth + 1 >= self.wanted.len()
    }

    fn ends_at(&self, depth: usize) -> bool {
        depth + 1 == self.wanted.len() || (depth >= self.wanted.len() && self.wanted.last() == Some(&REST))
    }
}
