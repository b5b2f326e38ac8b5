//! The subjects of a stream, each with a small number and the sequences it holds.

use super::seqs::Seqs;
use crate::subject::{SubjectTree, is_literal};
use std::ops::ControlFlow;

/// The number of a subject within its stream, as long as the stream holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubjectId(pub u32);

impl SubjectId {
    /// No subject.
    pub const NONE: Self = Self(u32::MAX);
}

/// A subject that a stream holds, or has just ceased to hold.
#[derive(Debug)]
pub struct Slot {
    pub name: Box<[u8]>,
    pub seqs: Seqs,
    /// Who listens to it; see [`Audiences`](super::audience::Audiences).
    pub audience: u32,
    /// Commits under way that may bring back a message on it.
    pub claims: u32,
}

/// Subjects by name, by pattern and by number.
#[derive(Debug, Default)]
pub struct SubjectTable {
    tree: SubjectTree<SubjectId>,
    slots: Vec<Slot>,
    free: Vec<SubjectId>,
    /// Subjects with at least one message.
    occupied: usize,
    /// The one asked for last: publishers repeat themselves.
    recent: Option<SubjectId>,
}

/// No audience has been found out yet.
pub const UNKNOWN_AUDIENCE: u32 = u32::MAX;

impl SubjectTable {
    /// Subjects with at least one message.
    pub fn occupied(&self) -> usize {
        self.occupied
    }

    /// The number of a subject, given to it if it has none; whether it is new.
    pub fn intern(&mut self, subject: &[u8]) -> (SubjectId, bool) {
        if let Some(recent) = self.recent
            && *self.slot(recent).name == *subject
        {
            return (recent, false);
        }
        let (id, new) = match self.tree.get(subject) {
            Some(id) => (*id, false),
            None => (self.add(subject), true),
        };
        self.recent = Some(id);
        (id, new)
    }

    pub fn find(&self, subject: &[u8]) -> Option<SubjectId> {
        self.tree.get(subject).copied()
    }

    /// What a number stands for. Only for numbers that this table gave and has not taken back.
    pub fn slot(&self, id: SubjectId) -> &Slot {
        &self.slots[id.0 as usize]
    }

    pub fn slot_mut(&mut self, id: SubjectId) -> &mut Slot {
        &mut self.slots[id.0 as usize]
    }

    /// The sequences of a subject; none if it is unknown.
    pub fn seqs(&self, subject: &[u8]) -> Option<&Seqs> {
        self.find(subject).map(|id| &self.slot(id).seqs)
    }

    pub fn put(&mut self, id: SubjectId, seq: u64) {
        let seqs = &mut self.slots[id.0 as usize].seqs;
        self.occupied += usize::from(seqs.is_empty());
        seqs.insert(seq);
    }

    /// Takes a sequence from a subject; whether it was the last one.
    pub fn take(&mut self, id: SubjectId, seq: u64) -> bool {
        let seqs = &mut self.slots[id.0 as usize].seqs;
        let before = seqs.is_empty();
        seqs.remove(seq);
        let emptied = !before && seqs.is_empty();
        self.occupied -= usize::from(emptied);
        emptied
    }

    /// Takes a number back if its subject still holds nothing; whether it did.
    pub fn release(&mut self, id: SubjectId) -> bool {
        let slot = &mut self.slots[id.0 as usize];
        if !slot.seqs.is_empty() || slot.name.is_empty() {
            return false;
        }
        let name = std::mem::take(&mut slot.name);
        self.tree.remove(&name);
        self.free.push(id);
        if self.recent == Some(id) {
            self.recent = None;
        }
        true
    }

    /// Visits every subject that holds something and matches; all of them for `>`.
    pub fn matching(&self, pattern: &[u8], visit: &mut impl FnMut(SubjectId, &Slot)) {
        let all = self.try_matching(pattern, &mut |id, slot| {
            visit(id, slot);
            ControlFlow::<()>::Continue(())
        });
        debug_assert!(all.is_continue());
    }

    /// Like [`matching`](Self::matching), until the visitor breaks.
    pub fn try_matching<B>(
        &self,
        pattern: &[u8],
        visit: &mut impl FnMut(SubjectId, &Slot) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.try_known(pattern, &mut |id, slot| match slot.seqs.is_empty() {
            true => ControlFlow::Continue(()),
            false => visit(id, slot),
        })
    }

    /// Like [`try_matching`](Self::try_matching), with subjects that hold nothing just now.
    pub fn try_known<B>(
        &self,
        pattern: &[u8],
        visit: &mut impl FnMut(SubjectId, &Slot) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if is_literal(pattern) {
            return self.find(pattern).map_or(ControlFlow::Continue(()), |id| visit(id, self.slot(id)));
        }
        self.tree.try_matching(pattern, &mut |_, id| visit(*id, self.slot(*id)))
    }

    fn add(&mut self, subject: &[u8]) -> SubjectId {
        let slot = Slot { name: subject.into(), seqs: Seqs::None, audience: UNKNOWN_AUDIENCE, claims: 0 };
        let id = match self.free.pop() {
            Some(id) => {
                self.slots[id.0 as usize] = slot;
                id
            }
            None => {
                // A stream of four billion subjects does not fit into memory.
                self.slots.push(slot);
                SubjectId(self.slots.len() as u32 - 1)
            }
        };
        self.tree.insert(subject, id);
        id
    }
}
