//! A small world around one stream: a router that writes down what is published, a JetStream that writes down what it
//! is told, consumers likewise, and a store whose commits wait for a word.

use crate::account::AccountId;
use crate::actor::*;
use crate::jetstream::consumer::birth::ConsumerBirth;
use crate::jetstream::messages::*;
use crate::jetstream::stream::consumers::ConsumerPort;
use crate::jetstream::stream::{Birth, Stream, StreamConfig};
use crate::jetstream::{AccountLimits, Limits, Setting};
use crate::protocol::StoredMessage;
use crate::router::messages::*;
use crate::router::{Line, Switchboard, part};
use crate::store::*;
use bytes::{BufMut, Bytes, BytesMut};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

type Shared<T> = Arc<Mutex<T>>;

/// Subject, headers, payload.
pub type Post<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

/// What a client would have got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Got {
    pub subject: String,
    pub headers: String,
    pub payload: String,
}

impl Got {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.payload).expect("the payload is JSON")
    }

    pub fn err_code(&self) -> Option<u64> {
        self.json()["error"]["err_code"].as_u64()
    }
}

#[derive(Default)]
pub struct Seen {
    pub published: Vec<Got>,
    pub released: usize,
    pub listening: BTreeMap<u32, String>,
    pub dismissed: bool,
    pub answers: Vec<Value>,
    pub usage: Option<Usage>,
    pub ended: bool,
    pub refused: Vec<ApiErrorText>,
    pub described: Vec<Value>,
    /// By consumer.
    pub consumers: BTreeMap<String, Heard>,
}

pub type ApiErrorText = (u16, String);

/// What a consumer was told.
#[derive(Default)]
pub struct Heard {
    pub start: Option<crate::jetstream::consumer::birth::Start>,
    pub last: u64,
    pub matching: u64,
    pub removed: Vec<u64>,
    pub purged: Vec<(u64, u64, u64)>,
    pub records: Vec<(Vec<u64>, u64)>,
    pub counted: Vec<(u64, u64)>,
    pub saved: Vec<(u64, bool)>,
    pub updates: usize,
    pub asked_for_state: bool,
    pub ended: bool,
    pub id: ConsumerId2,
}

#[derive(Clone, Copy)]
pub struct ConsumerId2(pub ConsumerId);

impl Default for ConsumerId2 {
    fn default() -> Self {
        Self(ConsumerId(0))
    }
}

struct Recorder(Shared<Seen>);

impl Act for Recorder {
    const KIND: &'static str = "recorder";
    type State = ();
    fn name(&self) -> String {
        "recorder".into()
    }
    fn observe(&self) {}
}

macro_rules! hears {
    ($actor:ty, $($message:ty => |$seen:ident, $m:ident| $body:expr;)*) => {
        $(impl Receive<$message> for $actor {
            fn receive(&mut self, $m: $message, _: &mut Ctx<Self>) {
                #[allow(unused_mut, unused_variables)]
                let mut $seen = self.0.lock().expect("no test panics with the lock");
                $body;
            }
        })*
    };
}

hears! { Recorder,
    Enlist => |seen, m| drop(m);
    Dismiss => |seen, m| seen.dismissed = m.id.0 > 0;
    Listen => |seen, m| drop(seen.listening.insert(m.tag, text(&m.subject)));
    Unlisten => |seen, m| drop(seen.listening.remove(&m.tag));
    Release => |seen, m| seen.released += m.bytes;
    Watch => |seen, m| drop(m);
    Unwatch => |seen, m| { let _ = m; };
    AskInterest => |seen, m| drop(m);
    Publish => |seen, m| for message in &m.messages {
        seen.published.push(Got {
            subject: text(part(&m.buffer, &message.route)),
            headers: text(part(&m.buffer, &message.headers)),
            payload: text(part(&m.buffer, &message.payload)),
        });
    };
    ApiAnswer => |seen, m| seen.answers.push(serde_json::from_slice(&m.body).expect("answers are JSON"));
    Usage => |seen, m| seen.usage = Some(m);
    StreamEnded => |seen, m| seen.ended = m.stream.0 > 0;
    UpdateRefused => |seen, m| seen.refused.push((m.error.err_code, m.error.description));
    Described => |seen, m| seen.described.push(serde_json::from_str(m.info.get()).expect("infos are JSON"));
}

/// A consumer that only listens.
struct Listener {
    seen: Shared<Seen>,
    name: String,
    stream: Outlet<Described>,
}

impl Listener {
    fn hear(&self, how: impl FnOnce(&mut Heard)) {
        let mut seen = self.seen.lock().expect("no test panics with the lock");
        how(seen.consumers.entry(self.name.clone()).or_default());
    }
}

