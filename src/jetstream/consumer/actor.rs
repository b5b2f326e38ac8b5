use super::acks::AckWaits;
use super::advisory::Advisories;
use super::agenda::{Agenda, Matter};
use super::asking::Asking;
use super::config::{AckPolicy, PriorityPolicy};
use super::deadlines::Deadlines;
use super::ledger::Ledger;
use super::pace::Pace;
use super::pin::Pin;
use super::ports::{OwnPort, StreamPort};
use super::posts::Posts;
use super::pull::PullQueue;
use super::push::Push;
use super::read_ahead::ReadAhead;
use super::reading::Reading;
use super::redelivery::RedeliveryQueue;
use super::saving::Saving;
use super::subjects::Subjects;
use super::tally::Tally;
use super::{ConsumerBirth, ConsumerConfig, sample};
use crate::actor::{Act, Alarm, Ctx, Mailbox, Outlet, Receive};
use crate::jetstream::Setting;
use crate::jetstream::messages::*;
use crate::jetstream::stream::config::Retention;
use crate::jetstream::time;
use crate::router::messages::{Enlist, Ingest, Interest, Receipt, Release, ServiceId};
use crate::store::ConsumerId;
use serde::Serialize;
use std::sync::Arc;
use std::task;

/// One consumer: hands out the messages of its stream, and keeps account of them.
///
/// Handlers only change what it knows; everything that leaves, leaves from [`wake`](Act::wake): deliveries, saves,
/// confirmations, events, the next alarm.
pub struct Consumer {
    pub(super) setting: Setting,
    pub(super) stream: StreamPort,
    pub(super) jetstream: Outlet<ApiAnswer>,
    pub(super) own: OwnPort,
    pub(super) id: ConsumerId,
    pub(super) service: ServiceId,
    pub(super) stream_name: Arc<str>,
    pub(super) stream_identity: Arc<str>,
    pub(super) name: Arc<str>,
    pub(super) subjects: Subjects,
    pub(super) config: ConsumerConfig,
    pub(super) created: i64,
    /// No reset goes back further than this, for `by_start_time`.
    pub(super) earliest: u64,
    /// Percent of acknowledgements that are measured.
    pub(super) sampling: u32,
    /// Nothing is delivered until then.
    pub(super) paused_until: Option<i64>,
    pub(super) ledger: Ledger,
    /// The next stream sequence to look at.
    pub(super) next_seq: u64,
    pub(super) tally: Tally,
    pub(super) read_ahead: ReadAhead,
    pub(super) redeliveries: RedeliveryQueue,
    pub(super) waits: AckWaits,
    pub(super) deadlines: Deadlines,
    pub(super) agenda: Agenda,
    pub(super) pulls: PullQueue,
    /// Pull requests ever made.
    pub(super) pulled: u64,
    pub(super) pin: Pin,
    pub(super) push: Push,
    pub(super) pace: Pace,
    pub(super) posts: Posts,
    pub(super) news: Advisories,
    pub(super) reading: Reading,
    pub(super) saving: Saving,
    pub(super) asking: Asking,
    /// Requests for its info that wait until it can be told.
    pub(super) inquiries: Vec<super::info::Inquiry>,
    /// When it was last used.
    pub(super) active: i64,
    pub(super) last_delivered: Option<i64>,
    pub(super) last_acked: Option<i64>,
    pub(super) tickets: u64,
    /// It exists for sure: its creation is durable.
    pub(super) is_born: bool,
    pub(super) is_ended: bool,
}

/// What a Consumer shows.
#[derive(Debug, Serialize)]
pub struct ConsumerStats {
    pub stream: String,
    pub consumer: String,
    /// `pull` or `push`.
    pub kind: &'static str,
    pub ack_policy: AckPolicy,
    pub delivered_stream: u64,
    pub delivered_consumer: u64,
    pub floor_stream: u64,
    pub floor_consumer: u64,
    /// Delivered, not acknowledged.
    pub ack_pending: usize,
    pub redelivered: usize,
    /// Waiting to be delivered again.
    pub to_redeliver: usize,
    /// Pull requests waiting.
    pub waiting: usize,
    /// Messages not yet delivered.
    pub pending: u64,
    /// Messages read and not yet delivered.
    pub read_ahead: usize,
    /// Batches of deliveries on their way.
    pub in_flight: usize,
    /// Saves under way.
    pub saving: usize,
    pub paused: bool,
    /// For push: somebody listens.
    pub bound: bool,
}

