use super::gather::{Purpose, Round};
use super::registry::Registry;
use super::report::{ActorReport, VERSION};
use super::request::{Answer, Query};
use super::subjects::{Audience, REQUEST};
use crate::account::AccountId;
use crate::actor::{Act, Alarm, Ctx, Hello, Mailbox, Probe, Receive, SetAlarm, Snapshot, Timers};
use crate::router::messages::{
    AskInterest, Enlist, Ingest, Interest, Listen, Release, RouterId, ServiceId, ServicePort,
};
use crate::router::{Outbox, Switchboard, part};
use actix::prelude::AsyncContext;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// What the Stats actor is given.
#[derive(Clone)]
pub struct Options {
    pub server: String,
    pub interval: Duration,
    /// Where reports are published: at least the system account.
    pub audiences: Vec<Audience>,
    /// The first of as many service numbers as there are audiences.
    pub first_service: u64,
}

/// The Broker tells: an actor ended by a panic and has been begun again.
pub struct Panicked {
    pub kind: &'static str,
    pub name: String,
    pub text: String,
}

/// Brings the Stats actor into the house: from here on it can publish. Before, it only remembers who came.
pub struct Open {
    pub switchboard: Switchboard,
    pub timers: Mailbox<Timers>,
}

/// Requests that may wait for their probes at once; more are told to come again.
const MAX_REQUESTS: usize = 16;
/// Subjects asked about in one message.
const ASK_AT_ONCE: usize = 1024;
/// Token of the interval's alarm; rounds use their own number.
const TICK: u64 = 0;
/// How long a request waits for actors that do not answer.
const PATIENCE: Duration = Duration::from_millis(500);

/// Gathers what every actor shows, and tells those who want to know.
pub struct Stats {
    own: Mailbox<Stats>,
    options: Options,
    open: Option<Open>,
    registry: Registry,
    rounds: BTreeMap<u64, Round>,
    next_round: u64,
    /// Questions to the router on their way: the audience, and the first actor asked about (none for the roll-up).
    asked: HashMap<u32, (usize, Option<Vec<u64>>)>,
    next_ask: u32,
    /// What the answers so far say: actor -> audiences.
    wanted: HashMap<u64, Vec<usize>>,
    summary_wanted: Vec<usize>,
    outboxes: Vec<Outbox>,
    published: u64,
    answered: u64,
}

/// What the Stats actor shows of itself.
#[derive(Serialize)]
pub struct StatsState {
    pub actors: usize,
    pub rounds: usize,
    pub published: u64,
    pub answered: u64,
}

impl Stats {
    pub fn new(own: Mailbox<Stats>, options: Options) -> Self {
        let outboxes = options.audiences.iter().map(|_| Outbox::default()).collect();
        Self {
            own,
            options,
            open: None,
            registry: Registry::default(),
            rounds: BTreeMap::new(),
            next_round: TICK + 1,
            asked: HashMap::new(),
            next_ask: 0,
            wanted: HashMap::new(),
            summary_wanted: Vec::new(),
            outboxes,
            published: 0,
            answered: 0,
        }
    }

    fn service(&self, audience: usize) -> ServiceId {
        ServiceId(self.options.first_service + audience as u64)
    }

    /// Asks the router which reports would reach anybody now.
    fn ask_who_listens(&mut self) {
        self.registry.prune();
        self.asked.clear();
        for at in 0..self.options.audiences.len() {
            if self.options.audiences[at].prefix.is_empty() {
                continue;
            }
            let summary = self.options.audiences[at].summary();
            self.ask(at, None, vec![summary.into()]);
            let mut from = 0;
            loop {
                let audience = &self.options.audiences[at];
                let slice: Vec<_> = self.registry.slice(from, ASK_AT_ONCE).collect();
                let Some(&(last, _)) = slice.last() else { break };
                let numbers = slice.iter().map(|(number, _)| *number).collect();
                let subjects =
                    slice.iter().map(|(_, known)| audience.subject(known.kind, &known.name).into()).collect();
                self.ask(at, Some(numbers), subjects);
                from = last + 1;
            }
        }
    }

    fn ask(&mut self, audience: usize, actors: Option<Vec<u64>>, subjects: Vec<bytes::Bytes>) {
        let Some(open) = &self.open else { return };
        let tag = self.next_ask;
        self.next_ask = self.next_ask.wrapping_add(1);
        self.asked.insert(tag, (audience, actors));
        open.switchboard.any().ask.send(AskInterest { id: self.service(audience), tag, subjects });
    }

