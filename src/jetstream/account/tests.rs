//! JetStream between a router that notes what it is told, and streams that answer at once.

use super::*;
use crate::account::{AccountId, Who, WhoIs};
use crate::actor::*;
use crate::jetstream::api::answer::AnswerKind;
use crate::jetstream::error::ErrCode;
use crate::jetstream::messages::*;
use crate::jetstream::stream::{Birth, StreamConfig};
use crate::jetstream::{AccountLimits, Limits, Setting};
use crate::router::messages::*;
use crate::router::{Line, Switchboard, part};
use crate::store::{ConsumerId, Hot, Recovered, RecoveredStream, StorePort, StreamId, StreamStore, StreamStores};
use bytes::Bytes;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::mpsc;

/// What a router is told.
#[derive(Debug)]
enum Heard {
    Published { route: String, body: Value },
    Dismissed(ServiceId),
    Listening { subject: String, except: Vec<String> },
    Released(usize),
}

/// Knows the first client that is asked about; all others have gone.
struct Registry {
    known: bool,
}

impl Act for Registry {
    const KIND: &'static str = "registry";
    type State = ();

    fn name(&self) -> String {
        "test".into()
    }

    fn observe(&self) {}
}

impl Receive<WhoIs> for Registry {
    fn receive(&mut self, question: WhoIs, _: &mut Ctx<Self>) {
        if std::mem::take(&mut self.known) {
            question.answer(Who { name: "app".into(), rtt: 7, ..Who::default() });
        }
    }
}

/// A router with nobody else on it. `wanted`: whether anybody listens to advisories.
struct Router {
    heard: mpsc::UnboundedSender<Heard>,
    wanted: bool,
    ports: HashMap<ServiceId, ServicePort>,
}

impl Act for Router {
    const KIND: &'static str = "router";
    type State = ();

    fn name(&self) -> String {
        "test".into()
    }

    fn observe(&self) {}
}

impl Receive<Publish> for Router {
    fn receive(&mut self, publish: Publish, _: &mut Ctx<Self>) {
        for message in &publish.messages {
            let route = String::from_utf8_lossy(part(&publish.buffer, &message.route)).into_owned();
            let body = serde_json::from_slice(part(&publish.buffer, &message.payload)).expect("answers are JSON");
            self.heard.send(Heard::Published { route, body }).ok();
        }
    }
}

impl Receive<Enlist> for Router {
    fn receive(&mut self, enlist: Enlist, _: &mut Ctx<Self>) {
        self.ports.insert(enlist.id, enlist.port);
    }
}

impl Receive<Dismiss> for Router {
    fn receive(&mut self, dismiss: Dismiss, _: &mut Ctx<Self>) {
        self.heard.send(Heard::Dismissed(dismiss.id)).ok();
    }
}

impl Receive<Listen> for Router {
    fn receive(&mut self, listen: Listen, _: &mut Ctx<Self>) {
        let text = |subject: &Bytes| String::from_utf8_lossy(subject).into_owned();
        let except = listen.except.iter().map(text).collect();
        self.heard.send(Heard::Listening { subject: text(&listen.subject), except }).ok();
    }
}

impl Receive<Release> for Router {
    fn receive(&mut self, release: Release, _: &mut Ctx<Self>) {
        self.heard.send(Heard::Released(release.bytes)).ok();
    }
}

impl Receive<AskInterest> for Router {
    fn receive(&mut self, ask: AskInterest, _: &mut Ctx<Self>) {
        let interest = Interest { tag: ask.tag, present: vec![self.wanted; ask.subjects.len()] };
        let port = self.ports.get(&ask.id).and_then(|port| port.interest.clone());
        port.expect("who asks can hear").send(interest);
    }
}

impl Receive<Unlisten> for Router {
    fn receive(&mut self, _: Unlisten, _: &mut Ctx<Self>) {}
}

impl Receive<Watch> for Router {
    fn receive(&mut self, _: Watch, _: &mut Ctx<Self>) {}
}

impl Receive<Unwatch> for Router {
    fn receive(&mut self, _: Unwatch, _: &mut Ctx<Self>) {}
}

