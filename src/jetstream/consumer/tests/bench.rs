//! A consumer between a stream and a router that are played, with a clock moved by hand.

use crate::account::AccountId;
use crate::actor::{Act, Alarm, Clock, Ctx, House, Mailbox, Receive, Timers, launch_here};
use crate::jetstream::api::endpoint::Endpoint;
use crate::jetstream::consumer::{Consumer, ConsumerBirth, ConsumerConfig, Start, StreamContext, defaults, validate};
use crate::jetstream::messages::*;
use crate::jetstream::stream::StreamConfig;
use crate::jetstream::stream::config::{Retention, Storage};
use crate::jetstream::{Limits, Setting};
use crate::protocol::StoredMessage;
use crate::router::messages::*;
use crate::router::{Line, Switchboard, part};
use crate::store::{ConsumerId, ConsumerState, Hot, StorePort, StreamId, StreamStore, StreamStores};
use crate::subject::Filter;
use bytes::Bytes;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

pub const MS: i64 = 1_000_000;
pub const SECOND: i64 = 1_000 * MS;
const START: i64 = 1_700_000_000 * SECOND;

/// What the played actors saw, and how they are to behave.
#[derive(Default)]
pub struct World {
    pub messages: BTreeMap<u64, StoredMessage>,
    pub last: u64,
    pub filter: Filter,
    /// Who listens where.
    pub listeners: BTreeSet<String>,
    /// What reached a listener.
    pub seen: Vec<Seen>,
    /// What found nobody.
    pub unheard: Vec<String>,
    pub answers: Vec<Value>,
    /// The consumer's state as saved.
    pub state: ConsumerState,
    pub settled: Vec<u64>,
    pub settled_upto: u64,
    pub saves: usize,
    pub whole_saves: usize,
    pub fail_saves: bool,
    pub hold_saves: bool,
    pub held: Vec<u64>,
    pub hold_receipts: bool,
    pub held_receipts: Vec<Receipt>,
    pub expired: bool,
    pub dismissed: bool,
    pub read_messages: usize,
    watch: Option<(u32, String)>,
    port: Option<ServicePort>,
    consumer: Option<Mailbox<Consumer>>,
}

/// A published message that reached somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub to: String,
    pub subject: String,
    pub reply: String,
    pub headers: String,
    pub payload: String,
}

impl Seen {
    /// The status line, of a status.
    pub fn status(&self) -> Option<&str> {
        self.headers
            .strip_prefix("NATS/1.0 ")
            .and_then(|rest| rest.split("\r\n").next())
            .filter(|_| self.reply.is_empty())
    }

    /// `delivered.stream.consumer` and `pending` of a delivery.
    pub fn numbers(&self) -> String {
        let tokens: Vec<&str> = self.reply.split('.').collect();
        assert_eq!(tokens.len(), 9, "{self:?}");
        format!("{}.{}.{}+{}", tokens[4], tokens[5], tokens[6], tokens[8])
    }
}

pub type Shared = Arc<Mutex<World>>;

pub struct ManualClock(AtomicI64);

