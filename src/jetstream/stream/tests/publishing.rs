use super::world::{World, config};
use crate::jetstream::stream::config::{Discard, Retention, Storage};

#[actix_rt::test]
async fn acks_are_numbered_and_in_order() {
    let mut world = World::new(config(&["a.*"]));
    let replies = world.send(&[("a.1", &[], "x"), ("a.2", &[], "y"), ("a.1", &[], "z")]);
    world.settle().await;
    let order: Vec<String> = world.seen().published.iter().map(|got| got.subject.clone()).collect();
    assert_eq!(
        order.iter().filter(|to| to.starts_with("reply")).collect::<Vec<_>>(),
        replies.iter().collect::<Vec<_>>()
    );
    assert_eq!(world.reply(&replies[2]).expect("acked").payload, r#"{"stream":"S","seq":3}"#);
    let state = world.state().await;
    assert_eq!((&state["messages"], &state["bytes"], &state["num_subjects"]), (&3.into(), &102.into(), &2.into()));
    assert!(world.seen().released > 0);
}

#[actix_rt::test]
async fn nothing_is_acked_before_it_is_durable() {
    let mut world = World::waiting(config(&["a"]));
    world.commit().await;
    let replies = world.send(&[("a", &[], "x")]);
    world.settle().await;
    let get = world.send(&[("$JS.API.DIRECT.GET.S", &[], r#"{"seq":1}"#)]);
    world.settle().await;
    assert_eq!((world.reply(&replies[0]), world.reply(&get[0])), (None, None));
    assert_eq!(world.seen().released, 0);
    world.commit().await;
    assert!(world.reply(&replies[0]).is_some());
    assert_eq!(world.reply(&get[0]).expect("got").payload, "x");
}

#[actix_rt::test]
async fn duplicates_get_the_first_sequence() {
    let mut world = World::new(config(&["a"]));
    let id = [("Nats-Msg-Id", "1")];
    world.publish("a", &id, "x").await;
    assert_eq!(world.publish("a", &id, "y").await.payload, r#"{"stream":"S","seq":1,"duplicate": true}"#);
    world.advance_clock(121_000_000_000);
    assert_eq!(world.publish("a", &id, "y").await.payload, r#"{"stream":"S","seq":2}"#);
    assert_eq!(world.publish("a", &[("Nats-Expected-Last-Msg-Id", "1")], "").await.json()["seq"], 3);
    let wrong = world.publish("a", &[("Nats-Expected-Last-Msg-Id", "1")], "").await;
    assert_eq!(wrong.json()["error"]["description"], "wrong last msg ID: ");
}

#[actix_rt::test]
async fn expectations_are_checked_against_the_newest_state() {
    let mut world = World::new(config(&["a.*"]));
    let last = |seq: &'static str| [("Nats-Expected-Last-Sequence", seq)];
    let on_subject = |seq: &'static str| [("Nats-Expected-Last-Subject-Sequence", seq)];
    world.publish("a.1", &last("0"), "").await;
    let wrong = world.publish("a.1", &last("0"), "").await;
    assert_eq!(
        wrong.payload,
        r#"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 1"},"stream":"S","seq":0}"#
    );
    assert_eq!(world.publish("a.2", &on_subject("0"), "").await.json()["seq"], 2);
    assert_eq!(world.publish("a.2", &on_subject("0"), "").await.err_code(), Some(10071));
    assert_eq!(world.publish("a.2", &on_subject("junk"), "").await.err_code(), Some(10071));
    let any = [("Nats-Expected-Last-Subject-Sequence", "2"), ("Nats-Expected-Last-Subject-Sequence-Subject", "a.*")];
    assert_eq!(world.publish("a.1", &any, "").await.json()["seq"], 3);
    assert_eq!(world.publish("a.1", &any[1..], "").await.err_code(), Some(10193));
    assert_eq!(world.publish("a.1", &[("Nats-Expected-Stream", "T")], "").await.err_code(), Some(10060));
    assert_eq!(world.publish("a.1", &last(""), "").await.json()["seq"], 4);
}

#[actix_rt::test]
async fn the_first_check_that_fails_is_told() {
    let mut world = World::new(config(&["a"]));
    world.publish("a", &[("Nats-Msg-Id", "known")], "").await;
    let all: [(&str, &str); 9] = [
        ("Nats-Incr", "1"),
        ("Nats-Expected-Stream", "B"),
        ("Nats-TTL", "1"),
        ("Nats-Expected-Last-Subject-Sequence", "9"),
        ("Nats-Expected-Last-Sequence", "8"),
        ("Nats-Stream-Source", "X 1"),
        ("Nats-Msg-Id", "known"),
        ("Nats-Expected-Last-Msg-Id", "zzz"),
        ("Nats-Rollup", "sub"),
    ];
    let codes = [10168, 10060, 10166, 10071, 10071, 10227, 0, 10070, 10111];
    for (at, code) in codes.into_iter().enumerate() {
        let from = if at == 7 { &all[7..] } else { &all[at..] };
        let got = world.publish("a", from, "").await;
        match code {
            0 => assert_eq!(got.json()["duplicate"], true),
            code => assert_eq!(got.err_code(), Some(code), "{from:?}"),
        }
    }
    assert_eq!(world.publish("a", &[("Nats-TTL", "abc")], "").await.err_code(), Some(10165));
    assert_eq!(world.publish("a", &[("Nats-Incr", "x")], "").await.err_code(), Some(10171));
    assert_eq!(world.publish("a", &[("Nats-Schedule", "@at 2001-01-01T00:00:00Z")], "").await.err_code(), Some(10188));
    // A batch is not taken apart.
    let batch = [("Nats-Batch-Id", "b"), ("Nats-Batch-Sequence", "1"), ("Nats-Batch-Commit", "1")];
    assert_eq!(world.publish("a", &batch, "").await.err_code(), Some(10174));
    assert_eq!(world.publish("a", &[("Long", &"x".repeat(65_536))], "").await.err_code(), Some(10097));
    assert_eq!(world.state().await["messages"], 1);
}

#[actix_rt::test]
async fn headers_are_stored_as_they_came_less_what_is_not_theirs() {
    let mut world = World::new(config(&["a"]));
    world.publish("a", &[("Nats-Request-Info", "{}"), ("Other", "stays")], "").await;
    let got = world.call("STREAM.MSG.GET.S", r#"{"seq":1}"#).await;
    assert_eq!(got["message"]["hdrs"], "TkFUUy8xLjANCk90aGVyOiBzdGF5cw0KDQo=");
    world.publish("a", &[("nats-msg-id", "1")], "").await;
    assert_eq!(world.publish("a", &[("nats-msg-id", "1")], "").await.json()["seq"], 3);
}

#[actix_rt::test]
async fn old_messages_make_room() {
    let mut world =
        World::new(crate::jetstream::stream::StreamConfig { max_msgs: 3, max_msgs_per_subject: 2, ..config(&["a.*"]) });
    for _ in 0..3 {
        world.publish("a.1", &[], "").await;
    }
    let state = world.state().await;
    assert_eq!((&state["first_seq"], &state["messages"]), (&2.into(), &2.into()));
    for subject in ["a.2", "a.3"] {
        world.publish(subject, &[], "").await;
    }
    let state = world.state().await;
    assert_eq!((&state["first_seq"], &state["last_seq"], &state["messages"]), (&3.into(), &5.into(), &3.into()));
    let mut world = World::new(crate::jetstream::stream::StreamConfig { max_bytes: 100, ..config(&["a"]) });
    world.publish("a", &[], "small").await;
    assert_eq!(world.publish("a", &[], &"x".repeat(200)).await.json()["seq"], 2);
    let state = world.state().await;
    assert_eq!((&state["messages"], &state["first_seq"], &state["last_seq"]), (&0.into(), &3.into(), &2.into()));
}

#[actix_rt::test]
async fn new_messages_are_refused_when_that_is_wanted() {
    let new = crate::jetstream::stream::StreamConfig { discard: Discard::New, max_msgs: 2, ..config(&["a.*"]) };
    let mut world = World::new(crate::jetstream::stream::StreamConfig { max_msgs_per_subject: 1, ..new.clone() });
    world.publish("a.1", &[], "").await;
    world.publish("a.2", &[], "").await;
    assert_eq!(world.publish("a.3", &[], "").await.json()["error"]["description"], "maximum messages exceeded");
    assert_eq!(world.publish("a.1", &[], "").await.json()["seq"], 3);
    let per_subject =
        crate::jetstream::stream::StreamConfig { max_msgs_per_subject: 1, discard_new_per_subject: true, ..new };
    let mut world = World::new(per_subject);
    world.publish("a.1", &[], "").await;
    let refused = world.publish("a.1", &[], "").await;
    assert_eq!(refused.json()["error"]["description"], "maximum messages per subject exceeded");
    let bytes = crate::jetstream::stream::StreamConfig { discard: Discard::New, max_bytes: 70, ..config(&["a"]) };
    let mut world = World::new(bytes);
    world.publish("a", &[], "1234").await;
    world.publish("a", &[], "1234").await;
    assert_eq!(world.publish("a", &[], "").await.json()["error"]["description"], "maximum bytes exceeded");
}

#[actix_rt::test]
async fn a_rollup_takes_the_place_of_what_was_before() {
    let rollups = crate::jetstream::stream::StreamConfig { allow_rollup_hdrs: true, ..config(&["a.*"]) };
    let mut world = World::new(rollups);
    for subject in ["a.1", "a.2", "a.1"] {
        world.publish(subject, &[], "").await;
    }
    world.publish("a.1", &[("Nats-Rollup", "SUB")], "").await;
    let state = world.state().await;
    assert_eq!(
        (&state["messages"], &state["first_seq"], &state["deleted"]),
        (&2.into(), &2.into(), &serde_json::json!([3]))
    );
    world.publish("a.3", &[("Nats-Rollup", "all")], "").await;
    assert_eq!(world.state().await["messages"], 1);
    let wrong = world.publish("a.3", &[("Nats-Rollup", "Foo")], "").await;
    assert_eq!(wrong.json()["error"]["description"], r#"rollup value invalid: "foo""#);
    // So many go in one step.
    for _ in 0..1500 {
        world.send(&[("a.4", &[], "")]);
    }
    world.publish("a.5", &[("Nats-Rollup", "all")], "").await;
    let state = world.state().await;
    assert_eq!((&state["messages"], &state["first_seq"], &state["last_seq"]), (&1.into(), &1506.into(), &1506.into()));
}

#[actix_rt::test]
async fn with_interest_retention_nobodys_messages_use_up_a_sequence() {
    let interest = crate::jetstream::stream::StreamConfig { retention: Retention::Interest, ..config(&["a.*"]) };
    let mut world = World::new(interest);
    assert_eq!(world.publish("a.1", &[("Nats-Msg-Id", "1")], "").await.json()["seq"], 1);
    assert_eq!(world.publish("a.1", &[("Nats-Msg-Id", "1")], "").await.json()["duplicate"], true);
    let state = world.state().await;
    assert_eq!((&state["messages"], &state["first_seq"], &state["last_seq"]), (&0.into(), &2.into(), &1.into()));
    world.consumer("c", serde_json::json!({"ack_policy": "explicit", "filter_subject": "a.1"})).await;
    world.publish("a.1", &[], "").await;
    world.publish("a.2", &[], "").await;
    assert_eq!(world.state().await["messages"], 1);
}

#[actix_rt::test]
async fn bytes_are_counted_as_the_reference_counts() {
    for (storage, expected) in [(Storage::File, 53 + 78), (Storage::Memory, 39 + 60)] {
        let mut world = World::new(crate::jetstream::stream::StreamConfig { storage, ..config(&["ORDERS.*"]) });
        world.publish("ORDERS.processed", &[], "order 1").await;
        world.publish("ORDERS.new", &[("Nats-Msg-Id", "1")], "hello1").await;
        assert_eq!(world.state().await["bytes"], expected);
    }
}

#[actix_rt::test]
async fn sealed_streams_and_silent_ones() {
    let mut world = World::new(crate::jetstream::stream::StreamConfig { sealed: true, ..config(&["a"]) });
    assert_eq!(world.publish("a", &[], "").await.err_code(), Some(10109));
    let mut world = World::new(crate::jetstream::stream::StreamConfig { no_ack: true, ..config(&["a"]) });
    let replies = world.send(&[("a", &[], ""), ("a", &[("Nats-Expected-Stream", "B")], "")]);
    world.settle().await;
    assert_eq!(replies.iter().filter_map(|reply| world.reply(reply)).count(), 0);
    assert_eq!(world.state().await["messages"], 1);
}

#[actix_rt::test]
async fn what_waits_for_the_disk_is_bounded() {
    let mut world = World::waiting(config(&["a"]));
    world.commit().await;
    let many = vec![("a", &[] as &[(&str, &str)], ""); 10_001];
    let replies = world.send(&many);
    world.commit().await;
    let last = world.reply(&replies[10_000]).expect("answered");
    assert_eq!((last.err_code(), last.headers.as_str()), (Some(10167), "NATS/1.0 429 Too Many Requests\r\n\r\n"));
    assert_eq!(world.reply(&replies[9_999]).expect("answered").json()["seq"], 10_000);
    let replies = world.send(&[("a", &[], "")]);
    world.commit().await;
    assert_eq!(world.reply(&replies[0]).expect("answered").json()["seq"], 10_001);
}