/// A stream that has nothing to store. It refuses an update whose description says so, panics on `PURGE`, and does not
/// describe itself while its description is `shy`.
struct Puppet {
    jetstream: Mailbox<JetStream>,
    id: StreamId,
    config: StreamConfig,
    birth: Option<ApiRequest>,
}

impl Puppet {
    fn answer(&self, endpoint: &str, request: ApiRequest, members: Value) {
        let subject = Bytes::from(format!("$JS.API.STREAM.{endpoint}.{}", self.config.name));
        let endpoint = crate::jetstream::api::endpoint::Endpoint::parse(&subject).expect("an endpoint");
        self.jetstream.send(ApiAnswer::success(request, AnswerKind::of(&endpoint), &members));
    }
}

impl Act for Puppet {
    const KIND: &'static str = "stream";
    type State = ();

    fn name(&self) -> String {
        self.config.name.clone()
    }

    fn observe(&self) {}

    fn started(&mut self, _: &mut Ctx<Self>) {
        if let Some(request) = self.birth.take() {
            self.answer("CREATE", request, json!({"config": self.config}));
        }
    }
}

impl Receive<ApiCall> for Puppet {
    fn receive(&mut self, call: ApiCall, _: &mut Ctx<Self>) {
        use crate::jetstream::api::endpoint::Endpoint;
        match call.endpoint {
            Endpoint::StreamCreate { .. } => self.answer("CREATE", call.request, json!({"again": true})),
            Endpoint::StreamDelete { .. } => {
                self.answer("DELETE", call.request, json!({"success": true}));
                self.jetstream.send(StreamEnded { stream: self.id });
            }
            Endpoint::StreamPurge { .. } => panic!("on purpose"),
            _ => self.answer("INFO", call.request, json!({"config": self.config})),
        }
    }
}

impl Receive<UpdateStream> for Puppet {
    fn receive(&mut self, update: UpdateStream, _: &mut Ctx<Self>) {
        if update.config.description == "refuse" {
            let (stream, config) = (self.id, self.config.clone());
            let error = ErrCode::StreamUpdate.text("refused");
            return self.jetstream.send(UpdateRefused { stream, config, request: update.request, error });
        }
        self.config = update.config;
        self.answer("UPDATE", update.request, json!({"config": self.config}));
    }
}

impl Receive<ServerShutdown> for Puppet {
    fn receive(&mut self, _: ServerShutdown, _: &mut Ctx<Self>) {}
}

impl Receive<Describe> for Puppet {
    fn receive(&mut self, describe: Describe, _: &mut Ctx<Self>) {
        if self.config.description == "shy" {
            return;
        }
        let name = self.config.name.clone();
        let info = serde_json::value::to_raw_value(&json!({"config": {"name": name}})).expect("plain data");
        self.jetstream.send(Described { ticket: describe.ticket, name, info });
    }
}

fn launch_puppet(setting: &Setting, jetstream: &Mailbox<JetStream>, birth: Birth) -> StreamPort {
    let house = House { ended: Some(jetstream.outlet()), ..setting.house.clone() };
    let jetstream = jetstream.clone();
    StreamPort::to(&launch_here(&house, |_| match birth {
        Birth::New { id, config, request, .. } => Puppet { jetstream, id, config, birth: Some(request) },
        Birth::Recovered(found) => {
            let config = StreamConfig { name: found.name.clone(), ..StreamConfig::default() };
            Puppet { jetstream, id: found.id, config, birth: None }
        }
    }))
}

struct NoStores;

impl StreamStores for NoStores {
    fn durable(&self, _: StreamId, _: Hot, _: StorePort) -> Box<dyn StreamStore> {
        unreachable!("puppets store nothing")
    }

    fn memory(&self, _: StreamId, _: StorePort) -> Box<dyn StreamStore> {
        unreachable!("puppets store nothing")
    }

    /// Streams 7 and 8 are taken to have been stored by now.
    fn recover(&self, id: StreamId, done: Outlet<Recovered>) {
        let found = (id.0 < 9).then(|| Box::new(stored(id.0, "A", json!({"name": "A", "subjects": ["a"]}))));
        done.send(Recovered(Ok(found)));
    }
}