impl Clock for ManualClock {
    fn now(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

struct NoStore;

impl StreamStores for NoStore {
    fn durable(&self, _: StreamId, _: Hot, _: StorePort) -> Box<dyn StreamStore> {
        unreachable!("no test asks for a store")
    }

    fn memory(&self, _: StreamId, _: StorePort) -> Box<dyn StreamStore> {
        unreachable!("no test asks for a store")
    }
}

struct FakeStream(Shared);
struct FakeRouter(Shared);
struct FakeJetStream(Shared);

macro_rules! fake {
    ($name:ident) => {
        impl Act for $name {
            const KIND: &'static str = "fake";
            type State = ();

            fn name(&self) -> String {
                "fake".into()
            }

            fn observe(&self) {}
        }
    };
}
fake!(FakeStream);
fake!(FakeRouter);
fake!(FakeJetStream);

impl World {
    fn consumer(&self) -> &Mailbox<Consumer> {
        self.consumer.as_ref().expect("launched before anything is sent")
    }

    pub fn store(&mut self, subject: &str, payload: &str, timestamp: i64) -> u64 {
        self.last += 1;
        let buffer = Bytes::from(format!("{subject}{payload}"));
        let (at, end) = (subject.len() as u32, buffer.len() as u32);
        let message = StoredMessage::new(self.last, timestamp, buffer, 0..at, at..at, at..end).expect("within");
        self.messages.insert(self.last, message);
        self.last
    }

    fn reaches(&self, subject: &str) -> bool {
        self.listeners.contains(subject)
    }

    fn tell_watch(&self) {
        if let (Some((tag, subject)), Some(port)) = (&self.watch, &self.port) {
            let interest = port.interest.as_ref().expect("given");
            interest.send(Interest { tag: *tag, present: vec![self.reaches(subject)] });
        }
    }
}

impl Receive<Read> for FakeStream {
    fn receive(&mut self, read: Read, _: &mut Ctx<Self>) {
        let mut world = self.0.lock().unwrap();
        let matching = world.messages.range(read.from..).filter(|(_, m)| world.filter.matches(m.subject()));
        let messages: Vec<_> = matching.take(read.max_messages).map(|(_, m)| m.clone()).collect();
        let next = match messages.len() == read.max_messages {
            true => messages.last().map_or(read.from, |m| m.seq + 1),
            false => world.last + 1,
        };
        world.read_messages += messages.len();
        world.consumer().send(Records { ticket: read.ticket, messages, next });
    }
}

impl Receive<ReadThese> for FakeStream {
    fn receive(&mut self, read: ReadThese, _: &mut Ctx<Self>) {
        let world = self.0.lock().unwrap();
        let messages = read.seqs.iter().filter_map(|seq| world.messages.get(seq).cloned()).collect();
        world.consumer().send(Records { ticket: read.ticket, messages, next: 0 });
    }
}

impl Receive<Count> for FakeStream {
    fn receive(&mut self, count: Count, _: &mut Ctx<Self>) {
        let world = self.0.lock().unwrap();
        let pending = world.messages.range(count.from..).filter(|(_, m)| world.filter.matches(m.subject())).count();
        let counted = Counted { ticket: count.ticket, pending: pending as u64, upto: world.last };
        world.consumer().send(counted);
    }
}

impl Receive<Save> for FakeStream {
    fn receive(&mut self, save: Save, _: &mut Ctx<Self>) {
        let mut world = self.0.lock().unwrap();
        world.saves += 1;
        if world.fail_saves {
            return world.consumer().send(Saved { ticket: save.ticket, ok: false });
        }
        if let Some(state) = save.state {
            world.whole_saves += 1;
            world.state = state;
        }
        save.deltas.iter().for_each(|delta| world.state.apply(delta));
        world.settled.extend(save.settled);
        world.settled_upto = world.settled_upto.max(save.settled_upto);
        match world.hold_saves {
            true => world.held.push(save.ticket),
            false => world.consumer().send(Saved { ticket: save.ticket, ok: true }),
        }
    }
}

impl Receive<SaveConfig> for FakeStream {
    fn receive(&mut self, save: SaveConfig, _: &mut Ctx<Self>) {
        let mut world = self.0.lock().unwrap();
        world.filter = save.filter;
        world.consumer().send(Saved { ticket: save.ticket, ok: true });
    }
}

impl Receive<Expired> for FakeStream {
    fn receive(&mut self, _: Expired, _: &mut Ctx<Self>) {
        self.0.lock().unwrap().expired = true;
    }
}

impl Receive<Described> for FakeStream {
    fn receive(&mut self, described: Described, _: &mut Ctx<Self>) {
        let info = serde_json::from_str(described.info.get()).expect("JSON");
        self.0.lock().unwrap().answers.push(info);
    }
}

impl Receive<ApiAnswer> for FakeJetStream {
    fn receive(&mut self, answer: ApiAnswer, _: &mut Ctx<Self>) {
        let body: Value = serde_json::from_slice(&answer.body).expect("JSON");
        assert_eq!(body.get("error").is_some(), answer.is_error);
        self.0.lock().unwrap().answers.push(body);
    }
}

impl Receive<Enlist> for FakeRouter {
    fn receive(&mut self, enlist: Enlist, _: &mut Ctx<Self>) {
        self.0.lock().unwrap().port = Some(enlist.port);
    }
}

impl Receive<Dismiss> for FakeRouter {
    fn receive(&mut self, _: Dismiss, _: &mut Ctx<Self>) {
        self.0.lock().unwrap().dismissed = true;
    }
}

impl Receive<Listen> for FakeRouter {
    fn receive(&mut self, _: Listen, _: &mut Ctx<Self>) {}
}

impl Receive<Unlisten> for FakeRouter {
    fn receive(&mut self, _: Unlisten, _: &mut Ctx<Self>) {}
}

impl Receive<Release> for FakeRouter {
    fn receive(&mut self, _: Release, _: &mut Ctx<Self>) {}
}

impl Receive<Publish> for FakeRouter {
    fn receive(&mut self, publish: Publish, _: &mut Ctx<Self>) {
        let mut world = self.0.lock().unwrap();
        let text = |span: &Span| String::from_utf8_lossy(part(&publish.buffer, span)).into_owned();
        let mut undelivered = Vec::new();
        for (index, message) in publish.messages.iter().enumerate() {
            let to = text(&message.route);
            if !world.reaches(&to) {
                undelivered.push(index as u32);
                world.unheard.push(to);
                continue;
            }
            let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (subject, payload) = match &message.stored {
                Some(stored) => (lossy(stored.subject()), lossy(stored.payload())),
                None => (text(&message.subject), text(&message.payload)),
            };
            world.seen.push(Seen {
                to,
                subject,
                reply: text(&message.reply),
                headers: text(&message.headers),
                payload,
            });
        }
        if let Some(number) = publish.receipt {
            let receipt = Receipt { number, undelivered };
            match world.hold_receipts {
                true => world.held_receipts.push(receipt),
                false => world.port.as_ref().and_then(|p| p.receipt.as_ref()).expect("given").send(receipt),
            }
        }
    }
}

impl Receive<Watch> for FakeRouter {
    fn receive(&mut self, watch: Watch, _: &mut Ctx<Self>) {
        let mut world = self.0.lock().unwrap();
        world.watch = Some((watch.tag, String::from_utf8_lossy(&watch.subject).into_owned()));
        world.tell_watch();
    }
}

impl Receive<Unwatch> for FakeRouter {
    fn receive(&mut self, _: Unwatch, _: &mut Ctx<Self>) {}
}

impl Receive<AskInterest> for FakeRouter {
    fn receive(&mut self, ask: AskInterest, _: &mut Ctx<Self>) {
        let world = self.0.lock().unwrap();
        let present = ask.subjects.iter().map(|s| world.reaches(&String::from_utf8_lossy(s))).collect();
        let port = world.port.as_ref().and_then(|port| port.interest.as_ref());
        port.expect("given").send(Interest { tag: ask.tag, present });
    }
}

/// The consumer under test, and everything around it.
pub struct Bench {
    pub world: Shared,
    pub consumer: Mailbox<Consumer>,
    clock: Arc<ManualClock>,
    asked: u64,
}

impl Bench {
    /// A consumer `c` of a stream `S` with messages on these subjects, that begins with the first.
    pub async fn new(config: Value, subjects: &[&str]) -> Self {
        Self::with(config, subjects, |_| {}).await
    }

    pub async fn with(config: Value, subjects: &[&str], change: impl FnOnce(&mut ConsumerBirth)) -> Self {
        let bench = Self::unborn(config, subjects, change).await;
        bench.bear().await;
        bench
    }

    /// The consumer's creation is durable.
    pub async fn bear(&self) {
        self.consumer.send(Saved { ticket: 0, ok: true });
        self.settle().await;
    }

    /// Its creation is not yet durable, unless it is recovered.
    pub async fn unborn(config: Value, subjects: &[&str], change: impl FnOnce(&mut ConsumerBirth)) -> Self {
        let mut config: ConsumerConfig = serde_json::from_value(config).expect("a configuration");
        let (stream, limits) = (StreamConfig::default(), Limits::default());
        let context = StreamContext { config: &stream, limits: &limits };
        defaults::apply(&mut config, &context, false).expect("not pedantic");
        validate::validate(&config, &context).expect("valid");
        defaults::stamp_ephemeral(&mut config);

        let clock = Arc::new(ManualClock(AtomicI64::new(START)));
        let world = Shared::default();
        {
            let mut world = world.lock().unwrap();
            world.filter = Filter::new(config.filters());
            for (at, subject) in subjects.iter().enumerate() {
                world.store(subject, &format!("m{}", at + 1), START);
            }
        }
        let last = subjects.len() as u64;
        let filter = Filter::new(config.filters());
        let matching = subjects.iter().filter(|subject| filter.matches(subject.as_bytes())).count() as u64;
        let mut birth = ConsumerBirth {
            id: ConsumerId(1),
            name: "c".into(),
            stream_id: StreamId(1),
            stream_name: "S".into(),
            stream_identity: "identity".into(),
            storage: Storage::File,
            retention: Retention::Limits,
            max_message: 1 << 20,
            config,
            created: START,
            start: Start { next: 1, pending: matching, upto: last, stream_last: last, ..Start::default() },
            recovered: None,
            request: None,
        };
        change(&mut birth);
        world.lock().unwrap().state = birth.recovered.clone().unwrap_or_else(|| {
            let before = birth.start.next.max(1) - 1;
            ConsumerState { delivered_stream: before, floor_stream: before, ..ConsumerState::default() }
        });

        let house = House::default();
        let shared = world.clone();
        let router = launch_here(&house, |_| FakeRouter(shared));
        let shared = world.clone();
        let stream = launch_here(&house, |_| FakeStream(shared));
        let shared = world.clone();
        let jetstream = launch_here(&house, |_| FakeJetStream(shared));
        let setting = Setting {
            registry: None,
            house: house.clone(),
            account: AccountId::GLOBAL,
            account_name: "$G".into(),
            server_name: "test".into(),
            switchboard: Switchboard::new(vec![Line::to(&router)]),
            store: Arc::new(NoStore),
            timers: launch_here(&house, |_| Timers::new("test")),
            clock: clock.clone(),
            limits: Arc::new(limits),
            account_limits: Default::default(),
        };
        let consumer = launch_here(&house, |own| Consumer::new(setting, stream, jetstream, own, birth));
        world.lock().unwrap().consumer = Some(consumer.clone());
        let bench = Self { world, consumer, clock, asked: 0 };
        bench.settle().await;
        bench
    }

    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    /// Lets everybody work until nothing is left to do.
    pub async fn settle(&self) {
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
    }

    pub fn now(&self) -> i64 {
        self.clock.now()
    }

    /// Time passes.
    pub async fn pass(&self, nanoseconds: i64) {
        self.clock.0.fetch_add(nanoseconds, Ordering::Relaxed);
        self.consumer.send(Alarm(u64::MAX));
        self.settle().await;
    }

    /// Somebody publishes into the stream.
    pub async fn publish(&self, subject: &str) -> u64 {
        let (seq, matching) = {
            let mut world = self.world();
            let seq = world.store(subject, "x", self.now());
            (seq, u64::from(world.filter.matches(subject.as_bytes())))
        };
        self.consumer.send(Appended { last: seq, matching });
        self.settle().await;
        seq
    }

    /// Somebody subscribes.
    pub async fn listen(&self, subject: &str) {
        self.world().listeners.insert(subject.into());
        self.world().tell_watch();
        self.settle().await;
    }

    pub async fn unlisten(&self, subject: &str) {
        self.world().listeners.remove(subject);
        self.world().tell_watch();
        self.settle().await;
    }

    async fn ingest(&self, tag: u32, subject: &str, reply: &str, payload: &str) {
        let mut buffer = Vec::new();
        let mut put = |text: &str| {
            let start = buffer.len() as u32;
            buffer.extend_from_slice(text.as_bytes());
            start..buffer.len() as u32
        };
        let message =
            Incoming { tag, client: 1, subject: put(subject), reply: put(reply), headers: 0..0, payload: put(payload) };
        let bytes = buffer.len();
        let ingest = Ingest {
            via: RouterId(0),
            account: AccountId::GLOBAL,
            bytes,
            buffer: buffer.into(),
            messages: vec![message],
        };
        self.consumer.send(ingest);
        self.settle().await;
    }

    /// Somebody pulls, who listens on the reply.
    pub async fn pull(&self, reply: &str, body: &str) {
        self.world().listeners.insert(reply.into());
        self.ingest(1, "$JS.API.CONSUMER.MSG.NEXT.S.c", reply, body).await;
    }

    /// Somebody acknowledges, and waits for the confirmation on `reply` if there is one.
    pub async fn ack(&self, ack: &str, reply: &str, body: &str) {
        if !reply.is_empty() {
            self.world().listeners.insert(reply.into());
        }
        self.ingest(2, ack, reply, body).await;
    }

    /// A flow-control answer.
    pub async fn flow(&self, subject: &str) {
        self.ingest(4, subject, "", "").await;
    }

    /// Takes what has reached a listener since the last time.
    pub fn seen(&self) -> Vec<Seen> {
        let seen = &mut self.world().seen;
        std::mem::take(seen)
    }

    /// The numbers of the deliveries, and the statuses, that reached listeners since the last time.
    pub fn brief(&self) -> Vec<String> {
        let tell = |seen: Seen| match seen.status() {
            Some(status) => status.to_string(),
            None if seen.reply.is_empty() => format!("empty to {}", seen.to),
            None => seen.numbers(),
        };
        self.seen().into_iter().map(tell).collect()
    }

    pub async fn call(&mut self, endpoint: Endpoint, body: &str) -> Value {
        self.asked += 1;
        let request = self.request(body);
        self.consumer.send(ApiCall { endpoint, request });
        self.settle().await;
        self.world().answers.pop().unwrap_or(Value::Null)
    }

    pub fn request(&self, body: &str) -> ApiRequest {
        ApiRequest {
            via: RouterId(0),
            client: 1,
            subject: Bytes::from_static(b"$JS.API.x"),
            reply: Bytes::from_static(b"answer"),
            headers: Bytes::new(),
            body: Bytes::copy_from_slice(body.as_bytes()),
        }
    }

    pub async fn info(&mut self) -> Value {
        let (stream, consumer) = (Bytes::from_static(b"S"), Bytes::from_static(b"c"));
        self.call(Endpoint::ConsumerInfo { stream, consumer }, "").await
    }

    /// Delivered, floor, pending acks, redelivered, waiting, pending: as INFO tells.
    pub async fn counts(&mut self) -> Value {
        let info = self.info().await;
        let pair = |name: &str| json!([info[name]["consumer_seq"], info[name]["stream_seq"]]);
        json!([
            pair("delivered"),
            pair("ack_floor"),
            info["num_ack_pending"],
            info["num_redelivered"],
            info["num_waiting"],
            info["num_pending"]
        ])
    }
}
