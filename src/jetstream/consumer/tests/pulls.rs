//! Pull requests: who gets what, and how requests end (consumers reference, sections 4 and 12).

use super::bench::{Bench, MS, SECOND};
use serde_json::json;

fn durable() -> serde_json::Value {
    json!({"durable_name": "c", "ack_policy": "explicit"})
}

#[actix_rt::test]
async fn what_is_there_is_delivered_and_the_rest_waits() {
    let mut bench = Bench::new(durable(), &["s.1", "s.2", "s.3"]).await;
    bench.pull("in", "2").await;
    let seen = bench.seen();
    assert_eq!(seen[0].subject, "s.1");
    assert_eq!(seen[0].reply, "$JS.ACK.S.c.1.1.1.1700000000000000000.2");
    assert_eq!(seen[1].numbers(), "1.2.2+1");
    bench.pull("in", r#"{"batch":2,"expires":1000000000}"#).await;
    assert_eq!(bench.brief(), ["1.3.3+0"]);
    assert_eq!(bench.counts().await, json!([[3, 3], [0, 0], 3, 0, 1, 0]));
    bench.publish("s.4").await;
    assert_eq!(bench.brief(), ["1.4.4+0"]);
    assert_eq!(bench.counts().await, json!([[4, 4], [0, 0], 4, 0, 0, 0]));
    assert_eq!(bench.world().state.pending.len(), 4, "deliveries are saved");
}

#[actix_rt::test]
async fn no_wait_ends_with_404() {
    let bench = Bench::new(durable(), &["s.1", "s.2", "s.3"]).await;
    bench.pull("in", r#"{"batch":10,"no_wait":true}"#).await;
    assert_eq!(bench.brief(), ["1.1.1+2", "1.2.2+1", "1.3.3+0", "404 No Messages"]);
    bench.pull("in", r#"{"batch":1,"no_wait":true}"#).await;
    let seen = bench.seen();
    assert_eq!(seen[0].headers, "NATS/1.0 404 No Messages\r\n\r\n");
    bench.pull("other", r#"{"batch":3,"expires":20000000000}"#).await;
    bench.publish("s.4").await;
    bench.seen();
    bench.pull("in", r#"{"batch":5,"no_wait":true,"expires":5000000000}"#).await;
    assert!(bench.brief().is_empty(), "it waits");
}

#[actix_rt::test]
async fn requests_expire() {
    let bench = Bench::new(durable(), &[]).await;
    bench.pull("in", r#"{"batch":10,"expires":300000000}"#).await;
    bench.pass(299 * MS).await;
    assert!(bench.brief().is_empty());
    bench.pass(2 * MS).await;
    let headers = &bench.seen()[0].headers;
    assert_eq!(headers, "NATS/1.0 408 Request Timeout\r\nNats-Pending-Messages: 10\r\nNats-Pending-Bytes: 0\r\n\r\n");
    assert_eq!(headers.len(), 82);
    bench.pull("in", r#"{"batch":2,"expires":-5}"#).await;
    assert_eq!(bench.brief(), ["408 Request Timeout"]);
}

#[actix_rt::test]
async fn three_take_turns() {
    let bench = Bench::new(durable(), &[]).await;
    for name in ["a", "b", "c"] {
        bench.pull(name, r#"{"batch":3,"expires":60000000000}"#).await;
    }
    for n in 0..7 {
        bench.publish(&format!("r.{n}")).await;
    }
    let got = |name: &str, seen: &[super::bench::Seen]| {
        let own = seen.iter().filter(|s| s.to == name).map(|s| s.subject.clone());
        own.collect::<Vec<_>>().join(" ")
    };
    let seen = bench.seen();
    assert_eq!(got("a", &seen), "r.0 r.3 r.6");
    assert_eq!(got("b", &seen), "r.1 r.4");
    assert_eq!(got("c", &seen), "r.2 r.5");
}

#[actix_rt::test]
async fn byte_budgets() {
    let bench = Bench::new(durable(), &["s.1", "s.2", "s.3", "s.4"]).await;
    // Each is 3 + 2 bytes and an ack of 39: 44.
    bench.pull("in", r#"{"batch":50,"max_bytes":100,"expires":60000000000}"#).await;
    let seen = bench.seen();
    assert_eq!(seen.len(), 3);
    let rest = "Nats-Pending-Messages: 48\r\nNats-Pending-Bytes: 12\r\n\r\n";
    assert_eq!(seen[2].headers, format!("NATS/1.0 409 Message Size Exceeds MaxBytes\r\n{rest}"));
    bench.pull("in", r#"{"batch":2,"max_bytes":15000,"expires":60000000000}"#).await;
    let seen = bench.seen();
    assert_eq!(seen[2].status(), Some("409 Batch Completed"));
    assert!(seen[2].headers.contains("Nats-Pending-Messages: 0\r\nNats-Pending-Bytes: 14912\r\n"), "{seen:?}");
}

#[actix_rt::test]
async fn too_many_wait() {
    let bench = Bench::new(json!({"durable_name": "c", "ack_policy": "explicit", "max_waiting": 2}), &[]).await;
    bench.pull("a", "1").await;
    bench.pull("b", "1").await;
    bench.pull("in", "1").await;
    assert_eq!(bench.brief(), ["409 Exceeded MaxWaiting"]);
    bench.pull("in", r#"{"batch":1,"expires":1000000000,"idle_heartbeat":100000000}"#).await;
    assert!(bench.brief().is_empty(), "who wants heartbeats is not told");
    // Somebody left: there is room, as soon as the queue may be looked through again.
    bench.unlisten("a").await;
    bench.pass(SECOND).await;
    bench.pull("in", "1").await;
    bench.publish("s.1").await;
    bench.publish("s.2").await;
    let seen = bench.seen();
    assert_eq!(seen.iter().map(|s| &s.to[..]).collect::<Vec<_>>(), ["b", "in"]);
}

#[actix_rt::test]
async fn who_left_gets_nothing_and_nothing_is_lost() {
    let mut bench = Bench::new(durable(), &[]).await;
    bench.pull("a", "2").await;
    bench.pull("b", "2").await;
    bench.unlisten("a").await;
    bench.pass(SECOND).await;
    bench.publish("s.1").await;
    assert_eq!(bench.brief(), ["1.1.1+0"]);
    assert_eq!(bench.counts().await, json!([[1, 1], [0, 0], 1, 0, 1, 0]));
    // Left just now: the message comes back, and nothing shows.
    bench.world().listeners.remove("b");
    bench.publish("s.2").await;
    assert_eq!(bench.world().unheard.iter().filter(|to| *to == "b").count(), 1);
    assert_eq!(bench.counts().await, json!([[1, 1], [0, 0], 1, 0, 0, 1]));
    bench.pull("in", "1").await;
    assert_eq!(bench.brief(), ["1.2.2+0"]);
    assert_eq!(bench.world().state.delivered_consumer, 2);
}

#[actix_rt::test]
async fn refused_at_once() {
    let config = json!({"durable_name": "c", "max_batch": 5, "max_expires": 500_000_000, "max_bytes": 1000});
    let bench = Bench::new(config, &["s.1"]).await;
    let cases = [
        (r#"{"batch":6}"#, "409 Exceeded MaxRequestBatch of 5"),
        (r#"{"batch":1,"expires":1000000000}"#, "409 Exceeded MaxRequestExpires of 500ms"),
        (r#"{"batch":1,"max_bytes":1001}"#, "409 Exceeded MaxRequestMaxBytes of 1000"),
        (r#"{"batch":1,"idle_heartbeat":100000000}"#, "400 Bad Request - heartbeat value too large"),
        (r#"{"batch":1,"min_pending":1}"#, "400 Bad Request - Not a Overflow Priority consumer"),
        (r#"{"batch":1,"id":"x"}"#, "400 Bad Request - Not a Pinned Client Priority consumer"),
        (r#"{"batch":1,"priority":10}"#, "400 Bad Request - Priority must be between 0 and 9"),
    ];
    for (body, status) in cases {
        bench.pull("in", body).await;
        assert_eq!(bench.brief(), [status], "{body}");
    }
    bench.pull("in", r#"{"batch":"#).await;
    assert!(bench.brief()[0].starts_with("400 Bad Request - "));
}

#[actix_rt::test]
async fn heartbeats_while_waiting() {
    let bench = Bench::new(durable(), &["s.1"]).await;
    bench.pull("in", r#"{"batch":5,"expires":60000000000,"idle_heartbeat":1000000000}"#).await;
    bench.seen();
    bench.pass(SECOND + MS).await;
    let seen = bench.seen();
    let expected = "NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: 1\r\nNats-Last-Stream: 1\r\n\r\n";
    assert_eq!(seen[0].headers, expected);
    assert_eq!(seen.len(), 1);
}

#[actix_rt::test]
async fn lower_priorities_first() {
    let config = json!({"durable_name": "c", "priority_policy": "prioritized", "priority_groups": ["A"]});
    let bench = Bench::new(config, &[]).await;
    for (name, priority, batch) in [("p9", 9, 2), ("x", 1, 2), ("y", 1, 2), ("p0", 0, 1)] {
        let body = json!({"group": "A", "priority": priority, "batch": batch, "expires": 60 * SECOND}).to_string();
        bench.pull(name, &body).await;
    }
    for n in 0..7 {
        bench.publish(&format!("q.{n}")).await;
    }
    let seen = bench.seen();
    let order: Vec<&str> = seen.iter().map(|s| &s.to[..]).collect();
    assert_eq!(order, ["p0", "x", "y", "x", "y", "p9", "p9"]);
}

#[actix_rt::test]
async fn one_client_is_pinned() {
    let config = json!({"durable_name": "c", "priority_policy": "pinned_client", "priority_groups": ["A"]});
    let mut bench = Bench::new(config, &["s.1", "s.2", "s.3"]).await;
    bench.pull("a", r#"{"group":"A","batch":1}"#).await;
    let first = bench.seen();
    let pin = first[0].headers.strip_prefix("Nats-Pin-Id: ").expect("pinned").trim_end().to_string();
    assert_eq!(pin.len(), 22);
    bench.pull("b", r#"{"group":"A","batch":1}"#).await;
    assert!(bench.seen().is_empty(), "on standby");
    bench.pull("in", r#"{"group":"A","batch":1,"id":"wrong"}"#).await;
    assert_eq!(bench.brief(), ["423 Nats-Pin-Id mismatch"]);
    bench.pull("a", &format!(r#"{{"group":"A","batch":1,"id":"{pin}"}}"#)).await;
    assert_eq!(bench.seen()[0].to, "a");
    assert_eq!(bench.info().await["priority_groups"][0]["pinned_client_id"], json!(pin));
    // The pinned one is silent for too long: the next is pinned.
    bench.pass(121 * SECOND).await;
    let seen = bench.seen();
    assert_eq!(seen[0].to, "b");
    assert_ne!(seen[0].headers, format!("Nats-Pin-Id: {pin}\r\n"));
}

#[actix_rt::test]
async fn overflow_serves_only_what_is_too_much() {
    let config = json!({"durable_name": "c", "priority_policy": "overflow", "priority_groups": ["A"]});
    let bench = Bench::new(config, &["s.1"]).await;
    bench.pull("in", r#"{"group":"A","batch":5,"min_pending":3,"expires":60000000000}"#).await;
    assert!(bench.seen().is_empty());
    bench.publish("s.2").await;
    assert!(bench.seen().is_empty());
    bench.publish("s.3").await;
    assert_eq!(bench.brief(), ["1.1.1+2"]);
}

#[actix_rt::test]
async fn credit_bounds_what_is_on_its_way() {
    let subjects = vec!["s"; 3000];
    let bench = Bench::new(json!({"durable_name": "c", "ack_policy": "none"}), &subjects).await;
    bench.world().hold_receipts = true;
    bench.pull("in", "3000").await;
    assert_eq!(bench.seen().len(), 1024);
    let receipts = std::mem::take(&mut bench.world().held_receipts);
    assert_eq!(receipts.len(), 2);
    bench.world().hold_receipts = false;
    for receipt in receipts {
        bench.consumer.send(receipt);
    }
    bench.settle().await;
    assert_eq!(bench.seen().len(), 3000 - 1024);
}
