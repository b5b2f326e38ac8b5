//! Push consumers (consumers reference, section 5).

use super::bench::{Bench, MS, SECOND};
use serde_json::json;

#[actix_rt::test]
async fn delivered_while_somebody_listens() {
    let mut bench =
        Bench::new(json!({"deliver_subject": "d", "durable_name": "c", "ack_policy": "explicit"}), &["s.1", "s.2"])
            .await;
    assert!(bench.seen().is_empty());
    assert_eq!(bench.info().await.get("push_bound"), None);
    bench.listen("d").await;
    let seen = bench.seen();
    assert_eq!((seen[0].to.as_str(), seen[0].subject.as_str(), seen[1].numbers().as_str()), ("d", "s.1", "1.2.2+0"));
    assert_eq!(bench.info().await["push_bound"], true);
    bench.unlisten("d").await;
    bench.publish("s.3").await;
    assert!(bench.seen().is_empty());
    bench.listen("d").await;
    assert_eq!(bench.brief(), ["1.3.3+0"]);
}

#[actix_rt::test]
async fn what_found_nobody_comes_again() {
    let mut bench = Bench::new(json!({"deliver_subject": "d", "ack_policy": "explicit"}), &[]).await;
    bench.listen("d").await;
    // The router knows, the consumer does not know yet.
    bench.world().listeners.remove("d");
    bench.publish("s.1").await;
    assert_eq!(bench.counts().await, json!([[0, 0], [0, 0], 0, 0, 0, 1]));
    bench.listen("d").await;
    assert_eq!(bench.brief(), ["1.1.1+0"]);
}

#[actix_rt::test]
async fn heartbeats_while_idle() {
    let bench = Bench::new(json!({"deliver_subject": "d", "idle_heartbeat": SECOND}), &["s.1"]).await;
    bench.pass(2 * SECOND).await;
    bench.listen("d").await;
    bench.seen();
    bench.pass(SECOND / 2).await;
    assert!(bench.seen().is_empty());
    bench.pass(SECOND / 2 + MS).await;
    let seen = bench.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].headers, "NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: 1\r\nNats-Last-Stream: 1\r\n\r\n");
}

#[actix_rt::test]
async fn flow_control_asks_and_stalls() {
    let big = "b".repeat(200_000);
    let config = json!({"deliver_subject": "d", "idle_heartbeat": 5 * SECOND, "flow_control": true});
    let bench = Bench::new(config, &[]).await;
    bench.listen("d").await;
    for _ in 0..30 {
        let seq = bench.world().store("s", &big, 0);
        bench.consumer.send(crate::jetstream::messages::Appended { last: seq, matching: 1 });
    }
    bench.settle().await;
    let seen = bench.seen();
    let asked: Vec<usize> = (0..seen.len()).filter(|&at| seen[at].headers.contains("FlowControl Request")).collect();
    assert_eq!((seen.len(), &asked[..]), (12, &[6][..]), "asked after more than a half, stalled after more than all");
    bench.pass(5 * SECOND).await;
    let beat = bench.seen();
    let subject = seen[6].reply.clone();
    assert!(beat[0].headers.contains(&format!("Nats-Consumer-Stalled: {subject}\r\n")), "{beat:?}");
    bench.flow("$JS.FC.S.c.none").await;
    assert!(bench.seen().is_empty());
    bench.flow(&subject).await;
    assert!(!bench.seen().is_empty());
}

#[actix_rt::test]
async fn nobody_listens_for_too_long() {
    let bench = Bench::new(json!({"deliver_subject": "d", "inactive_threshold": 2 * SECOND}), &[]).await;
    bench.pass(SECOND).await;
    bench.listen("d").await;
    bench.pass(10 * SECOND).await;
    assert!(!bench.world().expired);
    bench.unlisten("d").await;
    bench.pass(2 * SECOND - MS).await;
    assert!(!bench.world().expired);
    bench.pass(2 * MS).await;
    assert!(bench.world().expired);
}

#[actix_rt::test]
async fn a_rate_limit_spaces_messages() {
    let config = json!({"deliver_subject": "d", "rate_limit_bps": 8000});
    let body = "x".repeat(950);
    let bench = Bench::with(config, &[], |birth| birth.max_message = 1000).await;
    bench.listen("d").await;
    for _ in 0..3 {
        let seq = bench.world().store("s", &body, 0);
        bench.consumer.send(crate::jetstream::messages::Appended { last: seq, matching: 1 });
    }
    bench.settle().await;
    assert_eq!(bench.seen().len(), 1);
    bench.pass(SECOND / 2).await;
    assert_eq!(bench.seen().len(), 0);
    bench.pass(SECOND / 2).await;
    assert_eq!(bench.seen().len(), 1);
}

#[actix_rt::test]
async fn the_original_pace() {
    let config = json!({"deliver_subject": "d", "replay_policy": "original"});
    let bench = Bench::with(config, &[], |birth| {
        birth.start.stream_last = 2;
    })
    .await;
    for at in [0, 300 * MS, 301 * MS] {
        let seq = bench.world().store("s", "x", at);
        bench.consumer.send(crate::jetstream::messages::Appended { last: seq, matching: 1 });
    }
    bench.listen("d").await;
    assert_eq!(bench.seen().len(), 1);
    bench.pass(299 * MS).await;
    assert_eq!(bench.seen().len(), 0);
    bench.pass(MS).await;
    assert_eq!(bench.seen().len(), 2, "the last came after the consumer");
}
