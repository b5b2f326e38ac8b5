use super::subscription::{SubKey, Subscriptions};
use crate::subject::SubjectIndex;
use smallvec::SmallVec;

/// Who gets what is published on one subject.
#[derive(Debug, Default)]
pub(super) struct MatchSet {
    /// Each gets a copy.
    pub plain: SmallVec<[SubKey; 2]>,
    /// One of each group gets a copy.
    pub groups: SmallVec<[Box<[SubKey]>; 1]>,
}

impl MatchSet {
    /// Members of a group share its name, whatever their patterns (core reference 2.2).
    pub(super) fn find(index: &SubjectIndex<SubKey>, subs: &Subscriptions, subject: &[u8]) -> Self {
        let mut set = Self::default();
        let mut members: SmallVec<[(&[u8], SubKey); 4]> = SmallVec::new();
        index.find(subject, &mut |&key| {
            let Some(sub) = subs.get(key) else { return };
            if sub.excludes(subject) {
                return;
            }
            match &sub.queue {
                None => set.plain.push(key),
                Some(queue) => members.push((queue, key)),
            }
        });
        members.sort_unstable();
        for group in members.chunk_by(|a, b| a.0 == b.0) {
            set.groups.push(group.iter().map(|member| member.1).collect());
        }
        set
    }
}