impl Act for Listener {
    const KIND: &'static str = "listener";
    type State = ();
    fn name(&self) -> String {
        self.name.clone()
    }
    fn observe(&self) {}
}

macro_rules! listens {
    ($($message:ty => |$me:ident, $heard:ident, $m:ident| $body:expr;)*) => {
        $(impl Receive<$message> for Listener {
            fn receive(&mut self, $m: $message, _: &mut Ctx<Self>) {
                #[allow(unused_variables)]
                let $me = &*self;
                #[allow(unused_variables)]
                self.hear(|$heard| $body);
            }
        })*
    };
}

listens! {
    ApiCall => |me, heard, m| drop(m);
    UpdateConsumer => |me, heard, m| { drop(m); heard.updates += 1 };
    Appended => |me, heard, m| { heard.last = m.last; heard.matching += m.matching };
    Removed => |me, heard, m| heard.removed.extend(m.seqs.iter());
    Purged => |me, heard, m| heard.purged.push((m.first, m.last, m.first_matching));
    Records => |me, heard, m| heard.records.push((m.messages.iter().map(|message| message.seq).collect(), m.next));
    Counted => |me, heard, m| heard.counted.push((m.pending, m.upto));
    Saved => |me, heard, m| heard.saved.push((m.ticket, m.ok));
    TellSettled => |me, heard, m| { let _ = m; heard.asked_for_state = true };
    EndConsumer => |me, heard, m| { let _ = m; heard.ended = true };
    ServerShutdown => |me, heard, m| { let _ = m; };
}

impl Receive<Describe> for Listener {
    fn receive(&mut self, describe: Describe, _: &mut Ctx<Self>) {
        let info = serde_json::value::to_raw_value(&serde_json::json!({"name": self.name})).expect("plain data");
        self.stream.send(Described { ticket: describe.ticket, name: self.name.clone(), info });
    }
}

/// The disk of this world.
#[derive(Default)]
pub struct Disk {
    pub messages: BTreeMap<u64, StoredMessage>,
    pub port: Option<StorePort>,
    /// Handed over, not answered.
    pub underway: Vec<u64>,
    /// Answer at once, like a memory store.
    pub at_once: bool,
    /// These are not in memory.
    pub cold: BTreeSet<u64>,
    pub damaged: BTreeSet<u64>,
    /// Everything ever staged and committed.
    pub changes: Vec<Change>,
    pub rolled_back: Vec<u64>,
}

pub struct TestStore {
    disk: Shared<Disk>,
    staged: Vec<Change>,
    dirty: bool,
}

#[derive(Clone)]
pub struct TestStores(pub Shared<Disk>);

impl TestStores {
    fn open(&self, port: StorePort, at_once: bool) -> Box<dyn StreamStore> {
        let mut disk = self.0.lock().expect("no test panics with the lock");
        disk.port = Some(port);
        disk.at_once |= at_once;
        Box::new(TestStore { disk: self.0.clone(), staged: Vec::new(), dirty: false })
    }
}

impl StreamStores for TestStores {
    fn durable(&self, _: StreamId, _: Hot, port: StorePort) -> Box<dyn StreamStore> {
        self.open(port, false)
    }
    fn memory(&self, _: StreamId, port: StorePort) -> Box<dyn StreamStore> {
        self.open(port, true)
    }
}

impl TestStore {
    fn disk(&self) -> std::sync::MutexGuard<'_, Disk> {
        self.disk.lock().expect("no test panics with the lock")
    }
}

