//! From staged changes to durable ones, and back where that fails.

use super::actor::{Later, Stream, alarms};
use super::batch::{Answer, Batch, Effect, Flying, News};
use super::consumers::Matching;
use super::contents::{Cause, Mark};
use crate::actor::{Ctx, SetAlarm};
use crate::jetstream::api::answer::kinds;
use crate::jetstream::error::ErrCode;
use crate::jetstream::messages::*;
use crate::router::messages::{Publish, Release, RouterId};
use crate::router::part;
use crate::store::{Change, Commitment, Committed, ConsumerId};
use actix::prelude::ActorContext;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// After a commit failed, what is owed is tried again so much later, if no publish comes first.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The commits of a stream that are under way.
#[derive(Default)]
pub struct Pipeline {
    /// Gathers until the mailbox is empty.
    pub open: Batch,
    /// Handed to the store, oldest first.
    pub flying: VecDeque<Flying>,
    next_ticket: u64,
    /// The last sequence that is durable; nothing above it is delivered.
    pub durable_last: u64,
    /// A sequence was used up without a message: the store must be told.
    pub advance: bool,
    /// Messages, and their bytes, between arrival and disk.
    pub buffered_messages: usize,
    pub buffered_bytes: usize,
    /// Changes of failed commits that are to be made all the same.
    owed: Vec<Change>,
    /// Messages that nobody needs, and whose removal failed.
    unsettled: Vec<u64>,
    /// The deletion of the stream failed.
    delete_again: Option<ApiRequest>,
    is_retry_set: bool,
    told: Option<Usage>,
    pub tally: Tally,
}

/// Counts since the start.
#[derive(Debug, Default)]
pub struct Tally {
    pub published: u64,
    pub duplicates: u64,
    pub refused: u64,
    pub failed_commits: u64,
}

impl Pipeline {
    pub fn waiting_acks(&self) -> usize {
        self.flying.iter().map(|flying| flying.batch.messages).sum::<usize>() + self.open.messages
    }

    /// Whether everything is durable that has been handed to the store.
    pub fn is_settled(&self) -> bool {
        self.flying.is_empty()
    }
}

impl Stream {
    /// Whether what is in memory is not all durable.
    pub(in crate::jetstream) fn is_ahead(&self) -> bool {
        !self.pipeline.is_settled() || self.contents.is_changed() || self.store.is_dirty()
    }

    /// Hands over what has gathered; sends what need not wait.
    pub(in crate::jetstream) fn commit(&mut self, ctx: &mut Ctx<Self>) {
        self.hand_over();
        self.land(ctx);
    }

    /// Ends the batch that gathers, and begins the next.
    pub(in crate::jetstream) fn hand_over(&mut self) {
        self.stage_changes();
        let is_dirty = self.store.is_dirty();
        if !is_dirty && self.pipeline.open.is_idle() && !self.contents.is_changed() {
            return;
        }
        self.resolve_counts();
        self.resolve_removed();
        let changes = self.contents.seal();
        let after = self.contents.mark();
        let batch = std::mem::take(&mut self.pipeline.open);
        self.pipeline.next_ticket += 1;
        let ticket = self.pipeline.next_ticket;
        let done = !is_dirty || self.store.commit(ticket) == Commitment::Done;
        self.pipeline.flying.push_back(Flying { ticket, batch, changes, after, done });
    }

    /// The store has answered.
    pub(super) fn committed(&mut self, committed: Committed, ctx: &mut Ctx<Self>) {
        // Commits made before a failed one was known have failed with it already.
        let Some(at) = self.pipeline.flying.iter().position(|flying| flying.ticket == committed.ticket) else { return };
        match committed.result {
            Ok(()) => self.pipeline.flying[at].done = true,
            Err(error) => self.failed(at, &error.to_string(), ctx),
        }
        self.land(ctx);
    }

    /// Finishes all batches that are durable, in order.
    fn land(&mut self, ctx: &mut Ctx<Self>) {
        while self.pipeline.flying.front().is_some_and(|flying| flying.done) {
            if let Some(flying) = self.pipeline.flying.pop_front() {
                self.finish(flying, ctx);
            }
        }
    }

