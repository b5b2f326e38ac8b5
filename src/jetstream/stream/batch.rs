//! What belongs to one commit: what it changed, and what leaves when it is durable.

use super::config::StreamConfig;
use super::contents::{Changes, Mark};
use crate::account::AccountId;
use crate::jetstream::api::answer::AnswerKind;
use crate::jetstream::api::direct_get::Asked;
use crate::jetstream::error::ApiError;
use crate::jetstream::messages::{ApiRequest, Purged};
use crate::router::messages::{Publish, RouterId, ServiceId};
use crate::router::{Outbox, Outboxes};
use crate::store::{Change, ConsumerId};
use std::collections::BTreeMap;

/// Everything of one commit. Nothing of it is seen outside before the commit is durable.
#[derive(Default)]
pub struct Batch {
    /// Acks of publishes, also those that were refused: in the order of the publishes.
    acks: Outboxes,
    /// Copies of stored messages, to be published again.
    pub copies: Outbox,
    /// Answers to direct gets.
    replies: Outboxes,
    is_touched: bool,
    /// Direct gets that `replies` answers, to be answered anew should the commit fail.
    pub gets: Vec<Asked>,
    /// Bytes of ingested batches to release, by replica.
    releases: Vec<(RouterId, usize)>,
    /// Messages stored or numbered, and their bytes: what waits for the disk.
    pub messages: usize,
    pub bytes: usize,
    /// New messages by the number of their subject's audience, less `base`.
    matched: Vec<u64>,
    base: u32,
    /// What each consumer is to be told.
    pub news: BTreeMap<ConsumerId, News>,
    pub effects: Vec<Effect>,
    /// The id of the last message before the first of this batch.
    pub last_msg_id: Option<Vec<u8>>,
}

/// A batch that has been handed to the store.
pub struct Flying {
    pub ticket: u64,
    pub batch: Batch,
    pub changes: Changes,
    /// Where the stream stands with it.
    pub after: Mark,
    /// It is durable, and waits only for those before it.
    pub done: bool,
}

/// What a batch means to one consumer.
#[derive(Debug, Default)]
pub struct News {
    /// New messages that match its filter.
    pub matching: u64,
    /// Messages gone, one by one, that match its filter.
    pub removed: Vec<u64>,
}

/// Something rare that follows a commit, or its failure.
pub enum Effect {
    /// The answer to a request; an error, should the commit fail.
    Answer(Box<Answer>),
    /// A consumer's state or configuration is saved.
    Saved { consumer: ConsumerId, ticket: u64 },
    /// A consumer's configuration, its filter with it, is saved; the one before, should it fail.
    Reconfigured { consumer: ConsumerId, ticket: u64, before: Box<super::consumers::Reconfigured> },
    /// A consumer exists.
    ConsumerCreated { consumer: ConsumerId },
    /// Changes that cannot be taken back: should the commit fail, they go into the next.
    Again(Vec<Change>),
    /// A purge to tell consumers of.
    Purged(Purged),
    /// The stream exists.
    Created { request: ApiRequest },
    /// The stream has a new configuration.
    Updated { before: Box<StreamConfig>, request: ApiRequest },
    /// The stream is no more.
    Deleted { request: ApiRequest },
    /// A request whose turn comes when everything before it is durable.
    Later(Box<super::actor::Later>),
}

pub struct Answer {
    pub request: ApiRequest,
    pub kind: AnswerKind,
    pub body: Vec<u8>,
    pub is_counted: bool,
    /// What is answered should the commit fail; the text of the failure is filled in.
    pub failure: fn(&str) -> ApiError,
}

impl Batch {
    /// Whether nothing is to leave with this batch. Whether something has changed is for the contents and the store
    /// to say.
    pub fn is_idle(&self) -> bool {
        !self.is_touched && self.releases.is_empty() && self.effects.is_empty()
    }

    /// Where acks go that leave through this replica.
    pub fn acks(&mut self, via: RouterId) -> &mut Outbox {
        self.is_touched = true;
        self.acks.via(via)
    }

    /// Where answers to direct gets go that leave through this replica.
    pub fn replies(&mut self, via: RouterId) -> &mut Outbox {
        self.is_touched = true;
        self.replies.via(via)
    }

    pub fn release(&mut self, via: RouterId, bytes: usize) {
        match self.releases.iter_mut().find(|(router, _)| *router == via) {
            Some((_, sum)) => *sum += bytes,
            None => self.releases.push((via, bytes)),
        }
    }

    pub fn take_releases(&mut self) -> Vec<(RouterId, usize)> {
        std::mem::take(&mut self.releases)
    }

    /// A message was stored whose subject has this audience.
    pub fn count(&mut self, audience: u32, base: u32) {
        if self.matched.is_empty() {
            self.base = base;
        }
        debug_assert_eq!(self.base, base, "counts are taken to the consumers before audiences change");
        let at = (audience - base) as usize;
        if self.matched.len() <= at {
            self.matched.resize(at + 1, 0);
        }
        self.matched[at] += 1;
    }

    /// All acks, by replica.
    pub fn take_acks(&mut self, id: ServiceId, account: AccountId) -> impl Iterator<Item = (RouterId, Publish)> + '_ {
        self.acks.drain(id, account)
    }

    /// All answers to direct gets, by replica.
    pub fn take_replies(
        &mut self,
        id: ServiceId,
        account: AccountId,
    ) -> impl Iterator<Item = (RouterId, Publish)> + '_ {
        self.replies.drain(id, account)
    }

    /// The counts gathered so far by audience; they begin anew.
    pub fn take_counts(&mut self) -> impl Iterator<Item = (u32, u64)> + use<> {
        let base = self.base;
        let counts = std::mem::take(&mut self.matched).into_iter().enumerate();
        counts.filter(|(_, count)| *count > 0).map(move |(at, count)| (base + at as u32, count))
    }
}
