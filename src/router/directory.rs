use super::cache::MatchCache;
use super::client::{Change, FromRouter};
use super::destination::{Destination, NO_SUB};
use super::matchset::MatchSet;
use super::subscription::{Sid, SubKey, Subscription, Subscriptions, UNLIMITED};
use super::watch::Watches;
use crate::account::AccountId;
use crate::subject::{SubjectIndex, is_literal};
use ahash::RandomState;
use slab::Slab;
use std::collections::HashMap;
use std::rc::Rc;

/// Who is there and what they want: the index of every account, the destinations, and who watches them.
pub(super) struct Directory {
    spaces: HashMap<AccountId, Space, RandomState>,
    pub subs: Subscriptions,
    pub destinations: Slab<Destination>,
    slots: HashMap<u64, usize, RandomState>,
    pub watches: Watches,
}

/// The subjects of one account.
struct Space {
    index: SubjectIndex<SubKey>,
    cache: MatchCache,
}

impl Directory {
    pub(super) fn new() -> Self {
        Self {
            spaces: HashMap::default(),
            subs: Subscriptions::default(),
            destinations: Slab::new(),
            slots: HashMap::default(),
            watches: Watches::default(),
        }
    }

    pub(super) fn slot(&self, id: u64) -> Option<usize> {
        self.slots.get(&id).copied()
    }

    pub(super) fn destination(&mut self, id: u64) -> Option<&mut Destination> {
        let slot = self.slot(id)?;
        self.destinations.get_mut(slot)
    }

    /// Brings near what the delivery to these subscriptions will look at first.
    pub(super) fn approach(&self, set: &MatchSet) {
        if let Some(&key) = set.plain.first() {
            std::hint::black_box(self.subs.get(key).map(|sub| sub.slot));
        }
    }

    /// A destination takes its place; one of the same id that was there before has left.
    pub(super) fn enter(&mut self, destination: Destination) {
        self.leave(destination.id);
        let id = destination.id;
        let slot = self.destinations.insert(destination);
        self.slots.insert(id, slot);
    }

    /// A destination leaves, with its subscriptions and watches.
    pub(super) fn leave(&mut self, id: u64) -> Option<Destination> {
        let slot = self.slots.remove(&id)?;
        let subs = std::mem::take(&mut self.destinations.get_mut(slot)?.subs);
        for sub in subs.into_iter().filter(|&sub| sub != NO_SUB) {
            self.forget(sub);
        }
        self.watches.drop_all_of(id);
        self.destinations.try_remove(slot)
    }

    pub(super) fn subscribe(&mut self, id: u64, sub: Subscription) {
        let Some(destination) = self.destination(id) else { return };
        let at = sub.key as usize;
        // Keys are small numbers that are used again; a wild one from a broken sender must not cost memory.
        if at > destination.subs.len() + 1_000_000 {
            return;
        }
        if destination.subs.len() <= at {
            destination.subs.resize(at + 1, NO_SUB);
        }
        let (account, subject) = (sub.account, sub.subject.clone());
        let key = self.subs.add(sub);
        let before = std::mem::replace(&mut self.destinations[self.slots[&id]].subs[at], key);
        if before != NO_SUB {
            self.forget(before);
        }
        let space = self.spaces.entry(account).or_insert_with(Space::new);
        space.index.insert(&subject, key);
        space.cache.changed(&subject, is_literal(&subject));
        self.look_at_watches(account, &subject);
    }

    /// The destination's subscription with this number of its own ends.
    pub(super) fn unsubscribe(&mut self, id: u64, key: u32) {
        let Some(destination) = self.destination(id) else { return };
        let Some(sub) = destination.sub(key) else { return };
        destination.subs[key as usize] = NO_SUB;
        self.forget(sub);
    }