/// One account of a house, and what its router heard.
struct World {
    jetstream: Mailbox<JetStream>,
    setting: Setting,
    heard: mpsc::UnboundedReceiver<Heard>,
    asked: usize,
}

impl World {
    fn new() -> Self {
        Self::with(Limits::default(), AccountLimits::default(), Vec::new(), false)
    }

    fn with(limits: Limits, account_limits: AccountLimits, recovered: Vec<RecoveredStream>, wanted: bool) -> Self {
        let (tell, heard) = mpsc::unbounded_channel();
        let house = House::default();
        let router = launch_here(&house, |_| Router { heard: tell, wanted, ports: HashMap::new() });
        let setting = Setting {
            registry: Some(launch_here(&house, |_| Registry { known: true }).outlet()),
            account: AccountId::GLOBAL,
            account_name: "$G".into(),
            server_name: "s1".into(),
            switchboard: Switchboard::new(vec![Line::to(&router)]),
            store: Arc::new(NoStores),
            timers: launch_here(&house, |_| Timers::new("t")),
            clock: Arc::new(SystemClock),
            limits: Arc::new(limits),
            account_limits,
            house,
        };
        let own = setting.clone();
        let jetstream = launch_here(&setting.house, |mailbox| {
            JetStream::with_streams(own, mailbox, recovered, StreamId(7), Box::new(launch_puppet))
        });
        Self { jetstream, setting, heard, asked: 0 }
    }

    /// Sends a request and does not wait.
    fn ask(&mut self, subject: &str, headers: &str, body: &str) -> String {
        self.asked += 1;
        let reply = format!("reply.{}", self.asked);
        let parts = [subject, &reply, headers, body];
        let mut spans = Vec::new();
        let mut at = 0;
        for part in parts {
            spans.push(at..at + part.len() as u32);
            at += part.len() as u32;
        }
        let [subject, reply_span, headers, payload] = spans.try_into().expect("four");
        let message = Incoming { tag: 0, client: 5, subject, reply: reply_span, headers, payload };
        let buffer = Bytes::from(parts.concat());
        self.jetstream.send(Ingest {
            via: RouterId(0),
            account: AccountId::GLOBAL,
            bytes: buffer.len(),
            buffer,
            messages: vec![message],
        });
        reply
    }

    /// What is published next on a subject.
    async fn published(&mut self, wanted: &str) -> Value {
        loop {
            if let Heard::Published { route, body } = self.heard.recv().await.expect("the router lives")
                && route == wanted
            {
                return body;
            }
        }
    }

    async fn api(&mut self, verb: &str, body: impl ToString) -> Value {
        let body = body.to_string();
        let reply = self.ask(&format!("$JS.API.{verb}"), "", &body);
        self.published(&reply).await
    }

    /// The error's number and text, or `ok`.
    async fn outcome(&mut self, verb: &str, body: Value) -> String {
        match self.api(verb, body).await.get("error") {
            Some(error) => {
                format!("{}/{} {}", error["code"], error["err_code"], error["description"].as_str().unwrap_or(""))
            }
            None => "ok".to_string(),
        }
    }

    async fn create(&mut self, config: Value) -> String {
        let name = config["name"].as_str().expect("named").to_string();
        self.outcome(&format!("STREAM.CREATE.{name}"), config).await
    }

    async fn names(&mut self, body: Value) -> Value {
        self.api("STREAM.NAMES", body).await["streams"].clone()
    }
}

fn stored(id: u64, name: &str, config: Value) -> RecoveredStream {
    RecoveredStream {
        hot: Hot::default(),
        next_consumer: ConsumerId(1),
        id: StreamId(id),
        account: "$G".into(),
        name: name.into(),
        config: config.to_string().into(),
        created: 0,
        first: 1,
        last: 0,
        last_timestamp: 0,
        index: Vec::new(),
        lost: Vec::new(),
        lost_bytes: 0,
        consumers: Vec::new(),
    }
}

#[actix_rt::test]
async fn listens_to_the_api_except_what_others_take() {
    let mut world = World::new();
    loop {
        if let Heard::Listening { subject, except } = world.heard.recv().await.expect("listens") {
            assert_eq!(subject, "$JS.API.>");
            assert_eq!(except, ["$JS.API.CONSUMER.MSG.NEXT.>", "$JS.API.DIRECT.GET.>"]);
            break;
        }
    }
}

