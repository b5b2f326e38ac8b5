use super::world::{BEGINNING, World, config};
use crate::jetstream::consumer::ConsumerConfig;
use crate::jetstream::consumer::config::AckPolicy;
use crate::jetstream::stream::StreamConfig;
use crate::jetstream::stream::config::Retention;
use crate::store::*;
use bytes::Bytes;
use serde_json::json;

const SECOND: i64 = 1_000_000_000;

/// Messages 3, 4 and 6 of a stream that went up to 7; the oldest is two minutes old.
fn found(config: &StreamConfig, consumers: Vec<RecoveredConsumer>) -> RecoveredStream {
    let entry = |seq: u64, age: i64, headers: &'static str| IndexEntry {
        seq,
        timestamp: BEGINNING - age * SECOND,
        subject: Bytes::from_static(if seq == 4 { b"a.2" } else { b"a.1" }),
        headers: Bytes::from_static(headers.as_bytes()),
        payload_len: 5,
    };
    RecoveredStream {
        id: StreamId(1),
        account: "$G".into(),
        name: "S".into(),
        config: serde_json::to_vec(config).expect("plain data").into(),
        created: BEGINNING - 200 * SECOND,
        first: 3,
        last: 7,
        last_timestamp: BEGINNING - SECOND,
        index: vec![
            entry(3, 121, "NATS/1.0\r\nNats-Msg-Id: old\r\n\r\n"),
            entry(4, 60, "NATS/1.0\r\nNats-Msg-Id: young\r\n\r\n"),
            entry(6, 2, ""),
        ],
        lost: vec![5..=5],
        lost_bytes: 33,
        next_consumer: ConsumerId(consumers.len() as u64 + 1),
        consumers,
        hot: Hot::default(),
    }
}

fn consumer(id: u64, config: ConsumerConfig, state: ConsumerState) -> RecoveredConsumer {
    let config = serde_json::to_vec(&config).expect("plain data").into();
    RecoveredConsumer { id: ConsumerId(id), name: format!("c{id}"), config, created: BEGINNING, state }
}

#[actix_rt::test]
async fn a_stream_goes_on_where_it_was() {
    let config = config(&["a.*"]);
    let mut world = World::with(config.clone(), true, Some(found(&config, Vec::new())));
    world.settle().await;
    let state = world.state().await;
    let numbers = (&state["messages"], &state["first_seq"], &state["last_seq"], &state["bytes"]);
    assert_eq!(numbers, (&3.into(), &3.into(), &7.into(), &(42 + 30 + 42 + 32 + 38).into()));
    assert_eq!((&state["deleted"], &state["lost"]), (&json!([5, 7]), &json!({"msgs": [5], "bytes": 33})));
    assert_eq!(world.publish("a.1", &[("Nats-Msg-Id", "young")], "").await.json()["seq"], 4);
    assert_eq!(world.publish("a.1", &[("Nats-Msg-Id", "old")], "").await.json()["seq"], 8);
}

#[actix_rt::test]
async fn what_became_too_old_meanwhile_is_dropped() {
    let config = StreamConfig { max_age: 100 * SECOND, ..config(&["a.*"]) };
    let mut world = World::with(config.clone(), true, Some(found(&config, Vec::new())));
    world.settle().await;
    let state = world.state().await;
    assert_eq!((&state["messages"], &state["first_seq"]), (&2.into(), &4.into()));
}

#[actix_rt::test]
async fn consumers_go_on_and_what_their_acks_removed_is_removed() {
    let config = StreamConfig { retention: Retention::WorkQueue, ..config(&["a.*"]) };
    let ack =
        ConsumerConfig { ack_policy: AckPolicy::Explicit, filter_subject: "a.1".into(), ..ConsumerConfig::default() };
    // It has acknowledged 3, and 6 is still out.
    let mut state = ConsumerState {
        delivered_stream: 6,
        delivered_consumer: 2,
        floor_stream: 3,
        floor_consumer: 1,
        ..ConsumerState::default()
    };
    state.pending.insert(6, PendingMessage { consumer: 2, timestamp: BEGINNING });
    let mut world = World::with(config.clone(), true, Some(found(&config, vec![consumer(1, ack, state)])));
    world.settle().await;
    let start = world.heard("c1", |heard| heard.start.clone()).expect("launched");
    assert_eq!((start.next, start.pending, start.stream_last), (7, 0, 7));
    let state = world.state().await;
    assert_eq!((&state["messages"], &state["first_seq"], &state["consumer_count"]), (&2.into(), &4.into(), &1.into()));
    world.publish("a.1", &[], "").await;
    assert_eq!(world.heard("c1", |heard| heard.matching), 1);
    // New consumers get numbers of their own.
    world.consumer("d", json!({"ack_policy": "explicit", "filter_subject": "a.2"})).await;
    assert_eq!(world.heard("d", |heard| heard.id.0), ConsumerId(2));
}
