//! TTLs, delete markers, transforms and copies.

use super::world::{World, config};
use crate::jetstream::messages::{ApiRequest, Save, UpdateStream};
use crate::jetstream::stream::StreamConfig;
use crate::jetstream::stream::config::{Republish, Retention, SubjectTransform};
use crate::router::messages::RouterId;
use crate::store::{ConsumerState, PendingMessage};
use serde_json::json;

const SECOND: i64 = 1_000_000_000;

fn with_ttls(subjects: &[&str]) -> StreamConfig {
    StreamConfig { allow_msg_ttl: true, allow_rollup_hdrs: true, ..config(subjects) }
}

/// The clock goes on, and the stream's alarm rings.
async fn wait(world: &mut World, nanos: i64) {
    world.advance_clock(nanos);
    world.stream.send(crate::actor::Alarm(1));
    world.settle().await;
}

#[actix_rt::test]
async fn a_ttl_ends_its_message_and_never_outlives_age() {
    let mut world = World::new(StreamConfig { max_age: 10 * SECOND, ..with_ttls(&["a"]) });
    for ttl in ["never", "1h", "2", "3s", ""] {
        world.publish("a", &[("Nats-TTL", ttl)], "").await;
    }
    let left = async |world: &mut World, nanos| {
        wait(world, nanos).await;
        let state = world.state().await;
        (state["messages"].as_u64(), state["first_seq"].as_u64())
    };
    assert_eq!(left(&mut world, SECOND).await, (Some(5), Some(1)));
    assert_eq!(left(&mut world, SECOND + SECOND / 2).await, (Some(4), Some(1)));
    assert_eq!(left(&mut world, SECOND).await, (Some(3), Some(1)));
    assert_eq!(left(&mut world, 10 * SECOND).await, (Some(1), Some(1)));
    assert_eq!(left(&mut world, 1000 * SECOND).await, (Some(1), Some(1)));
    assert_eq!(world.publish("a", &[("Nats-TTL", "+5")], "").await.err_code(), Some(10165));
}

#[actix_rt::test]
async fn the_last_message_of_a_subject_leaves_a_marker() {
    let markers = StreamConfig { subject_delete_marker_ttl: 5 * SECOND, max_age: 60 * SECOND, ..with_ttls(&["a.*"]) };
    let mut world = World::new(markers);
    world.publish("a.1", &[("Nats-TTL", "10")], "x").await;
    world.publish("a.2", &[("Nats-TTL", "2")], "raised").await;
    world.publish("a.3", &[("KV-Operation", "PURGE"), ("Nats-TTL", "10")], "").await;
    let raised = world.publish("$JS.API.DIRECT.GET.S", &[], r#"{"seq":2}"#).await;
    assert!(raised.headers.contains("Nats-TTL: 5\r\n"), "{}", raised.headers);
    wait(&mut world, 11 * SECOND).await;
    let state = world.state().await;
    assert_eq!((&state["messages"], &state["first_seq"], &state["last_seq"]), (&2.into(), &4.into(), &5.into()));
    let marker = world.publish("$JS.API.DIRECT.GET.S", &[], r#"{"last_by_subj":"a.1"}"#).await;
    let own = "Nats-Marker-Reason: MaxAge\r\nNats-TTL: 5s\r\nNats-Rollup: sub\r\n";
    assert!(marker.payload.is_empty() && marker.headers.contains(own), "{}", marker.headers);
    wait(&mut world, 6 * SECOND).await;
    assert_eq!(world.state().await["messages"], 0);
}

#[actix_rt::test]
async fn an_expiry_that_fails_is_made_again() {
    let mut world = World::waiting(with_ttls(&["a"]));
    world.commit().await;
    world.send(&[("a", &[("Nats-TTL", "1")], "")]);
    world.commit().await;
    world.advance_clock(2 * SECOND);
    world.stream.send(crate::actor::Alarm(1));
    world.fail().await;
    // The second alarm is that of the retry.
    world.stream.send(crate::actor::Alarm(2));
    world.commit().await;
    let info = world.send(&[("$JS.API.DIRECT.GET.S", &[], r#"{"seq":1}"#)]);
    world.settle().await;
    assert!(world.reply(&info[0]).expect("answered").headers.contains("404"));
}

#[actix_rt::test]
async fn subjects_are_transformed_and_copies_published() {
    let rule = |src: &str, dest: &str| Some(SubjectTransform { src: src.into(), dest: dest.into() });
    let republish = Some(Republish { src: "in.>".into(), dest: "copy.>".into(), headers_only: false });
    let mut world =
        World::waiting(StreamConfig { subject_transform: rule("a.*", "in.$1"), republish, ..config(&["a.*", "b"]) });
    world.commit().await;
    world.send(&[("a.x", &[], "1"), ("a.x", &[("Own", "h")], "2"), ("b", &[], "")]);
    world.settle().await;
    let copies = |world: &World| -> Vec<_> {
        let seen = world.seen();
        seen.published.iter().filter(|got| got.subject.starts_with("copy")).cloned().collect()
    };
    assert_eq!(copies(&world), []);
    world.commit().await;
    let copies = copies(&world);
    assert_eq!(copies.iter().map(|copy| &*copy.payload).collect::<Vec<_>>(), ["1", "2"]);
    let second = &copies[1];
    assert_eq!(second.subject, "copy.x");
    let begins = "NATS/1.0\r\nOwn: h\r\nNats-Stream: S\r\nNats-Subject: in.x\r\nNats-Sequence: 2\r\nNats-Time-Stamp: ";
    assert!(second.headers.starts_with(begins), "{}", second.headers);
    assert!(second.headers.ends_with("\r\nNats-Last-Sequence: 1\r\n\r\n"), "{}", second.headers);
}

#[actix_rt::test]
async fn a_stream_that_begins_to_retain_asks_who_has_what() {
    let mut world = World::new(config(&["a"]));
    for _ in 0..4 {
        world.publish("a", &[], "").await;
    }
    world.consumer("c", json!({"ack_policy": "explicit"})).await;
    let request = ApiRequest {
        via: RouterId(0),
        client: 1,
        subject: "$JS.API.STREAM.UPDATE.S".into(),
        reply: "answer".into(),
        headers: Default::default(),
        body: Default::default(),
    };
    let config = StreamConfig { retention: Retention::Interest, ..config(&["a"]) };
    world.stream.send(UpdateStream { config, request });
    world.settle().await;
    assert!(world.heard("c", |heard| heard.asked_for_state));
    assert_eq!(world.state().await["messages"], 4);
    // It has been given three, and the second is still out.
    let mut state = ConsumerState { delivered_stream: 3, delivered_consumer: 3, ..ConsumerState::default() };
    (state.floor_stream, state.floor_consumer) = (1, 1);
    state.pending.insert(2, PendingMessage { consumer: 2, timestamp: 0 });
    let consumer = world.heard("c", |heard| heard.id.0);
    let (deltas, settled) = Default::default();
    let save = Save { consumer, ticket: 1, deltas, state: Some(state), settled, settled_upto: 0, answer: true };
    world.stream.send(save);
    world.settle().await;
    let info = world.state().await;
    assert_eq!((&info["messages"], &info["first_seq"], &info["last_seq"]), (&2.into(), &2.into(), &4.into()));
}