    fn finish(&mut self, flying: Flying, ctx: &mut Ctx<Self>) {
        let Flying { mut batch, changes, after, .. } = flying;
        self.pipeline.durable_last = after.last;
        self.settle_changes(changes);
        self.tell_usage();
        self.publish_all(&mut batch);
        self.tell_consumers(std::mem::take(&mut batch.news), after);
        for effect in std::mem::take(&mut batch.effects) {
            self.take_effect(effect, ctx);
        }
        self.release(&mut batch);
    }

    fn settle_changes(&mut self, changes: super::contents::Changes) {
        for removed in &changes.removed {
            self.lifetimes.forget(removed.seq);
        }
        if changes.is_wipe() {
            self.lifetimes.forget_up_to(changes.before().last);
        }
        let consumers = &mut self.consumers;
        let wiped = self.contents.settle(changes, |id, slot| consumers.forget_subject(id, slot));
        if let Some(wiped) = wiped {
            // A million subjects take a while to drop; nobody waits for it.
            drop(tokio::task::spawn_blocking(move || drop(wiped)));
        }
    }

    /// Tells JetStream what the stream uses, if that has changed.
    fn tell_usage(&mut self) {
        let usage = Usage {
            stream: self.id,
            bytes: self.contents.bytes(),
            messages: self.contents.messages(),
            consumers: self.consumers.len(),
        };
        let same = |told: &Usage| {
            (told.bytes, told.messages, told.consumers) == (usage.bytes, usage.messages, usage.consumers)
        };
        if !self.pipeline.told.as_ref().is_some_and(same) {
            self.pipeline.told = Some(usage);
            self.desk.usage.send(usage);
        }
    }

    fn publish_all(&mut self, batch: &mut Batch) {
        let switchboard = &self.setting.switchboard;
        if let Some(copies) = batch.copies.take(self.service, self.setting.account, None) {
            switchboard.any().publish.send(copies);
        }
        for (via, publish) in batch.take_acks(self.service, self.setting.account) {
            switchboard.line(via).publish.send(publish);
        }
        for (via, publish) in batch.take_replies(self.service, self.setting.account) {
            switchboard.line(via).publish.send(publish);
        }
    }

    /// Sends the answers to direct gets that have gathered, ahead of the rest of their batch.
    pub(in crate::jetstream) fn send_replies(&mut self) {
        for (via, publish) in self.pipeline.open.take_replies(self.service, self.setting.account) {
            self.setting.switchboard.line(via).publish.send(publish);
        }
    }

    fn tell_consumers(&self, news: BTreeMap<ConsumerId, News>, after: Mark) {
        for (id, news) in news {
            let Some(member) = self.consumers.get(id) else { continue };
            if news.matching > 0 {
                member.port.appended.send(Appended { last: after.last, matching: news.matching });
            }
            if !news.removed.is_empty() {
                member.port.removed.send(Removed { seqs: Arc::from(news.removed) });
            }
        }
    }

    fn release(&mut self, batch: &mut Batch) {
        self.pipeline.buffered_messages = self.pipeline.buffered_messages.saturating_sub(batch.messages);
        self.pipeline.buffered_bytes = self.pipeline.buffered_bytes.saturating_sub(batch.bytes);
        for (via, bytes) in batch.take_releases() {
            self.setting.switchboard.line(via).release.send(Release { id: self.service, bytes });
        }
    }

    fn take_effect(&mut self, effect: Effect, ctx: &mut Ctx<Self>) {
        match effect {
            Effect::Answer(answer) => {
                let Answer { request, body, is_counted, .. } = *answer;
                self.desk.answer.send(ApiAnswer { is_counted, ..ApiAnswer::whole(request, body) });
            }
            Effect::Saved { consumer, ticket } | Effect::Reconfigured { consumer, ticket, .. } => {
                self.tell_saved(consumer, ticket, true);
            }
            Effect::ConsumerCreated { consumer } => self.tell_saved(consumer, 0, true),
            Effect::Again(_) => {}
            Effect::Purged(purged) => self.tell_purged(&purged),
            Effect::Created { request } => {
                let info = self.info(super::info::Shown::Created);
                self.desk.answer.send(ApiAnswer::success(request, kinds::STREAM_CREATE, &info));
                self.advise("CREATED", "create");
            }
            Effect::Updated { request, .. } => {
                let info = self.info(super::info::Shown::Updated);
                self.desk.answer.send(ApiAnswer::success(request, kinds::STREAM_UPDATE, &info));
                self.advise("UPDATED", "modify");
            }
            Effect::Deleted { request } => {
                self.desk.answer.send(ApiAnswer::success(
                    request,
                    kinds::STREAM_DELETE,
                    &crate::jetstream::api::answer::Success::YES,
                ));
                self.advise("DELETED", "delete");
                self.end(ctx);
            }
            Effect::Later(later) => self.later(*later),
        }
    }

