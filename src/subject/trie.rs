//! A trie keyed by token, in one arena: nodes name each other by number, edges live in one hash table.
//!
//! That keeps a node small, lets a table of millions be freed in one go, and lets nothing recurse: a subject may have
//! thousands of tokens, which would be thousands of stack frames.

use super::valid::tokens;
use ahash::RandomState;
use hashbrown::HashTable;
use smallvec::SmallVec;

/// The number of a node in the arena.
pub(super) type NodeId = u32;

/// The node of the empty path; it is never removed.
pub(super) const ROOT: NodeId = 0;

/// No such node.
pub(super) const NONE: NodeId = NodeId::MAX;

/// Sixteen bytes fit in place, so that most tokens need no allocation of their own.
type Token = SmallVec<[u8; 16]>;

/// A trie whose nodes each hold a `T`; a node whose `T` is [`Vacant`] and that leads nowhere is pruned.
#[derive(Debug)]
pub(super) struct Trie<T> {
    nodes: Vec<Node<T>>,
    edges: HashTable<Edge>,
    /// First of the chain of freed nodes, linked through `next`.
    free: NodeId,
    hasher: RandomState,
}

/// What a node holds when it holds nothing.
pub(super) trait Vacant: Default {
    fn is_vacant(&self) -> bool;
}

#[derive(Debug)]
struct Node<T> {
    token: Token,
    parent: NodeId,
    first_child: NodeId,
    next: NodeId,
    previous: NodeId,
    value: T,
}

/// The way from a node to its child. The hash is kept so that a growing table need not visit the nodes.
#[derive(Clone, Copy, Debug)]
struct Edge {
    hash: u32,
    child: NodeId,
}

/// The table wants its tag from the upper and its place from the lower bits.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

impl<T: Vacant> Trie<T> {
    pub fn new() -> Self {
        let hasher = RandomState::new();
        let mut trie = Self { nodes: Vec::new(), edges: HashTable::new(), free: NONE, hasher };
        trie.allocate(Token::new(), NONE);
        trie
    }

    pub fn value(&self, node: NodeId) -> &T {
        &self.nodes[node as usize].value
    }

    pub fn value_mut(&mut self, node: NodeId) -> &mut T {
        &mut self.nodes[node as usize].value
    }

    pub fn token(&self, node: NodeId) -> &[u8] {
        &self.nodes[node as usize].token
    }

    pub fn parent(&self, node: NodeId) -> NodeId {
        self.nodes[node as usize].parent
    }

    pub fn first_child(&self, node: NodeId) -> NodeId {
        self.nodes[node as usize].first_child
    }

    pub fn next_sibling(&self, node: NodeId) -> NodeId {
        self.nodes[node as usize].next
    }

    /// The child under this token, or [`NONE`].
    #[inline]
    pub fn child(&self, parent: NodeId, token: &[u8]) -> NodeId {
        if self.first_child(parent) == NONE {
            return NONE;
        }
        let hash = self.hash(parent, token);
        let found = self.edges.find(spread(hash), |edge| edge.hash == hash && self.is_child(edge.child, parent, token));
        found.map_or(NONE, |edge| edge.child)
    }

    /// The child under this token, made if there is none.
    pub fn child_or_new(&mut self, parent: NodeId, token: &[u8]) -> NodeId {
        let found = self.child(parent, token);
        if found != NONE {
            return found;
        }
        let child = self.allocate(Token::from_slice(token), parent);
        let head = self.first_child(parent);
        self.nodes[child as usize].next = head;
        if head != NONE {
            self.nodes[head as usize].previous = child;
        }
        self.nodes[parent as usize].first_child = child;
        let hash = self.hash(parent, token);
        self.edges.insert_unique(spread(hash), Edge { hash, child }, |edge| spread(edge.hash));
        child
    }

    /// The node at the end of a whole subject, or [`NONE`].
    pub fn locate(&self, subject: &[u8]) -> NodeId {
        let mut node = ROOT;
        for token in tokens(subject) {
            node = self.child(node, token);
            if node == NONE {
                break;
            }
        }
        node
    }

    /// The node at the end of a whole subject, made with all before it as needed.
    pub fn locate_or_new(&mut self, subject: &[u8]) -> NodeId {
        tokens(subject).fold(ROOT, |node, token| self.child_or_new(node, token))
    }

    /// Removes the node if it holds nothing and leads nowhere, then its parent likewise, and so on; `removed` is told
    /// of each parent that lost a child, before that parent is looked at.
    pub fn prune(&mut self, mut node: NodeId, mut removed: impl FnMut(&mut T, NodeId)) {
        while node != ROOT && self.first_child(node) == NONE && self.value(node).is_vacant() {
            let parent = self.parent(node);
            self.unlink(node);
            removed(self.value_mut(parent), node);
            node = parent;
        }
        if self.edges.is_empty() && self.nodes.len() > 1 {
            self.give_back();
        }
    }

    /// All nodes in use but the root, in no particular order.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.edges.iter().map(|edge| edge.child)
    }

    /// Writes the subject that leads to a node.
    pub fn subject(&self, node: NodeId) -> Vec<u8> {
        let mut path: SmallVec<[NodeId; 16]> = SmallVec::new();
        let mut at = node;
        while at != ROOT {
            path.push(at);
            at = self.parent(at);
        }
        let mut subject = Vec::new();
        for (place, &node) in path.iter().rev().enumerate() {
            if place > 0 {
                subject.push(b'.');
            }
            subject.extend_from_slice(self.token(node));
        }
        subject
    }

    fn hash(&self, parent: NodeId, token: &[u8]) -> u32 {
        // Half of a good hash is a good hash.
        self.hasher.hash_one((parent, token)) as u32
    }

    fn is_child(&self, node: NodeId, parent: NodeId, token: &[u8]) -> bool {
        let node = &self.nodes[node as usize];
        node.parent == parent && &node.token[..] == token
    }

    fn allocate(&mut self, token: Token, parent: NodeId) -> NodeId {
        let node = Node { token, parent, first_child: NONE, next: NONE, previous: NONE, value: T::default() };
        if self.free != NONE {
            let id = self.free;
            self.free = self.nodes[id as usize].next;
            self.nodes[id as usize] = node;
            return id;
        }
        let id = NodeId::try_from(self.nodes.len()).ok().filter(|&id| id != NONE);
        let id = id.expect("four billion nodes do not fit the memory of this machine");
        self.nodes.push(node);
        id
    }

    fn unlink(&mut self, node: NodeId) {
        let (parent, next, previous) = {
            let node = &self.nodes[node as usize];
            (node.parent, node.next, node.previous)
        };
        let token = std::mem::take(&mut self.nodes[node as usize].token);
        let hash = self.hash(parent, &token);
        if let Ok(edge) = self.edges.find_entry(spread(hash), |edge| edge.child == node) {
            edge.remove();
        }
        match previous {
            NONE => self.nodes[parent as usize].first_child = next,
            previous => self.nodes[previous as usize].next = next,
        }
        if next != NONE {
            self.nodes[next as usize].previous = previous;
        }
        self.nodes[node as usize].value = T::default();
        self.nodes[node as usize].next = self.free;
        self.free = node;
    }

    /// Only the root is left: what the crowd before it took is returned.
    fn give_back(&mut self) {
        self.nodes.truncate(1);
        self.nodes.shrink_to_fit();
        self.edges = HashTable::new();
        self.free = NONE;
    }
}
