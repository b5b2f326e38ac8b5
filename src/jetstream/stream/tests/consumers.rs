use super::world::{World, config};
use crate::jetstream::messages::{Count, Read, ReadThese, Save};
use crate::jetstream::stream::StreamConfig;
use crate::jetstream::stream::config::Retention;
use crate::store::ConsumerId;
use serde_json::json;

pub fn settle(world: &World, consumer: ConsumerId, ticket: u64, settled: Vec<u64>) {
    world.stream.send(Save {
        consumer,
        ticket,
        deltas: settled.iter().map(|seq| crate::store::ConsumerDelta::Settled { stream: *seq }).collect(),
        state: None,
        settled,
        settled_upto: 0,
        answer: true,
    });
}

fn read(world: &World, consumer: ConsumerId, from: u64) {
    world.stream.send(Read { consumer, ticket: 1, from, max_messages: 100, max_bytes: 1 << 20 });
}

#[actix_rt::test]
async fn consumers_hear_of_what_matches_and_read_it() {
    let mut world = World::new(config(&["a.*"]));
    world.publish("a.1", &[], "").await;
    world.consumer("all", json!({"ack_policy": "explicit"})).await;
    world.consumer("one", json!({"ack_policy": "explicit", "filter_subject": "a.1"})).await;
    assert_eq!(world.heard("one", |heard| heard.start.as_ref().map(|start| (start.next, start.pending))), Some((1, 1)));
    for subject in ["a.2", "a.1", "a.3"] {
        world.publish(subject, &[], "").await;
    }
    assert_eq!(world.heard("all", |heard| (heard.matching, heard.last)), (3, 4));
    assert_eq!(world.heard("one", |heard| (heard.matching, heard.last)), (1, 3));
    let (all, one) = (world.heard("all", |heard| heard.id.0), world.heard("one", |heard| heard.id.0));
    read(&world, all, 2);
    read(&world, one, 1);
    world.settle().await;
    assert_eq!(world.heard("all", |heard| heard.records.clone()), [(vec![2, 3, 4], 5)]);
    assert_eq!(world.heard("one", |heard| heard.records.clone()), [(vec![1, 3], 5)]);
    world.disk.lock().expect("free").cold.extend([1, 3]);
    world.stream.send(ReadThese { consumer: all, ticket: 2, seqs: vec![3, 2, 9, 1] });
    world.settle().await;
    assert_eq!(world.heard("all", |heard| heard.records[1].0.clone()), [3, 2, 1]);
    world.call("STREAM.MSG.DELETE.S", r#"{"seq":3}"#).await;
    assert_eq!(world.heard("one", |heard| heard.removed.clone()), [3]);
    world.call("STREAM.PURGE.S", "").await;
    assert_eq!(world.heard("one", |heard| heard.purged.clone()), [(5, 4, 5)]);
}

#[actix_rt::test]
async fn nothing_is_read_or_counted_before_it_is_durable() {
    let mut world = World::waiting(StreamConfig { max_msgs: 2, ..config(&["a"]) });
    world.send(&[("a", &[], ""), ("a", &[], "")]);
    world.commit().await;
    world.send(&[("a", &[], "")]);
    world.settle().await;
    // One message is not durable, and neither is the removal it caused.
    world.consumer("c", json!({"ack_policy": "explicit", "filter_subject": "a"})).await;
    let start = world.heard("c", |heard| heard.start.clone()).expect("launched");
    assert_eq!((start.pending + u64::from(start.next == 2), start.upto), (2, 2));
    let id = world.heard("c", |heard| heard.id.0);
    world.stream.send(Count { consumer: id, ticket: 1, from: 1 });
    read(&world, id, 2);
    world.settle().await;
    assert_eq!(world.heard("c", |heard| heard.counted.clone()), [(2, 2)]);
    assert_eq!(world.heard("c", |heard| heard.records.clone()), [(vec![2], 3)]);
    assert_eq!(world.heard("c", |heard| (heard.matching, heard.saved.len())), (0, 0));
    world.commit().await;
    // Now the count is kept right: one more, and one less.
    assert_eq!(world.heard("c", |heard| (heard.matching, heard.removed.clone(), heard.saved.len())), (1, vec![1], 1));
    world.stream.send(Count { consumer: id, ticket: 2, from: 1 });
    world.settle().await;
    assert_eq!(world.heard("c", |heard| heard.counted[1]), (2, 3));
}

#[actix_rt::test]
async fn acks_empty_a_work_queue() {
    let mut world = World::new(StreamConfig { retention: Retention::WorkQueue, ..config(&["a.*"]) });
    for subject in ["a.1", "a.2", "a.1"] {
        world.publish(subject, &[], "").await;
    }
    world.consumer("c", json!({"ack_policy": "explicit", "filter_subject": "a.1"})).await;
    let id = world.heard("c", |heard| heard.id.0);
    settle(&world, id, 1, vec![1]);
    settle(&world, id, 2, vec![3]);
    world.settle().await;
    assert_eq!(
        world.heard("c", |heard| (heard.saved.clone(), heard.removed.len())),
        (vec![(0, true), (1, true), (2, true)], 0)
    );
    let state = world.state().await;
    assert_eq!((&state["messages"], &state["first_seq"]), (&1.into(), &2.into()));
    for (filter, code) in [(json!("a.*"), 10100), (json!(""), 10099)] {
        let body = json!({"stream_name": "S", "config": {"durable_name": "d", "ack_policy": "explicit", "filter_subject": filter}});
        let answer = world.call("CONSUMER.CREATE.S.d", &body.to_string()).await;
        // The subject form needs no filter in the subject.
        assert_eq!(answer["error"]["err_code"], code);
    }
}

#[actix_rt::test]
async fn messages_of_interest_go_when_all_are_done() {
    let mut world = World::new(StreamConfig { retention: Retention::Interest, ..config(&["a.*"]) });
    world.consumer("x", json!({"ack_policy": "explicit"})).await;
    world.consumer("y", json!({"ack_policy": "explicit", "filter_subject": "a.1"})).await;
    for subject in ["a.1", "a.2", "a.1"] {
        world.publish(subject, &[], "").await;
    }
    let (x, y) = (world.heard("x", |heard| heard.id.0), world.heard("y", |heard| heard.id.0));
    settle(&world, x, 1, vec![1, 2]);
    world.settle().await;
    assert_eq!(world.state().await["messages"], 2);
    settle(&world, y, 1, vec![3, 1]);
    world.settle().await;
    assert_eq!(world.state().await["first_seq"], 3);
    // Its filter held nothing that x does not want too.
    world.call("CONSUMER.DELETE.S.y", "").await;
    assert_eq!(world.state().await["messages"], 1);
    world.call("CONSUMER.DELETE.S.x", "").await;
    let state = world.state().await;
    assert_eq!((&state["messages"], &state["first_seq"], &state["consumer_count"]), (&0.into(), &4.into(), &0.into()));
}

#[actix_rt::test]
async fn lists_of_consumers() {
    let mut world = World::new(config(&["a"]));
    for name in ["b", "a", "c"] {
        world.consumer(name, json!({"ack_policy": "explicit"})).await;
    }
    let names = world.call("CONSUMER.NAMES.S", r#"{"offset":1}"#).await;
    assert_eq!((&names["consumers"], &names["total"], &names["limit"]), (&json!(["b", "c"]), &3.into(), &1024.into()));
    let list = world.call("CONSUMER.LIST.S", "").await;
    assert_eq!(list["consumers"], json!([{"name": "a"}, {"name": "b"}, {"name": "c"}]));
    let none = world.call("CONSUMER.INFO.S.nobody", "").await;
    assert_eq!(none["error"]["err_code"], 10014);
    world.consumer("a", json!({"ack_policy": "explicit", "description": "new"})).await;
    assert_eq!(world.heard("a", |heard| heard.updates), 1);
    assert_eq!(world.seen().consumers.len(), 3);
}

#[actix_rt::test]
async fn starting_positions() {
    let mut world = World::new(config(&["a.*"]));
    for n in 0..6 {
        world.publish(&format!("a.{}", n % 3), &[], "").await;
    }
    world.call("STREAM.MSG.DELETE.S", r#"{"seq":1}"#).await;
    let cases = [
        ("all", json!({}), 2, 5),
        ("new", json!({"deliver_policy": "new"}), 7, 0),
        ("last", json!({"deliver_policy": "last"}), 6, 1),
        ("lastf", json!({"deliver_policy": "last", "filter_subject": "a.0"}), 4, 1),
        ("from", json!({"deliver_policy": "by_start_sequence", "opt_start_seq": 4}), 4, 3),
        ("below", json!({"deliver_policy": "by_start_sequence", "opt_start_seq": 1}), 2, 5),
        ("each", json!({"deliver_policy": "last_per_subject", "filter_subject": "a.>"}), 4, 3),
        ("time", json!({"deliver_policy": "by_start_time", "opt_start_time": "2001-01-01T00:00:00Z"}), 2, 5),
        ("future", json!({"deliver_policy": "by_start_time", "opt_start_time": "2199-01-01T00:00:00Z"}), 7, 0),
    ];
    for (name, mut config, next, pending) in cases {
        config["ack_policy"] = "explicit".into();
        world.consumer(name, config).await;
        let start = world.heard(name, |heard| heard.start.clone()).expect("launched");
        assert_eq!((start.next, start.pending), (next, pending), "{name}");
    }
    assert_eq!(
        world.heard("each", |heard| heard.start.clone()).expect("launched").last_per_subject,
        Some(vec![4, 5, 6])
    );
}

#[actix_rt::test]
async fn many_subjects_are_read_one_by_one() {
    let mut world = World::new(config(&["a.>"]));
    world.consumer("c", json!({"ack_policy": "explicit", "filter_subject": "a.*.x"})).await;
    let id = world.heard("c", |heard| heard.id.0);
    for n in 0..150 {
        let (wanted, other) = (format!("a.{n}.x"), format!("a.{n}.y"));
        world.send(&[(&wanted, &[], ""), (&other, &[], "")]);
        if n == 3 {
            world.settle().await;
            read(&world, id, 1);
        }
    }
    world.settle().await;
    read(&world, id, 1);
    world.settle().await;
    let records = world.heard("c", |heard| heard.records.clone());
    assert_eq!(records[0].0[..4], [1, 3, 5, 7]);
    assert_eq!((records[1].0.len(), records[1].0[99], records[1].1), (100, 199, 201));
}