    fn tell_saved(&self, consumer: ConsumerId, ticket: u64, ok: bool) {
        if let Some(member) = self.consumers.get(consumer) {
            member.port.saved.send(Saved { ticket, ok });
        }
    }

    fn tell_purged(&mut self, purged: &Purged) {
        if purged.filter.is_none() {
            self.consumers.iter_mut().for_each(|member| member.need.settle_up_to(purged.first.saturating_sub(1)));
        }
        self.consumers.iter().for_each(|member| member.port.purged.send(purged.clone()));
    }

    fn end(&mut self, ctx: &mut Ctx<Self>) {
        self.closing = true;
        self.desk.ended.send(StreamEnded { stream: self.id });
        ctx.stop();
    }

    // ---- what is staged

    /// Tells the store what has gone.
    fn stage_changes(&mut self) {
        self.stage_owed();
        let changes = self.contents.changes();
        let first = self.contents.first();
        let advances = std::mem::take(&mut self.pipeline.advance) || changes.before().first != first;
        let left = changes.removed.iter().map(|removed| removed.seq).filter(|seq| *seq > first);
        let seqs: Vec<u64> = if changes.removed.is_empty() { Vec::new() } else { left.collect() };
        if advances {
            let last_timestamp = self.contents.last_timestamp().unwrap_or(0);
            self.store.stage(Change::Advance { first, last: self.contents.last(), last_timestamp });
        }
        if !seqs.is_empty() {
            self.store.stage(Change::Remove { seqs });
        }
    }

    fn stage_owed(&mut self) {
        for seq in std::mem::take(&mut self.pipeline.unsettled) {
            self.remove(seq, Cause::Settled);
        }
        if !self.pipeline.owed.is_empty() {
            let owed = std::mem::take(&mut self.pipeline.owed);
            owed.iter().for_each(|change| self.store.stage(change.clone()));
            self.pipeline.open.effects.push(Effect::Again(owed));
        }
    }

    /// Takes the counts of new messages to the consumers; also before the audiences change.
    pub(super) fn resolve_counts(&mut self) {
        let Pipeline { open, .. } = &mut self.pipeline;
        for (audience, count) in open.take_counts() {
            for consumer in self.consumers.audiences.set(audience).iter() {
                open.news.entry(*consumer).or_default().matching += count;
            }
        }
    }

    fn resolve_removed(&mut self) {
        if self.consumers.audiences.is_empty() || !self.contents.changes().is_of(&self.contents) {
            return;
        }
        let gone: Vec<_> = {
            let removed = self.contents.changes().removed.iter();
            removed
                .filter(|removed| removed.cause == Cause::Gone)
                .map(|removed| (removed.seq, removed.entry.subject))
                .collect()
        };
        for (seq, subject) in gone {
            let slot = self.contents.subjects.slot_mut(subject);
            let audience = self.consumers.audiences.number(slot);
            for consumer in self.consumers.audiences.set(audience).iter() {
                self.pipeline.open.news.entry(*consumer).or_default().removed.push(seq);
            }
        }
    }

    // ---- when a commit fails

