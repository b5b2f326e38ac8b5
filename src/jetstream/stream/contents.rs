//! What a stream holds: the model that every operation changes, and that can take changes back.

use super::index::{Entry, Index};
use super::subjects::{Slot, SubjectId, SubjectTable};

/// The messages of a stream without their bytes, and its sequence state.
///
/// Changes are gathered until [`seal`](Self::seal) hands them out; a commit that became durable
/// [`settle`](Self::settle)s its changes, one that failed [`undo`](Self::undo)es them, newest first.
#[derive(Debug)]
pub struct Contents {
    pub(in crate::jetstream) index: Index,
    pub(in crate::jetstream) subjects: SubjectTable,
    bytes: u64,
    at: Mark,
    changes: Changes,
    /// Counts wipes, so that numbers of subjects from before one are not mistaken for those after.
    epoch: u32,
}

/// Where a stream stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The first message, or the next one's sequence if there is none.
    pub first: u64,
    /// The last sequence used.
    pub last: u64,
    /// When the last sequence was used; `None` if none ever was.
    pub last_timestamp: Option<i64>,
}

/// Why a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Deleted, aged, pushed out by a limit: consumers are told of each.
    Gone,
    /// Purged: consumers are told of the purge as a whole.
    Purged,
    /// All who wanted it have it (work queue, interest).
    Settled,
}

#[derive(Clone, Copy, Debug)]
pub struct Removed {
    pub seq: u64,
    pub entry: Entry,
    pub cause: Cause,
}

/// A message that has been appended.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    pub seq: u64,
    pub subject: SubjectId,
    /// The stream did not know the subject.
    pub is_new_subject: bool,
}

/// What has changed since the last commit was made, and how to take it back.
#[derive(Debug)]
pub struct Changes {
    before: Mark,
    /// In the order they went; appended messages may be among them.
    pub removed: Vec<Removed>,
    /// Subjects that lost their last message: their numbers are free when it is durable.
    emptied: Vec<SubjectId>,
    wiped: Option<Box<Wiped>>,
    epoch: u32,
}

#[derive(Debug)]
struct Wiped {
    index: Index,
    subjects: SubjectTable,
    bytes: u64,
    epoch: u32,
}

impl Changes {
    fn since(before: Mark, epoch: u32) -> Self {
        Self { before, removed: Vec::new(), emptied: Vec::new(), wiped: None, epoch }
    }

    /// Numbers of subjects in here are still good.
    pub fn is_of(&self, contents: &Contents) -> bool {
        self.epoch == contents.epoch && self.wiped.is_none()
    }

    /// Whether everything was removed in one step, first of all.
    pub fn is_wipe(&self) -> bool {
        self.wiped.is_some()
    }

    /// Where the stream stood before.
    pub fn before(&self) -> Mark {
        self.before
    }
}

impl Contents {
    /// A stream that holds nothing; `first` is the sequence of its first message.
    pub fn new(first: u64) -> Self {
        let first = first.max(1);
        Self::standing_at(Mark { first, last: first - 1, last_timestamp: None })
    }

    /// An empty stream with this past.
    pub fn standing_at(at: Mark) -> Self {
        let (index, subjects) = (Index::default(), SubjectTable::default());
        Self { index, subjects, bytes: 0, at, changes: Changes::since(at, 0), epoch: 0 }
    }