    /// Applies one change of a connection.
    pub(super) fn change(&mut self, id: u64, change: &Change, counted_here: bool) {
        let Some(slot) = self.slot(id) else { return };
        match change {
            Change::Subscribe { key, subject, queue, sid, except } => {
                let sub = Subscription {
                    slot,
                    key: *key,
                    account: self.destinations[slot].account,
                    subject: subject.clone(),
                    queue: queue.clone(),
                    sid: Sid::from_slice(sid),
                    except: except.clone(),
                    delivered: 0,
                    max: UNLIMITED,
                };
                self.subscribe(id, sub);
            }
            Change::Unsubscribe { key } => self.unsubscribe(id, *key),
            Change::Limit { key, max } => self.limit(id, *key, *max, counted_here),
        }
    }

    fn limit(&mut self, id: u64, key: u32, max: u64, counted_here: bool) {
        let Some(sub) = self.destination(id).and_then(|destination| destination.sub(key)) else { return };
        let Some(subscription) = self.subs.get_mut(sub) else { return };
        subscription.max = max;
        let delivered = subscription.delivered;
        if counted_here {
            if delivered >= max {
                self.unsubscribe(id, key);
                if let Some(destination) = self.destination(id) {
                    destination.tell(FromRouter::Spent { key });
                }
            }
        } else if let Some(destination) = self.destination(id) {
            destination.tell(FromRouter::Limited { key, delivered });
        }
    }

    fn forget(&mut self, key: SubKey) {
        let Some(sub) = self.subs.take(key) else { return };
        if let Some(space) = self.spaces.get_mut(&sub.account) {
            space.index.remove(&sub.subject, |&held| held == key);
            space.cache.changed(&sub.subject, is_literal(&sub.subject));
        }
        self.look_at_watches(sub.account, &sub.subject);
    }

    /// Who gets what is published on a subject.
    pub(super) fn find(&mut self, account: AccountId, subject: &[u8]) -> Rc<MatchSet> {
        let subs = &self.subs;
        match self.spaces.get_mut(&account) {
            None => Rc::default(),
            Some(Space { index, cache }) => cache.get(subject, || MatchSet::find(index, subs, subject)),
        }
    }

    /// A plain subscription of this destination that a reply would reach.
    pub(super) fn listens_to(&self, slot: usize, account: AccountId, reply: &[u8]) -> Option<&Subscription> {
        let mut found = None;
        self.spaces.get(&account)?.index.find(reply, &mut |&key| {
            if let Some(sub) = self.subs.get(key)
                && sub.slot == slot
                && sub.queue.is_none()
            {
                found = Some(sub);
            }
        });
        found
    }

    /// Whether a message would reach anybody.
    pub(super) fn reaches_anybody(&self, account: AccountId, subject: &[u8]) -> bool {
        self.spaces.get(&account).is_some_and(|space| space.index.has_match(subject))
    }

    /// Whether somebody subscribed to exactly this pattern, in exactly this group or, with none, plainly.
    pub(super) fn is_present(&self, account: AccountId, subject: &[u8], queue: Option<&[u8]>) -> bool {
        let Some(space) = self.spaces.get(&account) else { return false };
        let subs = space.index.exactly(subject).iter().filter_map(|&key| self.subs.get(key));
        subs.into_iter().any(|sub| sub.queue.as_deref() == queue)
    }

    fn look_at_watches(&mut self, account: AccountId, subject: &[u8]) {
        if self.watches.is_empty() {
            return;
        }
        let mut watches = std::mem::take(&mut self.watches);
        watches.changed(account, subject, |queue| self.is_present(account, subject, queue));
        self.watches = watches;
    }

    /// Subscriptions, remembered subjects, hits and misses of the match caches.
    pub(super) fn numbers(&self) -> (usize, usize, u64, u64) {
        let mut numbers = (self.subs.len(), 0, 0, 0);
        for Space { cache, .. } in self.spaces.values() {
            numbers = (numbers.0, numbers.1 + cache.len(), numbers.2 + cache.hits, numbers.3 + cache.misses);
        }
        numbers
    }
}

impl Space {
    fn new() -> Self {
        Self { index: SubjectIndex::new(), cache: MatchCache::new() }
    }
}