    /// A commit failed, and with it all that came after: back to what is durable.
    fn failed(&mut self, at: usize, text: &str, ctx: &mut Ctx<Self>) {
        tracing::error!(stream = %self.name, account = %self.setting.account_name, "commit failed: {text}");
        self.pipeline.tally.failed_commits += 1;
        let open_changes = self.contents.seal();
        let mut failed: Vec<Flying> = self.pipeline.flying.drain(at..).collect();
        let open = std::mem::take(&mut self.pipeline.open);
        for changes in std::iter::once(&open_changes).chain(failed.iter().map(|flying| &flying.changes)) {
            let settled = changes.removed.iter().filter(|removed| removed.cause == Cause::Settled);
            self.pipeline.unsettled.extend(settled.map(|removed| removed.seq));
        }
        self.contents.undo(open_changes);
        let mut batches = vec![open];
        while let Some(flying) = failed.pop() {
            self.contents.undo(flying.changes);
            batches.push(flying.batch);
        }
        let last = self.contents.last();
        self.store.roll_back(last + 1);
        self.pipeline.advance = false;
        self.pipeline.unsettled.retain(|seq| *seq <= last);
        self.dedupe.take_back(last);
        self.lifetimes.take_back(last);
        self.consumers.iter_mut().for_each(|member| member.matching = Matching::Unknown);
        let first_changed = batches.iter_mut().rev().find_map(|batch| batch.last_msg_id.take());
        if let Some(id) = first_changed {
            self.dedupe.set_last(&id);
        }
        while let Some(batch) = batches.pop() {
            self.fail(batch, text, ctx);
        }
        self.set_retry();
    }

    fn fail(&mut self, mut batch: Batch, text: &str, ctx: &mut Ctx<Self>) {
        let acks: Vec<_> = batch.take_acks(self.service, self.setting.account).collect();
        acks.iter().for_each(|(via, publish)| self.refuse_all(*via, publish, text));
        // Direct gets said what is not so: they are answered anew.
        batch.gets.drain(..).for_each(|asked| self.later(Later::Ask(asked)));
        for effect in std::mem::take(&mut batch.effects) {
            self.undo_effect(effect, text, ctx);
        }
        self.release(&mut batch);
    }

    /// The publishers that would have got these acks get an error; errors among them stay.
    fn refuse_all(&mut self, via: RouterId, publish: &Publish, text: &str) {
        let error = ErrCode::StreamStoreFailed.text(text);
        for message in &publish.messages {
            let to = part(&publish.buffer, &message.route);
            let payload = part(&publish.buffer, &message.payload);
            let outbox = self.pipeline.open.acks(via);
            match payload.starts_with(br#"{"error""#) {
                true => outbox.message(to, b"", part(&publish.buffer, &message.headers), payload),
                false => self.acks.refused(to, &error, b"", outbox),
            }
        }
    }

    fn undo_effect(&mut self, effect: Effect, text: &str, ctx: &mut Ctx<Self>) {
        match effect {
            Effect::Answer(answer) => {
                let Answer { request, kind, failure, .. } = *answer;
                self.refuse(request, kind, &failure(text));
            }
            Effect::Saved { consumer, ticket } => self.tell_saved(consumer, ticket, false),
            Effect::Reconfigured { consumer, ticket, before } => {
                self.resolve_counts();
                self.consumers.reconfigure(consumer, before.config, before.filter);
                self.tell_saved(consumer, ticket, false);
            }
            Effect::ConsumerCreated { consumer } => {
                self.tell_saved(consumer, 0, false);
                self.resolve_counts();
                self.consumers.remove(consumer);
            }
            Effect::Again(changes) => self.pipeline.owed.extend(changes),
            Effect::Purged(_) => {}
            Effect::Created { request } => {
                self.refuse(request, kinds::STREAM_CREATE, &ErrCode::StreamCreate.text(text));
                self.end(ctx);
            }
            Effect::Updated { before, request } => {
                self.adopt(*before);
                let error = ErrCode::StreamUpdate.text(text);
                let (stream, config) = (self.id, self.config.clone());
                self.desk.refused.send(UpdateRefused { stream, config, request, error });
            }
            Effect::Deleted { request } => self.pipeline.delete_again = Some(request),
            Effect::Later(later) => self.later(*later),
        }
    }

    fn set_retry(&mut self) {
        let owes = !self.pipeline.owed.is_empty()
            || !self.pipeline.unsettled.is_empty()
            || self.pipeline.delete_again.is_some()
            || self.is_expiry_due();
        if owes && !self.pipeline.is_retry_set {
            self.pipeline.is_retry_set = true;
            let alarm = SetAlarm { after: RETRY_AFTER, token: alarms::RETRY, to: self.own.outlet() };
            self.setting.timers.send(alarm);
        }
    }

    /// What is owed is staged by the commit that follows this handler.
    pub(super) fn retry(&mut self) {
        self.pipeline.is_retry_set = false;
        if let Some(request) = self.pipeline.delete_again.take() {
            self.stage_deletion(request);
        }
        self.expire();
    }
}