impl Consumer {
    /// A consumer that begins, or goes on where it was recovered. It answers `birth.request` when its stream says that
    /// it is saved (ticket 0).
    pub fn new<S, J>(
        setting: Setting,
        stream: Mailbox<S>,
        jetstream: Mailbox<J>,
        own: Mailbox<Consumer>,
        birth: ConsumerBirth,
    ) -> Self
    where
        S: Act
            + Receive<Read>
            + Receive<ReadThese>
            + Receive<Count>
            + Receive<Save>
            + Receive<SaveConfig>
            + Receive<Expired>
            + Receive<Described>,
        J: Act + Receive<ApiAnswer>,
    {
        let ConsumerBirth { id, name, stream_name, retention, max_message, config, created, start, .. } = birth;
        let domain = setting.limits.domain.clone();
        let long = setting.limits.long_ack_subjects;
        let subjects = Subjects::new(&stream_name, &name, &setting.account_name, domain.as_deref(), long);
        let is_recovered = birth.recovered.is_some();
        let listed = start.last_per_subject.unwrap_or_default();
        let next = listed.first().copied().unwrap_or(start.next).max(1);
        // After a list comes what was stored since.
        let after = if listed.is_empty() { next } else { start.next.max(start.stream_last + 1) };
        let state = birth.recovered.unwrap_or_else(|| Ledger::beginning(next));
        let now = setting.clock.now();
        Self {
            stream: StreamPort::to(&stream),
            jetstream: jetstream.outlet(),
            own: OwnPort::to(&own),
            id,
            service: setting.consumer_service(birth.stream_id, id),
            news: Advisories::new(&stream_name, &name, domain),
            stream_name,
            stream_identity: birth.stream_identity,
            name,
            push: Push::new(&config),
            pace: Pace::new(&config, max_message, start.stream_last, now),
            subjects,
            created,
            earliest: start.earliest,
            sampling: sample::parse(&config.sample_freq).unwrap_or(0),
            paused_until: pause_of(&config),
            ledger: Ledger::new(state, retention != Retention::Limits),
            next_seq: next,
            tally: Tally::new(start.pending),
            read_ahead: ReadAhead::new(after, start.upto, listed),
            redeliveries: RedeliveryQueue::default(),
            waits: AckWaits::new(&config),
            deadlines: Deadlines::default(),
            agenda: Agenda::default(),
            pulls: PullQueue::new(config.priority_policy == PriorityPolicy::Prioritized),
            pulled: 0,
            pin: Pin::default(),
            posts: Posts::default(),
            reading: Reading::default(),
            saving: Saving::new(birth.request),
            asking: Asking::default(),
            inquiries: Vec::new(),
            active: now,
            last_delivered: None,
            last_acked: None,
            tickets: 0,
            is_born: is_recovered,
            is_ended: false,
            config,
            setting,
        }
    }

    pub(super) fn now(&self) -> i64 {
        self.setting.clock.now()
    }

    pub(super) fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    pub(super) fn is_paused(&self, now: i64) -> bool {
        self.paused_until.is_some_and(|until| until > now)
    }

    /// Deliveries wait for acknowledgements.
    pub(super) fn is_tracked(&self) -> bool {
        self.config.ack_policy != AckPolicy::None
    }

    /// Sends what has gathered.
    pub(super) fn flush(&mut self) {
        let (service, account) = (self.service, self.setting.account);
        self.posts.flush(service, account, &self.setting.switchboard);
        if let Some(news) = self.news.outbox.take(service, account, None) {
            self.setting.switchboard.any().publish.send(news);
        }
    }

    fn work(&mut self) {
        let now = self.now();
        self.on_time(now);
        self.deliver(now);
        self.read_on();
        self.save();
        self.answer_inquiries(now);
        self.ask_interest();
        self.flush();
        self.arm(now);
    }

    fn arm(&mut self, now: i64) {
        let due = self.next_deadline();
        self.agenda.set(Matter::AckWait, due);
        if let Some(alarm) = self.agenda.arm(now, &self.own.alarm) {
            self.setting.timers.send(alarm);
        }
    }

    /// Leaves the house.
    pub(super) fn end(&mut self, ctx: &mut Ctx<Self>) {
        use actix::ActorContext;
        self.flush();
        self.is_ended = true;
        self.setting.switchboard.dismiss(self.service);
        ctx.stop();
    }
}

/// Until when a configuration says that nothing is delivered.
pub(super) fn pause_of(config: &ConsumerConfig) -> Option<i64> {
    let until = config.pause_until.as_deref()?;
    time::parse(until).ok().filter(|&until| until != time::NEVER)
}

impl Act for Consumer {
    const KIND: &'static str = "consumer";
    type State = ConsumerStats;

    fn name(&self) -> String {
        format!("{}.{}.{}", self.setting.account_name, self.stream_name, self.name)
    }