    pub fn messages(&self) -> u64 {
        self.index.len()
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn first(&self) -> u64 {
        self.at.first
    }

    pub fn last(&self) -> u64 {
        self.at.last
    }

    pub fn last_timestamp(&self) -> Option<i64> {
        self.at.last_timestamp
    }

    pub fn mark(&self) -> Mark {
        self.at
    }

    pub fn num_subjects(&self) -> usize {
        self.subjects.occupied()
    }

    /// Sequences between the first and the last that hold no message.
    pub fn num_deleted(&self) -> u64 {
        (self.at.last + 1).saturating_sub(self.at.first).saturating_sub(self.messages())
    }

    /// What has changed since the last [`seal`](Self::seal).
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Whether a message came, went or was numbered since the last [`seal`](Self::seal).
    pub fn is_changed(&self) -> bool {
        self.changes.before != self.at || !self.changes.removed.is_empty() || self.changes.wiped.is_some()
    }

    /// Stores a message under the next sequence.
    pub fn append(&mut self, subject: &[u8], timestamp: i64, size: u32) -> Stored {
        let seq = self.at.last + 1;
        let (id, is_new_subject) = self.subjects.intern(subject);
        self.put(seq, Entry { timestamp, subject: id, size });
        self.at.last = seq;
        self.at.last_timestamp = Some(timestamp);
        Stored { seq, subject: id, is_new_subject }
    }

    /// Puts back a message of a recovered stream; those come in ascending order, within the stream's bounds.
    pub fn restore(&mut self, seq: u64, subject: &[u8], timestamp: i64, size: u32) {
        let (subject, _) = self.subjects.intern(subject);
        self.put(seq, Entry { timestamp, subject, size });
    }

    /// After the last [`restore`](Self::restore): what was put back is no change.
    pub fn restored(&mut self) {
        self.find_first(0);
        self.changes = Changes::since(self.at, self.epoch);
    }

    /// Uses up a sequence without storing anything (streams reference 3.10).
    pub fn skip(&mut self, timestamp: i64) -> u64 {
        self.at.last += 1;
        self.at.last_timestamp = Some(timestamp);
        if self.index.is_empty() {
            self.at.first = self.at.last + 1;
        }
        self.at.last
    }

    pub fn remove(&mut self, seq: u64, cause: Cause) -> Option<Entry> {
        let entry = self.index.remove(seq)?;
        self.bytes -= u64::from(entry.size);
        if self.subjects.take(entry.subject, seq) {
            self.claim(entry.subject);
        }
        self.changes.removed.push(Removed { seq, entry, cause });
        if seq == self.at.first {
            self.find_first(seq);
        }
        Some(entry)
    }

    /// Moves an empty stream forward: the next message gets `next`.
    pub fn move_forward(&mut self, next: u64) {
        debug_assert!(self.index.is_empty(), "only an empty stream can be moved");
        if next > self.at.last + 1 {
            self.at.last = next - 1;
            self.at.first = next;
        }
    }

    /// Removes everything in one step. Must be the first change after a [`seal`](Self::seal).
    pub fn wipe(&mut self) -> u64 {
        debug_assert!(!self.is_changed(), "a wipe begins a commit");
        let messages = self.messages();
        let index = std::mem::take(&mut self.index);
        let subjects = std::mem::take(&mut self.subjects);
        let bytes = std::mem::take(&mut self.bytes);
        self.changes.wiped = Some(Box::new(Wiped { index, subjects, bytes, epoch: self.epoch }));
        self.at.first = self.at.last + 1;
        self.epoch += 1;
        self.changes.epoch = self.epoch;
        messages
    }

    /// Hands out the changes so far; what follows belongs to the next commit.
    pub fn seal(&mut self) -> Changes {
        std::mem::replace(&mut self.changes, Changes::since(self.at, self.epoch))
    }

    /// These changes are durable. `forget` is told of each subject that goes with them; what a wipe had held back is
    /// returned, to be dropped.
    pub fn settle(&mut self, changes: Changes, mut forget: impl FnMut(SubjectId, &mut Slot)) -> Option<Box<dyn Send>> {
        for id in changes.emptied.into_iter().filter(|_| changes.epoch == self.epoch) {
            let slot = self.subjects.slot_mut(id);
            slot.claims -= 1;
            if slot.claims == 0 && slot.seqs.is_empty() {
                forget(id, slot);
                self.subjects.release(id);
            }
        }
        changes.wiped.map(|wiped| wiped as Box<dyn Send>)
    }

    /// These changes did not happen. Called with the newest first, and with nothing unsealed left.
    pub fn undo(&mut self, changes: Changes) {
        if let Some(wiped) = changes.wiped {
            (self.index, self.subjects, self.bytes) = (wiped.index, wiped.subjects, wiped.bytes);
            self.epoch = wiped.epoch;
            // These are numbers of the table that has just gone.
            self.changes.emptied.clear();
        } else {
            self.take_back_appended(changes.before.last);
            for id in &changes.emptied {
                self.subjects.slot_mut(*id).claims -= 1;
            }
            for removed in changes.removed.iter().filter(|removed| removed.seq <= changes.before.last) {
                self.put(removed.seq, removed.entry);
            }
        }
        self.at = changes.before;
        self.changes.before = self.at;
        self.changes.epoch = self.epoch;
    }

    fn take_back_appended(&mut self, last: u64) {
        while let Some((seq, entry)) = self.index.previous(u64::MAX).filter(|(seq, _)| *seq > last) {
            self.index.remove(seq);
            self.bytes -= u64::from(entry.size);
            if self.subjects.take(entry.subject, seq) {
                self.claim(entry.subject);
            }
        }
    }

    fn put(&mut self, seq: u64, entry: Entry) {
        self.index.insert(seq, entry);
        self.subjects.put(entry.subject, seq);
        self.bytes += u64::from(entry.size);
    }

    /// The number stays the subject's until these changes are durable.
    fn claim(&mut self, id: SubjectId) {
        self.subjects.slot_mut(id).claims += 1;
        self.changes.emptied.push(id);
    }

    fn find_first(&mut self, from: u64) {
        self.at.first = self.index.next(from).map_or(self.at.last + 1, |(seq, _)| seq);
    }
}