    /// All answers are in: probe whom somebody wants to see.
    fn publish_round(&mut self) {
        let (wanted, summary) = (std::mem::take(&mut self.wanted), std::mem::take(&mut self.summary_wanted));
        if wanted.is_empty() && summary.is_empty() {
            return;
        }
        let all = !summary.is_empty();
        let numbers: Vec<u64> =
            self.registry.slice(0, usize::MAX).map(|(n, _)| n).filter(|n| all || wanted.contains_key(n)).collect();
        let round = Round::new(&self.options.server, Purpose::Publish { wanted, summary });
        self.probe(round, &numbers, self.options.interval);
    }

    fn probe(&mut self, mut round: Round, numbers: &[u64], patience: Duration) {
        let id = self.next_round;
        self.next_round += 1;
        for &number in numbers {
            let Some(known) = self.registry.get(number) else { continue };
            round.waiting.insert((known.kind, known.name.clone()), number);
            known.probe.do_send(Probe { round: id, to: self.own.outlet() });
        }
        let complete = round.is_complete();
        self.rounds.insert(id, round);
        if complete {
            self.finish(id);
        } else if let Some(open) = &self.open {
            open.timers.send(SetAlarm { after: patience, token: id, to: self.own.outlet() });
        }
    }

    /// A round is complete, or has waited long enough.
    fn finish(&mut self, id: u64) {
        let Some(mut round) = self.rounds.remove(&id) else { return };
        for (kind, _) in round.waiting.keys() {
            round.summary.add_silent(kind);
        }
        match round.purpose {
            Purpose::Publish { summary, .. } => {
                let body = serde_json::to_vec(&round.summary).unwrap_or_default();
                for at in summary {
                    let subject = self.options.audiences[at].summary();
                    self.outboxes[at].message(subject.as_bytes(), b"", b"", &body);
                    self.published += 1;
                }
            }
            Purpose::Answer { query, account, via, reply } => {
                let total = round.reports.len() + round.waiting.len();
                query.arrange(&mut round.reports);
                self.answer(account, via, &reply, total, None, round.reports);
            }
        }
        self.send_published();
    }

    fn answer(
        &mut self,
        account: AccountId,
        via: RouterId,
        reply: &[u8],
        total: usize,
        error: Option<String>,
        actors: Vec<ActorReport>,
    ) {
        let answer = Answer { v: VERSION, server: self.options.server.clone(), total, error, actors };
        let body = serde_json::to_vec(&answer).unwrap_or_default();
        let Some(at) = self.options.audiences.iter().position(|a| a.account == account) else { return };
        let mut outbox = Outbox::default();
        outbox.message(reply, b"", b"", &body);
        let publish = outbox.take(self.service(at), account, None);
        if let (Some(open), Some(publish)) = (&self.open, publish) {
            open.switchboard.line(via).publish.send(publish);
            self.answered += 1;
        }
    }

    fn send_published(&mut self) {
        let Some(open) = &self.open else { return };
        for (at, outbox) in self.outboxes.iter_mut().enumerate() {
            let id = ServiceId(self.options.first_service + at as u64);
            if let Some(publish) = outbox.take(id, self.options.audiences[at].account, None) {
                open.switchboard.any().publish.send(publish);
            }
        }
    }
}

impl Act for Stats {
    const KIND: &'static str = "stats";
    type State = StatsState;

    fn name(&self) -> String {
        "stats".into()
    }

    fn observe(&self) -> StatsState {
        let (actors, rounds) = (self.registry.len(), self.rounds.len());
        StatsState { actors, rounds, published: self.published, answered: self.answered }
    }

    /// It was there before there was anybody to introduce itself to.
    fn started(&mut self, ctx: &mut Ctx<Self>) {
        let probe = ctx.address().recipient();
        self.registry.add(Hello { kind: Self::KIND, name: self.name(), probe });
    }

    fn wake(&mut self, _: &mut Ctx<Self>, _: &mut std::task::Context<'_>) {
        self.send_published();
    }
}

impl Receive<Hello> for Stats {
    fn receive(&mut self, hello: Hello, _: &mut Ctx<Self>) {
        self.registry.add(hello);
    }
}

impl Receive<Panicked> for Stats {
    fn receive(&mut self, ended: Panicked, _: &mut Ctx<Self>) {
        self.registry.panicked(ended.kind, &ended.name, ended.text);
    }
}

