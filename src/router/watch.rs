use super::messages::{Interest, ServiceId, Watch};
use crate::account::AccountId;
use crate::actor::Outlet;
use ahash::RandomState;
use bytes::Bytes;
use std::collections::HashMap;

/// Which services want to know whether somebody listens on a subject.
#[derive(Default)]
pub(super) struct Watches {
    by_subject: HashMap<(AccountId, Bytes), Vec<Watcher>, RandomState>,
}

struct Watcher {
    id: ServiceId,
    tag: u32,
    queue: Option<Bytes>,
    to: Outlet<Interest>,
    /// What it was told last.
    present: bool,
}

impl Watches {
    pub(super) fn is_empty(&self) -> bool {
        self.by_subject.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.by_subject.values().map(Vec::len).sum()
    }

    /// Begins to watch, and tells how it is now.
    pub(super) fn add(&mut self, account: AccountId, watch: Watch, to: Outlet<Interest>, present: bool) {
        let Watch { id, tag, subject, queue } = watch;
        self.drop_one(id, tag);
        to.send(Interest { tag, present: vec![present] });
        self.by_subject.entry((account, subject)).or_default().push(Watcher { id, tag, queue, to, present });
    }

    pub(super) fn drop_one(&mut self, id: ServiceId, tag: u32) {
        self.retain(|watcher| watcher.id != id || watcher.tag != tag);
    }

    pub(super) fn drop_all_of(&mut self, id: u64) {
        self.retain(|watcher| watcher.id.0 != id);
    }

    /// The subscriptions to exactly this pattern have changed; `is_present` answers for a queue group, or for none.
    pub(super) fn changed(&mut self, account: AccountId, subject: &[u8], is_present: impl Fn(Option<&[u8]>) -> bool) {
        let Some(watchers) = self.by_subject.get_mut(&(account, Bytes::copy_from_slice(subject))) else { return };
        for watcher in watchers {
            let present = is_present(watcher.queue.as_deref());
            if std::mem::replace(&mut watcher.present, present) != present {
                watcher.to.send(Interest { tag: watcher.tag, present: vec![present] });
            }
        }
    }

    fn retain(&mut self, keep: impl Fn(&Watcher) -> bool) {
        self.by_subject.retain(|_, watchers| {
            watchers.retain(&keep);
            !watchers.is_empty()
        });
    }
}