impl StreamStore for TestStore {
    fn append(&mut self, draft: Draft<'_>) -> StoredMessage {
        let mut buffer = BytesMut::new();
        let mut put = |parts: &[&[u8]]| {
            let start = buffer.len() as u32;
            parts.iter().for_each(|part| buffer.put_slice(part));
            start..buffer.len() as u32
        };
        let (subject, headers, payload) = (put(&[draft.subject]), put(&draft.headers), put(&[draft.payload]));
        let message = StoredMessage::new(draft.seq, draft.timestamp, buffer.freeze(), subject, headers, payload);
        let message = message.expect("the ranges were just made");
        self.dirty = true;
        self.disk().messages.insert(draft.seq, message.clone());
        message
    }
    fn stage(&mut self, change: Change) {
        self.dirty = true;
        self.staged.push(change);
    }
    fn is_dirty(&self) -> bool {
        self.dirty
    }
    fn staged_bytes(&self) -> usize {
        0
    }
    fn commit(&mut self, ticket: u64) -> Commitment {
        self.dirty = false;
        let staged = std::mem::take(&mut self.staged);
        let mut disk = self.disk();
        disk.changes.extend(staged);
        if disk.at_once {
            return Commitment::Done;
        }
        disk.underway.push(ticket);
        Commitment::Underway
    }
    fn roll_back(&mut self, from: u64) {
        self.dirty = false;
        self.staged.clear();
        let mut disk = self.disk();
        drop(disk.messages.split_off(&from));
        disk.rolled_back.push(from);
    }
    fn get(&self, seq: u64) -> Lookup {
        let disk = self.disk();
        match disk.messages.get(&seq).filter(|_| !disk.cold.contains(&seq)) {
            Some(message) => Lookup::Here(message.clone()),
            None => Lookup::Elsewhere,
        }
    }
    fn fetch(&mut self, ticket: u64, seqs: Vec<u64>) {
        let disk = self.disk();
        let find = |seq: u64| match disk.messages.get(&seq) {
            Some(message) if !disk.damaged.contains(&seq) => Ok(message.clone()),
            found => Err(Missing { seq, damaged: found.is_some() }),
        };
        let messages = seqs.into_iter().map(find).collect();
        disk.port.as_ref().expect("the store has been opened").fetched.send(Fetched { ticket, messages });
    }
    fn sealed(&mut self, _: &Sealed) {}
    fn hot_bytes(&self) -> usize {
        0
    }
    fn is_durable(&self) -> bool {
        !self.disk().at_once
    }
}

pub struct HandClock(AtomicI64);

