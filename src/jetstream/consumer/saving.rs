//! Making steps durable, and what waits for it.

use super::Consumer;
use super::agenda::Matter;
use crate::actor::Ctx;
use crate::jetstream::api::answer::kinds;
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::{ApiAnswer, ApiRequest, Save, SaveConfig, Saved};
use crate::router::Outboxes;
use crate::router::messages::{Publish, RouterId};
use crate::subject::Filter;
use std::collections::VecDeque;

/// Saves under way before the next one waits, unless somebody waits for it.
const RELAXED: usize = 1;

/// Saves under way at most.
const MAX_UNDER_WAY: usize = 4;

/// After a failed save the next one waits so long, in nanoseconds.
const RETRY: i64 = 250_000_000;

/// The save of the consumer's creation.
const BIRTH: u64 = 0;

/// What is to be confirmed, and what has been handed to the stream.
#[derive(Default)]
pub struct Saving {
    /// Confirmations of steps that are not handed over yet.
    confirmations: Outboxes,
    confirming: bool,
    under_way: VecDeque<Underway>,
    birth: Option<ApiRequest>,
}

struct Underway {
    ticket: u64,
    confirmations: Vec<(RouterId, Publish)>,
    then: Then,
}

/// What follows when it is saved.
enum Then {
    Nothing,
    Created(ApiRequest),
    Updated(ApiRequest),
    Paused(ApiRequest),
    Reset(ApiRequest, u64),
}

/// A changed configuration is to be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Update,
    Pause,
}

impl Saving {
    pub fn new(birth: Option<ApiRequest>) -> Self {
        Self { birth, ..Self::default() }
    }

    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// Confirms a step once it is durable.
    pub fn confirm(&mut self, via: RouterId, reply: &[u8]) {
        if !reply.is_empty() {
            self.confirmations.via(via).message(reply, b"", b"", b"");
            self.confirming = true;
        }
    }

    /// Answers the creation when it is saved.
    fn begin(&mut self) -> Option<Then> {
        self.birth.take().map(Then::Created)
    }
}

impl Consumer {
    /// Hands what was done since the last time to the stream.
    pub(super) fn save(&mut self) {
        if self.agenda.get(Matter::Save).is_some() {
            return;
        }
        let (service, account) = (self.service, self.setting.account);
        let is_dirty = self.ledger.is_dirty();
        if !is_dirty && !self.saving.confirming {
            return;
        }
        let enough = if self.saving.confirming { MAX_UNDER_WAY } else { RELAXED };
        if is_dirty && (self.saving.under_way.len() >= enough || !self.is_born) {
            return;
        }
        let confirmations: Vec<_> = self.saving.confirmations.drain(service, account).collect();
        self.saving.confirming = false;
        if !is_dirty {
            // Nothing changed: it is as durable as what is under way.
            match self.saving.under_way.back_mut() {
                Some(last) => last.confirmations.extend(confirmations),
                None => self.publish(confirmations),
            }
            return;
        }
        self.save_with(confirmations, Then::Nothing);
    }

    /// Hands over what was done, and answers a reset once it is durable.
    pub(super) fn save_reset(&mut self, request: ApiRequest, seq: u64) {
        self.save_with(Vec::new(), Then::Reset(request, seq));
    }

    /// Makes a new configuration durable, and answers then.
    pub(super) fn save_config(&mut self, change: Change, request: ApiRequest) {
        let ticket = self.ticket();
        let (consumer, config) = (self.id, Box::new(self.config.clone()));
        let filter = Filter::new(self.config.filters());
        self.stream.save_config.send(SaveConfig { consumer, ticket, config, filter });
        let then = match change {
            Change::Update => Then::Updated(request),
            Change::Pause => Then::Paused(request),
        };
        self.saving.under_way.push_back(Underway { ticket, confirmations: Vec::new(), then });
    }

    fn save_with(&mut self, confirmations: Vec<(RouterId, Publish)>, then: Then) {
        let ticket = self.ticket();
        let gathered = self.ledger.gather(ticket);
        self.stream.save.send(Save {
            consumer: self.id,
            ticket,
            deltas: gathered.deltas,
            state: gathered.state,
            settled: gathered.settled,
            settled_upto: gathered.settled_upto,
            answer: true,
        });
        self.saving.under_way.push_back(Underway { ticket, confirmations, then });
    }

    pub(super) fn saved(&mut self, saved: Saved, ctx: &mut Ctx<Self>) {
        if saved.ticket == BIRTH {
            return self.born(saved.ok, ctx);
        }
        self.ledger.saved(saved.ticket, saved.ok);
        if !saved.ok {
            let now = self.now();
            self.agenda.set(Matter::Save, Some(now.saturating_add(RETRY)));
        }
        let under_way = &mut self.saving.under_way;
        let Some(at) = under_way.iter().position(|save| save.ticket == saved.ticket) else { return };
        let Some(save) = under_way.remove(at) else { return };
        if saved.ok {
            self.publish(save.confirmations);
        }
        self.follow(save.then, saved.ok);
    }

    fn born(&mut self, ok: bool, ctx: &mut Ctx<Self>) {
        let then = self.saving.begin();
        if !ok {
            self.follow(then.unwrap_or(Then::Nothing), false);
            return self.end(ctx);
        }
        if self.is_born {
            return;
        }
        self.is_born = true;
        let now = self.now();
        self.active = now;
        self.restart_inactivity(now);
        self.news.created(now);
        if let Some(until) = self.paused_until.filter(|&until| until > now) {
            self.news.paused(true, until, now);
        }
        self.follow(then.unwrap_or(Then::Nothing), true);
    }

    fn follow(&mut self, then: Then, ok: bool) {
        match then {
            Then::Nothing => {}
            Then::Created(request) | Then::Updated(request) if ok => self.answer_created(request),
            Then::Paused(request) if ok => self.answer_paused(request),
            Then::Reset(request, seq) if ok => self.answer_reset(request, seq),
            Then::Created(request) | Then::Updated(request) => {
                let error = ErrCode::ConsumerCreate.text("error creating store for consumer");
                self.refuse(request, kinds::CONSUMER_CREATE, &error);
            }
            Then::Paused(request) => self.refuse(request, kinds::CONSUMER_PAUSE, &store_failed()),
            Then::Reset(request, _) => self.refuse(request, kinds::CONSUMER_RESET, &store_failed()),
        }
    }

    pub(super) fn refuse(
        &self,
        request: ApiRequest,
        kind: crate::jetstream::api::answer::AnswerKind,
        error: &ApiError,
    ) {
        self.jetstream.send(ApiAnswer::failure(request, kind, error));
    }

    fn publish(&self, batches: Vec<(RouterId, Publish)>) {
        for (via, publish) in batches {
            self.setting.switchboard.line(via).publish.send(publish);
        }
    }
}

fn store_failed() -> ApiError {
    ErrCode::ConsumerStoreFailed.text("the state could not be made durable")
}
