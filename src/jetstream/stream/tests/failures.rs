use super::world::{World, config};
use crate::store::Damaged;
use serde_json::json;

#[actix_rt::test]
async fn a_failed_commit_leaves_what_was_durable() {
    let mut world = World::waiting(crate::jetstream::stream::StreamConfig { max_msgs: 2, ..config(&["a.*"]) });
    let first = world.send(&[("a.1", &[("Nats-Msg-Id", "1")], ""), ("a.2", &[], "")]);
    world.commit().await;
    assert_eq!(world.reply(&first[1]).expect("acked").json()["seq"], 2);
    let lost = world.send(&[("a.3", &[("Nats-Msg-Id", "3")], ""), ("a.4", &[("Nats-Expected-Stream", "T")], "")]);
    world.settle().await;
    let later = world.send(&[("a.5", &[], "")]);
    world.fail().await;
    world.commit().await;
    for reply in [&lost[0], &later[0]] {
        let error = world.reply(reply).expect("answered").json()["error"].clone();
        assert_eq!(error, json!({"code": 503, "err_code": 10077, "description": "no space left on device"}));
    }
    assert_eq!(world.reply(&lost[1]).expect("answered").err_code(), Some(10060));
    assert_eq!(world.disk.lock().expect("free").rolled_back, [3]);
    world.ask("STREAM.INFO.S", r#"{"deleted_details":true}"#);
    world.commit().await;
    let state = world.seen().answers.last().expect("answered")["state"].clone();
    assert_eq!((&state["messages"], &state["first_seq"], &state["last_seq"]), (&2.into(), &1.into(), &2.into()));
    // Service resumes by itself; the lost message's id is free, the first one's is not.
    let again = world.send(&[("a.3", &[("Nats-Msg-Id", "3")], ""), ("a.1", &[("Nats-Msg-Id", "1")], "")]);
    world.commit().await;
    assert_eq!(world.reply(&again[0]).expect("acked").json()["seq"], 3);
    assert_eq!(world.reply(&again[1]).expect("acked").json()["duplicate"], true);
}

#[actix_rt::test]
async fn a_stream_that_cannot_be_created_is_told_and_ends() {
    let world = World::waiting(config(&["a"]));
    world.fail().await;
    let seen = world.seen();
    assert_eq!(seen.answers[0]["error"]["err_code"], 10049);
    assert!(seen.ended && seen.dismissed);
}

#[actix_rt::test]
async fn what_saw_a_failed_state_is_answered_anew() {
    let mut world = World::waiting(config(&["a"]));
    world.commit().await;
    world.send(&[("a", &[], "x")]);
    world.settle().await;
    let get = world.send(&[("$JS.API.DIRECT.GET.S.a", &[], "")]);
    world.fail().await;
    world.commit().await;
    let got = world.replies(&get[0]);
    assert_eq!(got.len(), 1);
    assert!(got[0].headers.starts_with("NATS/1.0 404 Message Not Found"));
}

#[actix_rt::test]
async fn a_purge_that_fails_has_purged_nothing() {
    let mut world = World::waiting(config(&["a"]));
    world.send(&[("a", &[], ""), ("a", &[], "")]);
    world.commit().await;
    world.ask("STREAM.PURGE.S", "");
    world.fail().await;
    world.commit().await;
    assert_eq!(world.seen().answers.last().expect("answered")["error"]["err_code"], 10051);
    world.ask("STREAM.INFO.S", "");
    world.commit().await;
    assert_eq!(world.seen().answers.last().expect("answered")["state"]["messages"], 2);
}

#[actix_rt::test]
async fn a_failed_save_is_told_and_its_removals_come_later() {
    let queue = crate::jetstream::stream::StreamConfig {
        retention: crate::jetstream::stream::config::Retention::WorkQueue,
        ..config(&["a"])
    };
    let mut world = World::waiting(queue);
    world.send(&[("a", &[], ""), ("a", &[], "")]);
    world.consumer("c", json!({"ack_policy": "explicit"})).await;
    world.commit().await;
    let id = world.heard("c", |heard| heard.id.0);
    super::consumers::settle(&world, id, 7, vec![1]);
    world.fail().await;
    assert_eq!(world.heard("c", |heard| heard.saved.clone()), [(0, true), (7, false)]);
    // The next commit takes the removal with it.
    world.send(&[("a", &[], "")]);
    world.commit().await;
    world.ask("STREAM.INFO.S", "");
    world.commit().await;
    let state = world.seen().answers.last().expect("answered")["state"].clone();
    assert_eq!((&state["first_seq"], &state["last_seq"]), (&2.into(), &3.into()));
}

#[actix_rt::test]
async fn damaged_messages_are_counted_and_never_served() {
    let mut world = World::new(config(&["a"]));
    for n in 0..3 {
        world.publish("a", &[], &n.to_string()).await;
    }
    {
        let mut disk = world.disk.lock().expect("free");
        disk.cold.extend([1, 2]);
        disk.damaged.insert(2);
    }
    assert_eq!(world.call("STREAM.MSG.GET.S", r#"{"seq":1}"#).await["message"]["data"], "MA==");
    assert_eq!(world.call("STREAM.MSG.GET.S", r#"{"seq":2}"#).await["error"]["err_code"], 10037);
    let state = world.state().await;
    assert_eq!(state["lost"]["msgs"], json!([2]));
    assert_eq!((&state["messages"], &state["num_deleted"], &state["deleted"]), (&2.into(), &1.into(), &json!([2])));
}

#[actix_rt::test]
async fn damage_told_after_a_read_has_found_it_is_not_counted_again() {
    let mut world = World::new(config(&["a"]));
    for n in 0..3 {
        world.publish("a", &[], &n.to_string()).await;
    }
    let port = {
        let mut disk = world.disk.lock().expect("free");
        disk.cold.insert(2);
        disk.damaged.insert(2);
        disk.port.clone().expect("the store has been opened")
    };
    assert_eq!(world.call("STREAM.MSG.GET.S", r#"{"seq":2}"#).await["error"]["err_code"], 10037);
    let one = world.state().await["lost"]["bytes"].as_u64().expect("a number");
    for _ in 0..2 {
        port.damaged.send(Damaged { ranges: vec![2..=3], bytes: 1000 });
        let state = world.state().await;
        assert_eq!(state["lost"], json!({"msgs": [2, 3], "bytes": 2 * one}));
    }
}
