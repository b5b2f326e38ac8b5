use crate::router::Change;
use ahash::RandomState;
use bytes::Bytes;
use slab::Slab;
use std::collections::HashMap;
use std::sync::Arc;

/// The subscriptions of a connection, by sid.
#[derive(Default)]
pub(super) struct Subscriptions {
    by_sid: HashMap<Bytes, u32, RandomState>,
    held: Slab<Held>,
    /// What the routers do not know yet.
    changes: Vec<Change>,
    /// Keys that are free once the routers have settled the changes last sent, and those before.
    retiring: Vec<u32>,
    /// Replicas that have not settled them.
    settling: usize,
}

/// One subscription, or the place of one that is ending.
struct Held {
    sid: Bytes,
    ended: bool,
    limit: Option<Box<Limit>>,
}

/// A limit that the connection watches over, because several replicas deliver.
struct Limit {
    max: u64,
    delivered: u64,
    /// Replicas that have not said what they delivered before.
    awaited: usize,
    /// Messages that came meanwhile.
    early: Vec<Bytes>,
}

/// What to do with a counted message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Counted {
    Write(Bytes),
    Keep,
    Drop,
}

impl Subscriptions {
    pub(super) fn len(&self) -> usize {
        self.by_sid.len()
    }

    pub(super) fn contains(&self, sid: &[u8]) -> bool {
        self.by_sid.contains_key(sid)
    }

    /// Begins a subscription whose sid is free.
    pub(super) fn add(&mut self, subject: &[u8], queue: Option<&[u8]>, sid: &[u8], except: &Arc<[Bytes]>) {
        // One piece of memory for all three, shared with every replica.
        let mut line = Vec::with_capacity(subject.len() + sid.len() + queue.map_or(0, <[u8]>::len));
        let mut put = |part: &[u8]| {
            line.extend_from_slice(part);
            line.len() - part.len()..line.len()
        };
        let (subject, sid, queue) = (put(subject), put(sid), queue.map(put));
        let line = Bytes::from(line);
        let (subject, sid, queue) = (line.slice(subject), line.slice(sid), queue.map(|queue| line.slice(queue)));
        let key = self.held.insert(Held { sid: sid.clone(), ended: false, limit: None }) as u32;
        self.by_sid.insert(sid.clone(), key);
        self.changes.push(Change::Subscribe { key, subject, queue, sid, except: except.clone() });
    }

    /// Ends a subscription now. Unknown sids are nobody's business.
    pub(super) fn end(&mut self, sid: &[u8]) {
        if let Some(key) = self.by_sid.remove(sid) {
            self.changes.push(Change::Unsubscribe { key });
            self.retire(key);
        }
    }

    /// Ends a subscription with its `max`th message. `replicas` is how many deliver.
    pub(super) fn limit(&mut self, sid: &[u8], max: u64, replicas: usize) {
        let Some(&key) = self.by_sid.get(sid) else { return };
        self.changes.push(Change::Limit { key, max });
        let Some(held) = self.held.get_mut(key as usize) else { return };
        if replicas == 1 {
            return;
        }
        let fresh = || Box::new(Limit { max, delivered: 0, awaited: replicas, early: Vec::new() });
        let limit = held.limit.get_or_insert_with(fresh);
        limit.max = max;
        if limit.awaited == 0 && limit.delivered >= max {
            let sid = held.sid.clone();
            self.end(&sid);
        }
    }

    /// A router says that a subscription got its last message.
    pub(super) fn spent(&mut self, key: u32) {
        if let Some(held) = self.held.get(key as usize).filter(|held| !held.ended) {
            self.by_sid.remove(&held.sid);
            self.held.remove(key as usize);
        }
    }

    /// A replica says what it delivered before the limit. Answers with early messages that may now be written.
    pub(super) fn limited(&mut self, key: u32, delivered: u64) -> Vec<Bytes> {
        let Some(limit) = self.held.get_mut(key as usize).and_then(|held| held.limit.as_mut()) else {
            return Vec::new();
        };
        limit.delivered += delivered;
        limit.awaited = limit.awaited.saturating_sub(1);
        if limit.awaited > 0 {
            return Vec::new();
        }
        let mut early = std::mem::take(&mut limit.early);
        early.truncate(limit.max.saturating_sub(limit.delivered) as usize);
        limit.delivered += early.len() as u64;
        self.end_if_reached(key);
        early
    }

    /// One message of a subscription with a limit.
    pub(super) fn counted(&mut self, key: u32, message: Bytes) -> Counted {
        let Some(held) = self.held.get_mut(key as usize).filter(|held| !held.ended) else { return Counted::Drop };
        let Some(limit) = held.limit.as_mut() else { return Counted::Write(message) };
        if limit.awaited > 0 {
            limit.early.push(message);
            return Counted::Keep;
        }
        if limit.delivered >= limit.max {
            return Counted::Drop;
        }
        limit.delivered += 1;
        self.end_if_reached(key);
        Counted::Write(message)
    }

    fn end_if_reached(&mut self, key: u32) {
        let Some(held) = self.held.get(key as usize) else { return };
        if held.limit.as_ref().is_some_and(|limit| limit.awaited == 0 && limit.delivered >= limit.max) {
            let sid = held.sid.clone();
            self.end(&sid);
        }
    }

    /// Ends all, without telling: the routers are told that the connection starts afresh.
    pub(super) fn clear(&mut self) {
        *self = Self { settling: self.settling, ..Self::default() };
    }

    /// Whether the routers have not heard of everything.
    pub(super) fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// What to tell the routers; `replicas` of them will settle it.
    pub(super) fn take_changes(&mut self, replicas: usize) -> Arc<[Change]> {
        self.settling += replicas;
        std::mem::take(&mut self.changes).into()
    }

    pub(super) fn settled(&mut self) {
        self.settling = self.settling.saturating_sub(1);
        // With changes at hand, one of them may be the end of a retiring key that the routers have not heard of.
        if self.settling == 0 && self.changes.is_empty() {
            for key in std::mem::take(&mut self.retiring) {
                self.held.try_remove(key as usize);
            }
        }
    }

    /// Whether changes are on their way.
    pub(super) fn is_settling(&self) -> bool {
        self.settling > 0
    }

    fn retire(&mut self, key: u32) {
        if let Some(held) = self.held.get_mut(key as usize) {
            held.ended = true;
            held.limit = None;
        }
        self.retiring.push(key);
    }
}