#[actix_rt::test]
async fn account_info_counts_what_there_is() {
    let mut world = World::new();
    let empty = world.api("INFO", "this is not JSON").await;
    assert_eq!(
        empty,
        json!({
            "type": "io.nats.jetstream.api.v1.account_info_response", "memory": 0, "storage": 0,
            "reserved_memory": 0, "reserved_storage": 0, "streams": 0, "consumers": 0,
            "limits": {
                "max_memory": -1, "max_storage": -1, "max_streams": -1, "max_consumers": -1, "max_ack_pending": -1,
                "memory_max_stream_bytes": -1, "storage_max_stream_bytes": -1, "max_bytes_required": false
            },
            "api": {"level": 5, "total": 0, "errors": 0}
        })
    );
    assert_eq!(world.create(json!({"name": "F", "max_bytes": 1000})).await, "ok");
    assert_eq!(world.create(json!({"name": "M", "max_bytes": 2000, "storage": "memory"})).await, "ok");
    world.jetstream.send(Usage { stream: StreamId(7), bytes: 50, messages: 2, consumers: 3 });
    let info = world.api("INFO", "").await;
    assert_eq!((&info["reserved_storage"], &info["reserved_memory"]), (&json!(1000), &json!(2000)));
    assert_eq!((&info["storage"], &info["consumers"], &info["streams"]), (&json!(50), &json!(3), &json!(2)));
    assert_eq!(info["api"], json!({"level": 5, "total": 3, "errors": 0}));
}

#[actix_rt::test]
async fn a_stream_is_created_once_and_shown_with_its_defaults() {
    let mut world = World::new();
    let created = world.api("STREAM.CREATE.ORDERS", json!({"name": "ORDERS", "subjects": ["ORDERS.*"]})).await;
    assert_eq!(created["type"], "io.nats.jetstream.api.v1.stream_create_response");
    assert_eq!(
        created["config"],
        json!({
            "name": "ORDERS", "subjects": ["ORDERS.*"], "retention": "limits", "max_consumers": -1, "max_msgs": -1,
            "max_bytes": -1, "max_age": 0, "max_msgs_per_subject": -1, "max_msg_size": -1, "discard": "old",
            "storage": "file", "num_replicas": 1, "duplicate_window": 120_000_000_000i64, "compression": "none",
            "allow_direct": false, "mirror_direct": false, "sealed": false, "deny_delete": false, "deny_purge": false,
            "allow_rollup_hdrs": false, "consumer_limits": {}, "allow_msg_ttl": false,
            "metadata": {"_nats.req.level": "0"}
        })
    );
    let again = world.api("STREAM.CREATE.ORDERS", json!({"name": "ORDERS", "subjects": ["ORDERS.*"], "max_msgs": 0}));
    assert_eq!(again.await["again"], true);
    let other = world.create(json!({"name": "ORDERS", "subjects": ["ORDERS.*"], "max_msgs": 5})).await;
    assert_eq!(other, "400/10058 stream name already in use with a different configuration");
    let taken = world.create(json!({"name": "B", "subjects": ["*.x"]})).await;
    assert_eq!(taken, "500/10052 subjects that overlap with jetstream api require no-ack to be true".replace("$", ""));
    let taken = world.create(json!({"name": "B", "subjects": ["ORDERS.x"]})).await;
    assert_eq!(taken, "400/10065 subjects overlap with an existing stream");
}

#[actix_rt::test]
async fn refused_before_anything_is_created() {
    let mut world = World::new();
    for (name, body, expected) in [
        ("A", json!({"name": "B"}), "400/10056 stream name in subject does not match request"),
        ("A", json!({}), "400/10056 stream name in subject does not match request"),
        ("a/b", json!({"name": "a/b"}), "400/10128 Stream name can not contain path separators"),
        ("A", json!({"name": "A", "sealed": true}), "500/10052 stream configuration for create can not be sealed"),
        ("A", json!({"name": "A", "foo": 1}), "400/10025 invalid JSON: json: unknown field \"foo\""),
        ("A", json!({"name": "A", "num_replicas": 3}), "500/10074 replicas > 1 not supported in non-clustered mode"),
    ] {
        assert_eq!(world.outcome(&format!("STREAM.CREATE.{name}"), body).await, expected);
    }
    assert_eq!(world.names(json!({})).await, Value::Null);
}