impl Receive<Open> for Stats {
    fn receive(&mut self, open: Open, _: &mut Ctx<Self>) {
        for (at, audience) in self.options.audiences.iter().enumerate() {
            let (id, account) = (self.service(at), audience.account);
            let port = ServicePort { ingest: self.own.outlet(), receipt: None, interest: Some(self.own.outlet()) };
            open.switchboard.enlist(&Enlist { id, account, port });
            let subject = bytes::Bytes::from_static(REQUEST.as_bytes());
            open.switchboard.listen(&Listen { id, tag: 0, subject, except: Vec::new() });
        }
        open.timers.send(SetAlarm { after: self.options.interval, token: TICK, to: self.own.outlet() });
        self.open = Some(open);
    }
}

impl Receive<Alarm> for Stats {
    fn receive(&mut self, alarm: Alarm, _: &mut Ctx<Self>) {
        if alarm.0 != TICK {
            return self.finish(alarm.0);
        }
        self.ask_who_listens();
        if let Some(open) = &self.open {
            open.timers.send(SetAlarm { after: self.options.interval, token: TICK, to: self.own.outlet() });
        }
    }
}

impl Receive<Interest> for Stats {
    fn receive(&mut self, interest: Interest, _: &mut Ctx<Self>) {
        let Some((audience, actors)) = self.asked.remove(&interest.tag) else { return };
        match actors {
            None if interest.present.first() == Some(&true) => self.summary_wanted.push(audience),
            None => {}
            Some(numbers) => {
                let present = numbers.iter().zip(&interest.present).filter(|(_, present)| **present);
                present.for_each(|(number, _)| self.wanted.entry(*number).or_default().push(audience));
            }
        }
        if self.asked.is_empty() {
            self.publish_round();
        }
    }
}

impl Receive<Snapshot> for Stats {
    fn receive(&mut self, snapshot: Snapshot, _: &mut Ctx<Self>) {
        let id = snapshot.round;
        let Some(round) = self.rounds.get_mut(&id) else { return };
        let lag = round.sent.elapsed().as_nanos() as u64;
        let report = ActorReport::new(&self.options.server, snapshot, lag, &self.registry);
        let Some(number) = round.waiting.remove(&(report.kind, report.name.clone())) else { return };
        round.summary.add(&report);
        match &round.purpose {
            Purpose::Publish { wanted, .. } => {
                for &at in wanted.get(&number).map(Vec::as_slice).unwrap_or_default() {
                    let subject = self.options.audiences[at].subject(report.kind, &report.name);
                    let body = serde_json::to_vec(&report).unwrap_or_default();
                    self.outboxes[at].message(subject.as_bytes(), b"", b"", &body);
                    self.published += 1;
                }
            }
            Purpose::Answer { .. } => round.reports.push(report),
        }
        if self.rounds.get(&id).is_some_and(Round::is_complete) {
            self.finish(id);
        }
    }
}

impl Receive<Ingest> for Stats {
    fn receive(&mut self, ingest: Ingest, _: &mut Ctx<Self>) {
        let (account, via) = (ingest.account, ingest.via);
        for message in &ingest.messages {
            let reply = ingest.buffer.slice(message.reply.start as usize..message.reply.end as usize);
            if reply.is_empty() {
                continue;
            }
            let busy = self.rounds.values().filter(|r| matches!(r.purpose, Purpose::Answer { .. })).count();
            if busy >= MAX_REQUESTS {
                let error = Some("too many requests".to_string());
                self.answer(account, via, &reply, 0, error, Vec::new());
                continue;
            }
            match Query::parse(part(&ingest.buffer, &message.payload)) {
                Err(error) => self.answer(account, via, &reply, 0, Some(error), Vec::new()),
                Ok(query) => {
                    self.registry.prune();
                    let all = self.registry.slice(0, usize::MAX);
                    let wanted = all.filter(|(_, known)| query.wants(known.kind, &known.name));
                    let numbers: Vec<u64> = wanted.map(|(number, _)| number).collect();
                    let purpose = Purpose::Answer { query, account, via, reply };
                    self.probe(Round::new(&self.options.server, purpose), &numbers, PATIENCE);
                }
            }
        }
        if let (Some(open), Some(at)) = (&self.open, self.options.audiences.iter().position(|a| a.account == account)) {
            open.switchboard.line(via).release.send(Release { id: self.service(at), bytes: ingest.bytes });
        }
    }
}