    fn observe(&self) -> ConsumerStats {
        let state = self.ledger.state();
        ConsumerStats {
            stream: self.stream_name.to_string(),
            consumer: self.name.to_string(),
            kind: if self.config.is_push() { "push" } else { "pull" },
            ack_policy: self.config.ack_policy,
            delivered_stream: state.delivered_stream,
            delivered_consumer: state.delivered_consumer,
            floor_stream: state.floor_stream,
            floor_consumer: state.floor_consumer,
            ack_pending: state.pending.len(),
            redelivered: state.redelivered.len(),
            to_redeliver: self.redeliveries.len(),
            waiting: self.pulls.len(),
            pending: self.pending_messages(),
            read_ahead: self.read_ahead.len(),
            in_flight: self.posts.in_flight(),
            saving: self.saving.under_way(),
            paused: self.is_paused(self.now()),
            bound: self.push.is_active(),
        }
    }

    fn started(&mut self, _: &mut Ctx<Self>) {
        let port = self.own.service.clone();
        self.setting.switchboard.enlist(&Enlist { id: self.service, account: self.setting.account, port });
        for listen in self.subjects.listens(self.service, &self.config) {
            self.setting.switchboard.listen(&listen);
        }
        self.watch_deliver_subject();
        let now = self.now();
        self.begin_timers(now);
        if self.is_born {
            self.resume_pending(now);
        }
    }

    fn wake(&mut self, _: &mut Ctx<Self>, _: &mut task::Context<'_>) {
        if !self.is_ended {
            self.work();
        }
    }
}

impl Receive<Ingest> for Consumer {
    fn receive(&mut self, ingest: Ingest, _: &mut Ctx<Self>) {
        self.take_in(&ingest);
        let release = Release { id: self.service, bytes: ingest.bytes };
        self.setting.switchboard.line(ingest.via).release.send(release);
    }
}

impl Receive<Receipt> for Consumer {
    fn receive(&mut self, receipt: Receipt, _: &mut Ctx<Self>) {
        self.arrived(&receipt);
    }
}

impl Receive<Interest> for Consumer {
    fn receive(&mut self, interest: Interest, _: &mut Ctx<Self>) {
        self.heard(&interest);
    }
}

impl Receive<Alarm> for Consumer {
    fn receive(&mut self, alarm: Alarm, _: &mut Ctx<Self>) {
        // What its time has come for is done in `wake`.
        self.agenda.rang(alarm);
    }
}

impl Receive<Appended> for Consumer {
    fn receive(&mut self, appended: Appended, _: &mut Ctx<Self>) {
        self.appended(appended);
    }
}

impl Receive<Removed> for Consumer {
    fn receive(&mut self, removed: Removed, _: &mut Ctx<Self>) {
        removed.seqs.iter().for_each(|&seq| self.removed(seq));
    }
}

impl Receive<Purged> for Consumer {
    fn receive(&mut self, purged: Purged, _: &mut Ctx<Self>) {
        self.purged(&purged);
    }
}

impl Receive<Records> for Consumer {
    fn receive(&mut self, records: Records, _: &mut Ctx<Self>) {
        self.records(records);
    }
}

impl Receive<Counted> for Consumer {
    fn receive(&mut self, counted: Counted, _: &mut Ctx<Self>) {
        self.counted(counted);
    }
}

impl Receive<Saved> for Consumer {
    fn receive(&mut self, saved: Saved, ctx: &mut Ctx<Self>) {
        self.saved(saved, ctx);
    }
}

impl Receive<TellSettled> for Consumer {
    fn receive(&mut self, _: TellSettled, _: &mut Ctx<Self>) {
        self.ledger.tell_settled();
    }
}

impl Receive<ApiCall> for Consumer {
    fn receive(&mut self, call: ApiCall, _: &mut Ctx<Self>) {
        self.call(call);
    }
}

impl Receive<Describe> for Consumer {
    fn receive(&mut self, describe: Describe, _: &mut Ctx<Self>) {
        self.inquiries.push(super::info::Inquiry::List(describe.ticket));
    }
}

impl Receive<UpdateConsumer> for Consumer {
    fn receive(&mut self, update: UpdateConsumer, _: &mut Ctx<Self>) {
        self.update(update);
    }
}

impl Receive<EndConsumer> for Consumer {
    fn receive(&mut self, _: EndConsumer, ctx: &mut Ctx<Self>) {
        self.deleted(ctx);
    }
}

impl Receive<ServerShutdown> for Consumer {
    fn receive(&mut self, _: ServerShutdown, ctx: &mut Ctx<Self>) {
        self.shut_down(ctx);
    }
}