#[actix_rt::test]
async fn deleting_frees_name_and_subjects_at_once() {
    let mut world = World::new();
    world.create(json!({"name": "A", "subjects": ["a"]})).await;
    let reply = world.ask("$JS.API.STREAM.DELETE.A", "", "");
    let again = world.ask("$JS.API.STREAM.CREATE.B", "", r#"{"name":"B","subjects":["a"]}"#);
    assert_eq!(world.published(&reply).await["success"], true);
    assert!(world.published(&again).await.get("error").is_none());
    assert_eq!(world.names(json!({})).await, json!(["B"]));
    assert_eq!(world.outcome("STREAM.DELETE.B", json!({"x": 1})).await, "400/10038 expected an empty request payload");
    assert_eq!(world.outcome("STREAM.DELETE.A", json!({})).await, "404/10059 stream not found");
}

#[actix_rt::test]
async fn an_update_that_the_stream_refuses_is_undone() {
    let mut world = World::new();
    world.create(json!({"name": "A", "subjects": ["a"]})).await;
    let refused = json!({"name": "A", "subjects": ["b"], "description": "refuse"});
    assert_eq!(world.outcome("STREAM.UPDATE.A", refused).await, "500/10069 refused");
    assert_eq!(world.create(json!({"name": "B", "subjects": ["b"]})).await, "ok");
    let taken = world.outcome("STREAM.UPDATE.A", json!({"name": "A", "subjects": ["b"]})).await;
    assert_eq!(taken, "400/10065 subjects overlap with an existing stream");
    let updated = world.api("STREAM.UPDATE.A", json!({"name": "A"})).await;
    assert_eq!(updated["config"]["subjects"], json!(["A"]), "left out means the default");
    assert_eq!(world.outcome("STREAM.UPDATE.X", json!({"name": "X"})).await, "404/10059 stream not found");
}

#[actix_rt::test]
async fn names_and_lists_are_filtered_and_paged() {
    let mut world = World::new();
    assert_eq!(world.api("STREAM.LIST", "").await["streams"], json!([]));
    for i in 0..260 {
        world.create(json!({"name": format!("S{i:03}"), "subjects": [format!("s.{}.{i}", i % 2)]})).await;
    }
    let page = world.api("STREAM.NAMES", json!({"subject": "s.1.*", "offset": 128})).await;
    assert_eq!((&page["total"], &page["offset"], &page["limit"]), (&json!(130), &json!(128), &json!(1024)));
    assert_eq!(page["streams"], json!(["S257", "S259"]));
    let page = world.api("STREAM.LIST", json!({"offset": -3})).await;
    assert_eq!((page["streams"].as_array().map(Vec::len), &page["offset"]), (Some(256), &json!(0)));
    let page = world.api("STREAM.LIST", json!({"offset": 256})).await;
    let names: Vec<_> = page["streams"].as_array().into_iter().flatten().map(|s| s["config"]["name"].clone()).collect();
    assert_eq!(names, ["S256", "S257", "S258", "S259"]);
    let past = world.api("STREAM.NAMES", json!({"offset": 999})).await;
    assert_eq!((&past["offset"], &past["streams"]), (&json!(260), &Value::Null));
    assert_eq!(world.outcome("STREAM.NAMES", json!([])).await.split(':').next(), Some("400/10025 invalid JSON"));
    let garbage = world.api("STREAM.NAMES", "garbage").await;
    assert_eq!(garbage["total"], 260);
}

#[actix_rt::test]
async fn a_list_does_not_wait_for_a_stream_that_is_gone() {
    let mut world = World::new();
    world.create(json!({"name": "A"})).await;
    world.create(json!({"name": "SHY", "description": "shy"})).await;
    let list = world.ask("$JS.API.STREAM.LIST", "", "");
    let delete = world.ask("$JS.API.STREAM.DELETE.SHY", "", "");
    assert_eq!(world.published(&delete).await["success"], true);
    let listed = world.published(&list).await;
    assert_eq!(listed["streams"], json!([{"config": {"name": "A"}}]));
}

#[actix_rt::test]
async fn levels_clusters_and_silence() {
    let mut world = World::new();
    for (level, expected) in [("5", None), ("6", Some(10185)), ("x", Some(10185)), ("", None), ("-1", None)] {
        let block = format!("NATS/1.0\r\nNats-Required-Api-Level: {level}\r\n\r\n");
        let reply = world.ask("$JS.API.STREAM.NAMES", &block, "");
        let answer = world.published(&reply).await;
        assert_eq!(answer["error"]["err_code"].as_u64(), expected, "{level:?}");
    }
    let removal = world.api("STREAM.PEER.REMOVE.NONE", "").await;
    assert_eq!(removal["type"], "io.nats.jetstream.api.v1.stream_remove_peer_response");
    assert_eq!(removal["error"]["err_code"], 10010);
    world.ask("$JS.API.STREAM.FOO.A", "", "");
    world.ask("$JS.API.CONSUMER.RESET.A.C", "", "");
    let info = world.api("INFO", "").await;
    assert_eq!(info["api"], json!({"level": 5, "total": 6, "errors": 3}), "the silent ones are not counted");
    let mut bodies = Vec::new();
    while let Ok(heard) = world.heard.try_recv() {
        bodies.push(heard);
    }
    assert!(!bodies.iter().any(|heard| matches!(heard, Heard::Published { .. })), "{bodies:?}");
}

#[actix_rt::test]
async fn requests_about_a_missing_stream() {
    let mut world = World::new();
    let strange = "404/10059 stream not found";
    for (verb, body, expected) in [
        ("STREAM.INFO.X", "", strange),
        ("STREAM.PURGE.X", "garbage", strange),
        ("STREAM.MSG.GET.X", "{}", "400/10003 bad request"),
        ("STREAM.MSG.GET.X", r#"{"seq":1}"#, strange),
        ("CONSUMER.INFO.X.C", "x", "400/10038 expected an empty request payload"),
        ("CONSUMER.CREATE.X", "", "400/10056 stream name in subject does not match request"),
        ("CONSUMER.CREATE.X", r#"{"stream_name":"X","config":{}}"#, strange),
        ("STREAM.RESTORE.X", "", "400/10003 bad request"),
        (
            "STREAM.RESTORE.X",
            "x",
            "400/10025 invalid JSON: invalid character 'x' looking for beginning of value at offset 1",
        ),
        (
            "STREAM.RESTORE.X",
            r#"{"config":{"name":"Y"},"state":{}}"#,
            "400/10056 stream name in subject does not match request",
        ),
    ] {
        let answer = world.api(verb, body).await;
        let error = &answer["error"];
        let shown = format!("{}/{} {}", error["code"], error["err_code"], error["description"].as_str().unwrap_or(""));
        assert_eq!(shown, expected, "{verb} {body}");
    }
    let purge = world.api("STREAM.PURGE.X", "").await;
    assert_eq!(purge["purged"], 0);
}

#[actix_rt::test]
async fn limits_of_account_and_server() {
    let account = AccountLimits { max_storage: 20_000, max_streams: 3, max_consumers: 2, ..AccountLimits::default() };
    let limits = Limits { max_memory: 0, ..Limits::default() };
    let mut world = World::with(limits, account, Vec::new(), false);
    let full = "500/10047 insufficient storage resources available";
    assert_eq!(world.create(json!({"name": "A", "max_bytes": 15_000})).await, "ok");
    assert_eq!(world.create(json!({"name": "B", "max_bytes": 5001})).await, full);
    assert_eq!(world.create(json!({"name": "B", "max_bytes": 5000})).await, "ok");
    assert_eq!(world.outcome("STREAM.UPDATE.B", json!({"name": "B", "max_bytes": 5500})).await, full);
    assert_eq!(world.outcome("STREAM.UPDATE.B", json!({"name": "B", "max_bytes": 4000})).await, "ok");
    let memory = world.create(json!({"name": "M", "storage": "memory"})).await;
    assert_eq!(memory, "500/10028 insufficient memory resources available");
    let consumers = world.create(json!({"name": "C", "max_consumers": 3})).await;
    assert_eq!(consumers, "400/10026 maximum consumers limit reached");
    assert_eq!(world.create(json!({"name": "C", "max_consumers": 2})).await, "ok");
    assert_eq!(world.create(json!({"name": "D"})).await, "400/10027 maximum number of streams reached");
    assert_eq!(world.create(json!({"name": "C", "max_consumers": 2})).await, "ok", "it is not counted itself");
}

#[actix_rt::test]
async fn bytes_that_an_account_requires() {
    let account = AccountLimits {
        max_bytes_required: true,
        storage_max_stream_bytes: 3000,
        memory_max_stream_bytes: 2000,
        ..AccountLimits::default()
    };
    let mut world = World::with(Limits::default(), account, Vec::new(), false);
    let needed = "400/10113 account requires a stream config to have max bytes set";
    assert_eq!(world.create(json!({"name": "X"})).await, needed);
    let over = "400/10122 stream max bytes exceeds account limit max stream bytes";
    assert_eq!(world.create(json!({"name": "X", "max_bytes": 3001})).await, over);
    assert_eq!(world.create(json!({"name": "X", "max_bytes": 2001, "storage": "memory"})).await, over);
    assert_eq!(world.create(json!({"name": "X", "max_bytes": 3000})).await, "ok");
    assert_eq!(world.outcome("STREAM.UPDATE.X", json!({"name": "X"})).await, needed);
}

#[actix_rt::test]
async fn an_account_without_jetstream_is_told_so() {
    let off = AccountLimits { enabled: false, ..AccountLimits::default() };
    let mut world = World::with(Limits::default(), off, Vec::new(), false);
    for verb in ["INFO", "STREAM.CREATE.A", "STREAM.NAMES", "CONSUMER.INFO.A.C", "STREAM.PEER.REMOVE.A"] {
        let answer = world.api(verb, "").await;
        assert_eq!(answer["error"]["err_code"], 10039, "{verb}");
    }
}

#[actix_rt::test]
async fn requests_beyond_the_limit_are_dropped() {
    for (max_requests, answered) in [(1, true), (0, false)] {
        let limits = Limits { max_requests, ..Limits::default() };
        let mut world = World::with(limits, AccountLimits::default(), Vec::new(), false);
        assert_eq!(world.create(json!({"name": "S"})).await, "ok");
        let info = world.ask("$JS.API.STREAM.INFO.S", "", "");
        // No stream is needed for this one, so it comes after whatever the stream is asked and answers.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        world.ask("$JS.API.INFO", "", "");
        let first = loop {
            if let Heard::Published { route, .. } = world.heard.recv().await.expect("the router lives") {
                break route;
            }
        };
        assert_eq!(first == info, answered);
    }
}

#[actix_rt::test]
async fn auditors_hear_of_every_answer() {
    let mut world = World::with(Limits::default(), AccountLimits::default(), Vec::new(), true);
    world.api("STREAM.INFO.NONE", " {} ").await;
    let advisory = world.published("$JS.EVENT.ADVISORY.API").await;
    assert_eq!(advisory["type"], "io.nats.jetstream.advisory.v1.api_audit");
    assert_eq!((&advisory["server"], &advisory["subject"]), (&json!("s1"), &json!("$JS.API.STREAM.INFO.NONE")));
    assert_eq!((&advisory["request"], &advisory["client"]["acc"]), (&json!(" {} "), &json!("$G")));
    assert_eq!((&advisory["client"]["name"], &advisory["client"]["rtt"]), (&json!("app"), &json!(7)));
    assert!(advisory["response"].as_str().is_some_and(|text| text.contains("10059")));
    world.api("INFO", "").await;
    let advisory = world.published("$JS.EVENT.ADVISORY.API").await;
    assert!(advisory.get("request").is_none(), "left out when empty");
    assert!(advisory["client"].get("name").is_none(), "the client has gone");
}

#[actix_rt::test]
async fn what_is_beyond_us_is_offline_and_can_be_deleted() {
    let beyond = json!({"name": "NEW", "subjects": ["n"], "metadata": {"_nats.req.level": "9"}});
    let strange = json!({"name": "ODD", "subjects": ["o"], "no_such_member": 1});
    let fine = json!({"name": "OLD", "subjects": ["a"], "metadata": {"_nats.req.level": "1"}});
    let recovered = vec![stored(1, "NEW", beyond), stored(2, "ODD", strange), stored(3, "OLD", fine)];
    let mut world = World::with(Limits::default(), AccountLimits::default(), recovered, false);
    assert_eq!(world.names(json!({})).await, json!(["NEW", "ODD", "OLD"]));
    let listed = world.api("STREAM.LIST", "").await;
    assert_eq!(listed["missing"], json!(["NEW", "ODD"]));
    let reason = "unsupported - required API level: 9, current API level: 5";
    assert_eq!(listed["offline"]["NEW"], reason);
    assert_eq!(world.outcome("STREAM.INFO.NEW", json!({})).await, format!("500/10194 stream is offline: {reason}"));
    let taken = world.create(json!({"name": "X", "subjects": ["n"]})).await;
    assert_eq!(taken, "400/10065 subjects overlap with an existing stream");
    assert_eq!(world.outcome("STREAM.DELETE.NEW", json!({})).await, "ok");
    assert_eq!(world.create(json!({"name": "X", "subjects": ["n"]})).await, "ok");
}

#[actix_rt::test]
async fn a_stream_that_panics_begins_anew() {
    let mut world = World::new();
    world.create(json!({"name": "A", "subjects": ["a"]})).await;
    // As often as it may; then it stays offline.
    for _ in 0..10 {
        world.ask("$JS.API.STREAM.PURGE.A", "", "");
        let gone = world.setting.stream_service(StreamId(7));
        while !matches!(world.heard.recv().await.expect("the router lives"), Heard::Dismissed(id) if id == gone) {}
        assert_eq!(world.outcome("STREAM.INFO.A", json!({})).await, "ok");
    }
    world.ask("$JS.API.STREAM.PURGE.A", "", "");
    let gone = world.setting.stream_service(StreamId(7));
    while !matches!(world.heard.recv().await.expect("the router lives"), Heard::Dismissed(id) if id == gone) {}
    let info = world.outcome("STREAM.INFO.A", json!({})).await;
    assert_eq!(info, "500/10194 stream is offline: stopped after an internal error: on purpose");
}

#[actix_rt::test]
async fn a_stream_in_memory_that_panics_is_offline() {
    let mut world = World::new();
    world.create(json!({"name": "A", "subjects": ["a"], "storage": "memory"})).await;
    world.ask("$JS.API.STREAM.PURGE.A", "", "");
    let gone = world.setting.stream_service(StreamId(7));
    while !matches!(world.heard.recv().await.expect("the router lives"), Heard::Dismissed(id) if id == gone) {}
    let info = world.outcome("STREAM.INFO.A", json!({})).await;
    assert_eq!(info, "500/10194 stream is offline: stopped after an internal error: on purpose");
    let taken = world.create(json!({"name": "B", "subjects": ["a"]})).await;
    assert_eq!(taken, "400/10065 subjects overlap with an existing stream");
}

#[actix_rt::test]
async fn credit_comes_back() {
    let mut world = World::new();
    world.ask("$JS.API.INFO", "", "");
    let sent = "$JS.API.INFOreply.1".len();
    while !matches!(world.heard.recv().await.expect("the router lives"), Heard::Released(bytes) if bytes == sent) {}
}

#[test]
fn service_ids_differ() {
    use crate::store::ConsumerId;
    let ids = |setting: &Setting| {
        let mut ids = vec![setting.jetstream_service()];
        for stream in 0..20 {
            ids.push(setting.stream_service(StreamId(stream)));
            ids.extend((0..20).map(|consumer| setting.consumer_service(StreamId(stream), ConsumerId(consumer))));
        }
        ids
    };
    actix_rt::System::new().block_on(async {
        let mut world = World::new();
        let mut all = ids(&world.setting);
        world.setting.account = AccountId(2);
        all.extend(ids(&world.setting));
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert!(all.iter().all(|id| id.0 >= 1 << 60), "connections count from one");
    });
}
