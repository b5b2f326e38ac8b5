//! From birth to end: creation, info, pauses, resets, updates, purges, inactivity.

use super::bench::{Bench, MS, SECOND};
use crate::jetstream::api::consumer_create::Action;
use crate::jetstream::api::endpoint::Endpoint;
use crate::jetstream::consumer::ConsumerConfig;
use crate::jetstream::messages::{EndConsumer, Purged, ServerShutdown, UpdateConsumer};
use crate::jetstream::stream::config::Retention;
use crate::store::{ConsumerState, PendingMessage};
use bytes::Bytes;
use serde_json::{Value, json};

fn explicit() -> Value {
    json!({"durable_name": "c", "name": "c", "ack_policy": "explicit"})
}

fn ack(stream: u64, consumer: u64) -> String {
    format!("$JS.ACK.S.c.1.{stream}.{consumer}.1700000000000000000.0")
}

fn endpoint(verb: &str) -> Endpoint {
    Endpoint::parse(&Bytes::from(format!("$JS.API.CONSUMER.{verb}.S.c"))).expect("an endpoint")
}

#[actix_rt::test]
async fn the_answer_to_a_creation() {
    let bench = Bench::with(explicit(), &["s"], |birth| {
        birth.request = Some(crate::jetstream::messages::ApiRequest {
            via: crate::router::messages::RouterId(0),
            client: 1,
            subject: Bytes::new(),
            reply: Bytes::from_static(b"r"),
            headers: Bytes::new(),
            body: Bytes::new(),
        })
    })
    .await;
    let answer = bench.world().answers.pop().expect("answered");
    let expected = json!({
        "type": "io.nats.jetstream.api.v1.consumer_create_response",
        "stream_name": "S", "name": "c", "created": "2023-11-14T22:13:20Z",
        "config": {
            "durable_name": "c", "name": "c", "deliver_policy": "all", "ack_policy": "explicit",
            "ack_wait": 30_000_000_000i64, "max_deliver": -1, "replay_policy": "instant", "max_waiting": 512,
            "max_ack_pending": 1000, "num_replicas": 0,
            "metadata": {"_nats.level": "5", "_nats.req.level": "0", "_nats.ver": "2.15.1"},
        },
        "delivered": {"consumer_seq": 0, "stream_seq": 0}, "ack_floor": {"consumer_seq": 0, "stream_seq": 0},
        "num_ack_pending": 0, "num_redelivered": 0, "num_waiting": 0, "num_pending": 1,
        "ts": "2023-11-14T22:13:20Z",
    });
    assert_eq!(answer, expected);
}

