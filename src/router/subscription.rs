use crate::account::AccountId;
use crate::subject::matches;
use bytes::Bytes;
use slab::Slab;
use smallvec::SmallVec;
use std::sync::Arc;

/// A subscription's place in this replica's table.
pub(super) type SubKey = u32;

/// All subscriptions that a replica knows, of connections and of services.
pub(super) type Subscriptions = SubTable;

/// The client's name for a subscription: nearly always a number, so it needs no memory of its own.
pub(super) type Sid = SmallVec<[u8; 16]>;

/// What a delivery looks at comes first and in one cache line: with ten thousand subscriptions in use, each further line
/// is a wait for memory.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Subscription {
    /// The destination's place in the replica's table.
    pub slot: usize,
    /// Messages delivered since it began.
    pub delivered: u64,
    /// It ends when so many have been delivered.
    pub max: u64,
    /// Empty for services.
    pub sid: Sid,
    /// The connection's own number for it, or the service's tag.
    pub key: u32,
    pub account: AccountId,
    pub subject: Bytes,
    pub queue: Option<Bytes>,
    pub except: Arc<[Bytes]>,
}

/// No limit of messages.
pub(super) const UNLIMITED: u64 = u64::MAX;

impl Subscription {
    pub(super) fn excludes(&self, subject: &[u8]) -> bool {
        self.except.iter().any(|pattern| matches(pattern, subject))
    }

    pub(super) fn is_limited(&self) -> bool {
        self.max != UNLIMITED
    }
}

/// A table with small stable numbers.
#[derive(Debug, Default)]
pub(super) struct SubTable(Slab<Subscription>);

impl SubTable {
    pub(super) fn add(&mut self, sub: Subscription) -> SubKey {
        self.0.insert(sub) as SubKey
    }

    pub(super) fn take(&mut self, key: SubKey) -> Option<Subscription> {
        self.0.try_remove(key as usize)
    }

    #[inline]
    pub(super) fn get(&self, key: SubKey) -> Option<&Subscription> {
        self.0.get(key as usize)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, key: SubKey) -> Option<&mut Subscription> {
        self.0.get_mut(key as usize)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