impl Clock for HandClock {
    fn now(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One stream and its surroundings.
pub struct World {
    pub stream: Mailbox<Stream>,
    pub seen: Shared<Seen>,
    pub disk: Shared<Disk>,
    clock: Arc<HandClock>,
    replies: usize,
}

/// 2026, in nanoseconds.
pub const BEGINNING: i64 = 1_780_000_000_000_000_000;

/// A configuration as it comes out of defaulting.
pub fn config(subjects: &[&str]) -> StreamConfig {
    StreamConfig {
        name: "S".into(),
        subjects: subjects.iter().map(|subject| subject.to_string()).collect(),
        max_consumers: -1,
        max_msgs: -1,
        max_bytes: -1,
        max_msgs_per_subject: -1,
        max_msg_size: -1,
        num_replicas: 1,
        duplicate_window: 120_000_000_000,
        allow_direct: true,
        ..StreamConfig::default()
    }
}

impl World {
    /// A stream whose commits are answered at once.
    pub fn new(config: StreamConfig) -> Self {
        Self::with(config, true, None)
    }

    /// A stream whose commits wait for [`commit`](Self::commit) or [`fail`](Self::fail).
    pub fn waiting(config: StreamConfig) -> Self {
        Self::with(config, false, None)
    }

    pub fn with(config: StreamConfig, at_once: bool, recovered: Option<RecoveredStream>) -> Self {
        let seen: Shared<Seen> = Shared::default();
        let disk: Shared<Disk> = Shared::default();
        disk.lock().expect("fresh").at_once = at_once;
        let clock = Arc::new(HandClock(AtomicI64::new(BEGINNING)));
        let house = House::default();
        let recorder = launch_here(&house, |_| Recorder(seen.clone()));
        let timers = launch_here(&house, |_| Timers::new("test"));
        let setting = Setting {
            registry: None,
            house: house.clone(),
            account: AccountId::GLOBAL,
            account_name: "$G".into(),
            server_name: "test".into(),
            switchboard: Switchboard::new(vec![Line::to(&recorder)]),
            store: Arc::new(TestStores(disk.clone())),
            timers,
            clock: clock.clone(),
            limits: Arc::new(Limits::default()),
            account_limits: AccountLimits::default(),
        };
        let birth = match recovered {
            Some(found) => Birth::Recovered(Box::new(found)),
            None => Birth::New { id: StreamId(1), config, created: BEGINNING, request: request("", "created") },
        };
        let (consumer_house, seen_by_consumers) = (house.clone(), seen.clone());
        let stream = launch_here(&house, |own| {
            let described: Outlet<Described> = own.outlet();
            let launch = move |birth: ConsumerBirth| {
                let name = birth.name.to_string();
                let listener = Listener { seen: seen_by_consumers.clone(), name, stream: described.clone() };
                listener.hear(|heard| {
                    heard.start = Some(birth.start);
                    heard.id = ConsumerId2(birth.id);
                });
                ConsumerPort::to(&launch_here(&consumer_house, |_| listener))
            };
            Stream::with(setting, &recorder, own, birth, Box::new(launch))
        });
        Self { stream, seen, disk, clock, replies: 0 }
    }

    pub fn advance_clock(&self, nanos: i64) {
        self.clock.0.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Lets everybody work off what is in their mailboxes.
    pub async fn settle(&self) {
        for _ in 0..64 {
            tokio::task::yield_now().await;
        }
    }

    /// Publishes one batch of messages: subject, headers, payload. Returns the reply subjects.
    pub fn send(&mut self, messages: &[Post<'_>]) -> Vec<String> {
        let mut buffer = BytesMut::new();
        let mut replies = Vec::new();
        let mut incoming = Vec::new();
        let put = |buffer: &mut BytesMut, bytes: &[u8]| {
            let start = buffer.len() as u32;
            buffer.put_slice(bytes);
            start..buffer.len() as u32
        };
        for (subject, headers, payload) in messages {
            self.replies += 1;
            let reply = format!("reply.{}", self.replies);
            let block = match headers.is_empty() {
                true => String::new(),
                false => {
                    let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
                    format!("NATS/1.0\r\n{lines}\r\n")
                }
            };
            let direct = subject.strip_prefix("$JS.API.DIRECT.GET.S");
            let tag = direct.map_or(16, |rest| u32::from(!rest.is_empty()));
            let subject = put(&mut buffer, subject.as_bytes());
            let span = put(&mut buffer, reply.as_bytes());
            let headers = put(&mut buffer, block.as_bytes());
            let payload = put(&mut buffer, payload.as_bytes());
            incoming.push(Incoming { tag, client: 1, subject, reply: span, headers, payload });
            replies.push(reply);
        }
        let (bytes, buffer) = (buffer.len(), buffer.freeze());
        let (via, account) = (RouterId(0), AccountId::GLOBAL);
        self.stream.send(Ingest { via, account, bytes, buffer, messages: incoming });
        replies
    }

    /// Publishes one message and waits for its ack.
    pub async fn publish(&mut self, subject: &str, headers: &[(&str, &str)], payload: &str) -> Got {
        let replies = self.send(&[(subject, headers, payload)]);
        self.settle().await;
        self.reply(&replies[0]).expect("the publish has been answered")
    }

    pub fn reply(&self, to: &str) -> Option<Got> {
        self.seen().published.iter().find(|got| got.subject == to).cloned()
    }

    pub fn replies(&self, to: &str) -> Vec<Got> {
        self.seen().published.iter().filter(|got| got.subject == to).cloned().collect()
    }

    /// Asks the API, and waits for the answer.
    pub async fn call(&mut self, subject: &str, body: &str) -> Value {
        let before = self.seen().answers.len();
        self.ask(subject, body);
        self.settle().await;
        self.seen().answers.get(before).cloned().expect("the request has been answered")
    }

    pub fn ask(&self, subject: &str, body: &str) {
        let subject = Bytes::from(format!("$JS.API.{subject}"));
        let endpoint = crate::jetstream::api::endpoint::Endpoint::parse(&subject).expect("a subject of the API");
        self.stream.send(ApiCall { endpoint, request: request(&text(&subject), body) });
    }

    pub async fn state(&mut self) -> Value {
        let info = self.call("STREAM.INFO.S", r#"{"deleted_details":true}"#).await;
        info["state"].clone()
    }

    pub async fn consumer(&mut self, name: &str, config: Value) {
        let mut config = config;
        config["durable_name"] = name.into();
        let body = serde_json::json!({"stream_name": "S", "config": config}).to_string();
        self.ask(&format!("CONSUMER.CREATE.S.{name}"), &body);
        self.settle().await;
    }

    pub fn heard<T>(&self, consumer: &str, what: impl FnOnce(&Heard) -> T) -> T {
        what(self.seen().consumers.get(consumer).expect("the consumer has been launched"))
    }

    pub fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().expect("no test panics with the lock")
    }

    /// The commits handed over so far are durable.
    pub async fn commit(&self) {
        self.settle().await;
        for ticket in self.take_underway() {
            self.committed().send(Committed { ticket, result: Ok(()) });
        }
        self.settle().await;
    }

    /// The first commit under way fails, and all after it with it.
    pub async fn fail(&self) {
        self.settle().await;
        for ticket in self.take_underway() {
            self.committed().send(Committed { ticket, result: Err(CommitError::Full) });
        }
        self.settle().await;
    }

    fn take_underway(&self) -> Vec<u64> {
        std::mem::take(&mut self.disk.lock().expect("no test panics with the lock").underway)
    }

    fn committed(&self) -> Outlet<Committed> {
        self.disk.lock().expect("no test panics").port.as_ref().expect("the store is open").committed.clone()
    }
}

fn request(subject: &str, body: &str) -> ApiRequest {
    let (subject, body) = (Bytes::from(subject.to_string()), Bytes::from(body.to_string()));
    ApiRequest { via: RouterId(0), client: 1, subject, reply: Bytes::from("answer"), headers: Bytes::new(), body }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