#[actix_rt::test]
async fn a_pause_holds_deliveries() {
    let mut bench = Bench::new(explicit(), &["s"]).await;
    let answer = bench.call(endpoint("PAUSE"), r#"{"pause_until":"2023-11-14T22:13:25Z"}"#).await;
    assert_eq!(answer["paused"], true);
    assert_eq!(answer["pause_until"], "2023-11-14T22:13:25Z");
    assert_eq!(answer["pause_remaining"], 5 * SECOND);
    bench.pull("in", r#"{"batch":3,"no_wait":true}"#).await;
    assert_eq!(bench.brief(), ["404 No Messages"]);
    bench.pull("in", "1").await;
    assert_eq!(bench.info().await["paused"], true);
    bench.pass(5 * SECOND + MS).await;
    assert_eq!(bench.brief(), ["1.1.1+0"]);
    assert_eq!(bench.info().await.get("paused"), None);
    let answer = bench.call(endpoint("PAUSE"), "").await;
    assert_eq!((&answer["paused"], &answer["pause_until"]), (&json!(false), &json!("0001-01-01T00:00:00Z")));
}

#[actix_rt::test]
async fn a_reset_begins_anew() {
    let mut bench = Bench::new(explicit(), &["s"; 5]).await;
    bench.pull("in", "4").await;
    bench.ack(&ack(1, 1), "", "").await;
    bench.ack(&ack(3, 3), "", "").await;
    bench.seen();
    let answer = bench.call(endpoint("RESET"), "").await;
    assert_eq!(answer["reset_seq"], 2);
    assert_eq!(bench.counts().await, json!([[0, 1], [0, 1], 0, 0, 0, 4]));
    bench.pull("in", "10").await;
    assert_eq!(bench.brief(), ["1.2.1+3", "1.3.2+2", "1.4.3+1", "1.5.4+0"]);
    let answer = bench.call(endpoint("RESET"), r#"{"seq":9}"#).await;
    assert_eq!(answer["delivered"]["stream_seq"], 8);
    assert_eq!(bench.world().state.floor_stream, 8);
}

#[actix_rt::test]
async fn the_last_of_each_subject_and_then_what_comes() {
    let config = json!({
        "durable_name": "c", "ack_policy": "explicit", "deliver_policy": "last_per_subject", "filter_subject": "s.*",
    });
    let subjects = ["s.a", "s.b", "s.a", "s.c", "s.b", "s.a", "s.d"];
    let mut bench = Bench::with(config, &subjects, |birth| {
        birth.start.next = 8;
        birth.start.pending = 4;
        birth.start.last_per_subject = Some(vec![4, 5, 6, 7]);
    })
    .await;
    assert_eq!(bench.counts().await, json!([[0, 3], [0, 3], 0, 0, 0, 4]));
    bench.publish("s.a").await;
    bench.pull("in", "10").await;
    assert_eq!(bench.brief(), ["1.4.1+4", "1.5.2+3", "1.6.3+2", "1.7.4+1", "1.8.5+0"]);
}

#[actix_rt::test]
async fn updates() {
    let mut bench = Bench::new(explicit(), &["s.a", "s.b", "s.a"]).await;
    let update = |bench: &Bench, change: fn(&mut ConsumerConfig), action: Action| {
        let mut config: ConsumerConfig = serde_json::from_value(json!({
            "durable_name": "c", "name": "c", "ack_policy": "explicit", "ack_wait": 30 * SECOND, "max_deliver": -1,
            "max_waiting": 512, "max_ack_pending": 1000,
        }))
        .expect("a configuration");
        change(&mut config);
        bench.consumer.send(UpdateConsumer { config: Box::new(config), action, request: bench.request("") });
    };
    update(&bench, |_| {}, Action::Create);
    update(&bench, |config| config.description = "x".into(), Action::Create);
    update(&bench, |config| config.max_waiting = 7, Action::CreateOrUpdate);
    update(&bench, |config| config.filter_subject = "s.b".into(), Action::Update);
    bench.settle().await;
    let answers = std::mem::take(&mut bench.world().answers);
    assert_eq!(answers[0]["name"], "c");
    assert_eq!(answers[1]["error"]["err_code"], 10148);
    assert_eq!(answers[2]["error"]["description"], "max waiting can not be updated");
    assert_eq!(answers[3]["config"]["filter_subject"], "s.b");
    assert_eq!(bench.counts().await[5], json!(1));
    bench.pull("in", "5").await;
    assert_eq!(bench.brief(), ["1.2.1+0"]);
}

#[actix_rt::test]
async fn purges() {
    // Ten messages in turn on f.0 and f.1; four delivered, the first acknowledged (consumers reference, 8.3).
    let subjects: Vec<String> = (0..10).map(|n| format!("f.{}", n % 2)).collect();
    let subjects: Vec<&str> = subjects.iter().map(|s| &s[..]).collect();
    type Case = (Option<&'static str>, fn(u64) -> bool, u64, u64, Value, Value);
    let cases: [Case; 4] = [
        (None, |_| true, 11, 0, json!([[4, 10], [4, 10], 0, 0, 0, 0]), json!([[4, 10], [4, 10], 0, 0, 0, 0])),
        (None, |seq| seq < 9, 9, 0, json!([[4, 8], [4, 8], 0, 0, 0, 2]), json!([[4, 8], [4, 8], 0, 0, 0, 1])),
        (None, |seq| seq < 4, 4, 0, json!([[4, 4], [3, 3], 1, 0, 0, 6]), json!([[4, 7], [2, 4], 2, 0, 0, 1])),
        (
            Some("f.0"),
            |seq| seq % 2 == 1,
            2,
            11,
            json!([[4, 4], [1, 1], 2, 0, 0, 3]),
            json!([[4, 10], [4, 10], 0, 0, 0, 0]),
        ),
    ];
    for (filter, goes, first, first_matching, all, filtered) in cases {
        for (config, expected, second) in [
            (explicit(), all.clone(), 2),
            // A purge that takes only one of its filters leaves it the rest.
            (json!({"durable_name": "c", "ack_policy": "explicit", "filter_subjects": ["f.0", "f.1"]}), all, 2),
            (json!({"durable_name": "c", "ack_policy": "explicit", "filter_subject": "f.0"}), filtered, 3),
        ] {
            let mut bench = Bench::new(config, &subjects).await;
            bench.pull("in", "4").await;
            bench.ack(&ack(1, 1), "", "").await;
            assert_eq!(bench.world().state.pending.keys().next(), Some(&second));
            bench.world().messages.retain(|&seq, _| !goes(seq));
            bench.consumer.send(Purged { first, last: 10, filter: filter.map(Bytes::from), first_matching });
            bench.settle().await;
            assert_eq!(bench.counts().await, expected, "{filter:?}");
        }
    }
}

#[actix_rt::test]
async fn who_sources_anew_gets_what_it_has_not_confirmed() {
    let config = json!({
        "durable_name": "c", "name": "c", "ack_policy": "explicit", "sourcing": true, "ack_wait": 30 * SECOND,
        "max_deliver": -1, "max_waiting": 512, "max_ack_pending": 1000,
    });
    let mut bench = Bench::new(config.clone(), &["s.a", "s.b", "s.c"]).await;
    bench.pull("in", "3").await;
    bench.ack(&ack(1, 1), "", "").await;
    assert_eq!(bench.counts().await, json!([[3, 3], [1, 1], 2, 0, 0, 0]));
    let config = serde_json::from_value(config).expect("a configuration");
    let request = bench.request("");
    bench.consumer.send(UpdateConsumer { config: Box::new(config), action: Action::CreateOrUpdate, request });
    bench.settle().await;
    let answers = std::mem::take(&mut bench.world().answers);
    assert_eq!(answers.last().map(|answer| &answer["name"]), Some(&json!("c")));
    assert_eq!(bench.counts().await, json!([[0, 1], [0, 1], 0, 0, 0, 2]));
}

#[actix_rt::test]
async fn the_end_is_told_to_who_waits() {
    let bench = Bench::new(explicit(), &[]).await;
    bench.pull("in", "5").await;
    bench.consumer.send(EndConsumer);
    bench.settle().await;
    assert_eq!(bench.seen()[0].headers, "NATS/1.0 409 Consumer Deleted\r\n\r\n");
    assert!(bench.world().dismissed);

    let bench = Bench::new(explicit(), &[]).await;
    bench.pull("in", "5").await;
    bench.consumer.send(ServerShutdown);
    bench.settle().await;
    let expected = "NATS/1.0 409 Server Shutdown\r\nNats-Pending-Messages: 5\r\nNats-Pending-Bytes: 0\r\n\r\n";
    assert_eq!(bench.seen()[0].headers, expected);
}

#[actix_rt::test]
async fn unused_consumers_go() {
    let bench = Bench::new(json!({"name": "c", "ack_policy": "none"}), &["s"]).await;
    bench.pass(4 * SECOND).await;
    bench.pull("in", r#"{"batch":1,"no_wait":true}"#).await;
    bench.pass(4 * SECOND).await;
    bench.pull("in", r#"{"batch":1,"expires":60000000000}"#).await;
    bench.pass(10 * SECOND).await;
    assert!(!bench.world().expired, "somebody waits");
    bench.unlisten("in").await;
    bench.pass(6 * SECOND).await;
    bench.pass(6 * SECOND).await;
    assert!(bench.world().expired);
}

#[actix_rt::test]
async fn work_queues_hear_what_is_settled() {
    let bench = Bench::with(explicit(), &["s"; 3], |birth| birth.retention = Retention::WorkQueue).await;
    bench.pull("in", "3").await;
    bench.ack(&ack(2, 2), "", "").await;
    bench.ack(&ack(3, 3), "", "+TERM").await;
    assert_eq!(bench.world().settled, [2, 3]);
    let config = json!({"durable_name": "c", "ack_policy": "none"});
    let bench = Bench::with(config, &["s"; 3], |birth| birth.retention = Retention::Interest).await;
    bench.pull("in", "2").await;
    assert_eq!(bench.world().settled_upto, 2);
}

#[actix_rt::test]
async fn after_a_restart_pending_messages_come_when_they_are_due() {
    let mut state = ConsumerState { delivered_stream: 6, delivered_consumer: 6, ..ConsumerState::default() };
    (state.floor_stream, state.floor_consumer) = (1, 1);
    for seq in [2, 4, 5, 6] {
        let timestamp = 1_700_000_000 * SECOND - 28 * SECOND;
        state.pending.insert(seq, PendingMessage { consumer: seq, timestamp });
    }
    let bench = Bench::with(explicit(), &["s"; 8], |birth| {
        birth.recovered = Some(state);
        birth.start.next = 7;
        birth.start.pending = 2;
    })
    .await;
    bench.pull("in", "10").await;
    assert_eq!(bench.brief(), ["1.7.7+1", "1.8.8+0"]);
    bench.pass(2 * SECOND + 2 * MS).await;
    assert_eq!(bench.brief(), ["2.2.9+0", "2.4.10+0", "2.5.11+0", "2.6.12+0"]);
}

#[actix_rt::test]
async fn a_slow_creation_is_no_inactivity() {
    for config in [json!({"inactive_threshold": SECOND}), json!({"inactive_threshold": SECOND, "deliver_subject": "d"})]
    {
        let bench = Bench::unborn(config, &[], |_| {}).await;
        bench.pass(10 * SECOND).await;
        bench.bear().await;
        bench.pass(SECOND / 2).await;
        assert!(!bench.world().expired);
        bench.pass(2 * SECOND).await;
        assert!(bench.world().expired);
    }
}
