use super::world::{World, config};
use crate::jetstream::stream::StreamConfig;
use serde_json::json;

async fn ten(config: StreamConfig) -> World {
    let mut world = World::new(config);
    for n in 0..10 {
        world.publish(&format!("p.{}", n % 3), &[], &n.to_string()).await;
    }
    world
}

#[actix_rt::test]
async fn purges() {
    let cases = [
        ("", 10, 0, 11, 10),
        (r#"{"filter":">"}"#, 10, 0, 11, 10),
        (r#"{"seq":5}"#, 4, 6, 5, 10),
        (r#"{"seq":1}"#, 0, 10, 1, 10),
        (r#"{"seq":11}"#, 10, 0, 11, 10),
        (r#"{"seq":100}"#, 10, 0, 100, 99),
        (r#"{"keep":3}"#, 7, 3, 8, 10),
        (r#"{"keep":11}"#, 0, 10, 1, 10),
        (r#"{"filter":"p.0","keep":1}"#, 3, 7, 2, 10),
        (r#"{"filter":"p.0","seq":6}"#, 2, 8, 2, 10),
        (r#"{"filter":"p.*","keep":4}"#, 6, 4, 7, 10),
        (r#"{"filter":"none"}"#, 0, 10, 1, 10),
        ("not JSON", 10, 0, 11, 10),
    ];
    for (body, purged, messages, first, last) in cases {
        let mut world = ten(config(&["p.*"])).await;
        assert_eq!(world.call("STREAM.PURGE.S", body).await["purged"], purged, "{body}");
        let state = world.state().await;
        let got = (&state["messages"], &state["first_seq"], &state["last_seq"]);
        assert_eq!(got, (&messages.into(), &first.into(), &last.into()), "{body}");
        assert_eq!(world.publish("p.1", &[], "").await.json()["seq"], last + 1, "{body}");
    }
    let mut world = ten(StreamConfig { deny_purge: true, ..config(&["p.*"]) }).await;
    assert_eq!(world.call("STREAM.PURGE.S", r#"{"seq":3,"keep":2}"#).await["error"]["err_code"], 10003);
    assert_eq!(world.call("STREAM.PURGE.S", "").await["error"]["err_code"], 10110);
}

#[actix_rt::test]
async fn deletions() {
    let mut world = ten(config(&["p.*"])).await;
    let codes = [("", 10003), (r#"{"seq":0}"#, 10057), (r#"{"seq":11}"#, 10057), (r#"{"x":1}"#, 10025)];
    for (body, code) in codes {
        assert_eq!(world.call("STREAM.MSG.DELETE.S", body).await["error"]["err_code"], code, "{body}");
    }
    for seq in [1, 4, 10] {
        assert_eq!(world.call("STREAM.MSG.DELETE.S", &json!({"seq": seq}).to_string()).await["success"], true);
    }
    let again = world.call("STREAM.MSG.DELETE.S", r#"{"seq":4}"#).await;
    assert_eq!(again["error"]["description"], "sequence 4 not found");
    let state = world.state().await;
    assert_eq!(state["deleted"], json!([4, 10]));
    assert_eq!((&state["first_seq"], &state["last_seq"], &state["num_deleted"]), (&2.into(), &10.into(), &2.into()));
}

#[actix_rt::test]
async fn info_shows_subjects_by_page() {
    let mut world = ten(config(&["p.*"])).await;
    let info = world.call("STREAM.INFO.S", r#"{"subjects_filter":"p.>","offset":1}"#).await;
    assert_eq!((&info["total"], &info["offset"], &info["limit"]), (&3.into(), &1.into(), &100_000.into()));
    assert_eq!(info["state"]["subjects"], json!({"p.1": 3, "p.2": 3}));
    let info = world.call("STREAM.INFO.S", "").await;
    assert_eq!((&info["total"], &info["cluster"]["leader"]), (&0.into(), &"test".into()));
    assert_eq!(info["config"]["metadata"]["_nats.ver"], "2.15.1");
    assert_eq!(world.call("STREAM.INFO.S", r#"{"foo":1}"#).await["error"]["err_code"], 10025);
}

#[actix_rt::test]
async fn an_empty_stream_and_an_emptied_one() {
    let mut world = World::new(config(&["a"]));
    let state = world.state().await;
    assert_eq!(
        state,
        json!({"messages": 0, "bytes": 0, "first_seq": 0, "first_ts": "0001-01-01T00:00:00Z",
        "last_seq": 0, "last_ts": "0001-01-01T00:00:00Z", "consumer_count": 0})
    );
    let created = world.seen().answers[0].clone();
    assert_eq!(
        (&created["did_create"], &created["cluster"], &created["total"]),
        (&true.into(), &json!(null), &json!(null))
    );
    let mut world = World::new(StreamConfig { first_seq: 100, ..config(&["a"]) });
    let state = world.state().await;
    assert_eq!((&state["first_seq"], &state["last_seq"]), (&100.into(), &99.into()));
    assert_eq!(world.publish("a", &[], "").await.json()["seq"], 100);
}

#[actix_rt::test]
async fn messages_by_sequence_subject_and_time() {
    let mut world = ten(config(&["p.*"])).await;
    let mut get = async |body: serde_json::Value| {
        let answer = world.call("STREAM.MSG.GET.S", &body.to_string()).await;
        answer["message"]["seq"].as_u64().or(answer["error"]["err_code"].as_u64()).expect("one of both")
    };
    assert_eq!(get(json!({"seq": 4})).await, 4);
    assert_eq!(get(json!({"seq": 40})).await, 10037);
    assert_eq!(get(json!({"last_by_subj": "p.1"})).await, 8);
    assert_eq!(get(json!({"last_by_subj": "p.*"})).await, 10);
    assert_eq!(get(json!({"next_by_subj": "p.2"})).await, 3);
    assert_eq!(get(json!({"seq": 4, "next_by_subj": "*.2"})).await, 6);
    assert_eq!(get(json!({"start_time": "2001-01-01T00:00:00Z"})).await, 1);
    assert_eq!(get(json!({"start_time": "2199-01-01T00:00:00Z"})).await, 10037);
    for bad in [
        json!({}),
        json!({"seq": 0}),
        json!({"seq": 1, "last_by_subj": "p.1"}),
        json!({"seq": 1, "batch": 2}),
        json!({"last_by_subj": "p.1", "next_by_subj": "p.1"}),
    ] {
        assert_eq!(get(bad).await, 10003);
    }
}

#[actix_rt::test]
async fn direct_gets_of_one_and_of_many() {
    let mut world = ten(config(&["p.*"])).await;
    let mut get = async |subject: &str, body: serde_json::Value| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let replies = world.send(&[(&format!("$JS.API.DIRECT.GET.S{subject}"), &[], &body)]);
        world.settle().await;
        let shown = world.replies(&replies[0]).into_iter().map(|got| {
            let value = |name: &str| {
                let line =
                    got.headers.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")).map(str::to_string));
                line.unwrap_or_default()
            };
            match value("Nats-Sequence").is_empty() {
                true => format!("{} {}", got.headers.lines().next().unwrap_or_default(), value("Nats-Num-Pending"))
                    .trim()
                    .to_string(),
                false => format!("{}={} {}", value("Nats-Sequence"), got.payload, value("Nats-Num-Pending"))
                    .trim()
                    .to_string(),
            }
        });
        shown.collect::<Vec<_>>()
    };
    assert_eq!(get("", json!({"seq": 4})).await, ["4=3"]);
    assert_eq!(get(".p.1", json!(null)).await, ["8=7"]);
    assert_eq!(get(".p.*", json!({"no_hdr": true})).await.len(), 1);
    assert_eq!(get("", json!({"seq": 1, "batch": 2})).await, ["1=0 9", "2=1 8", "NATS/1.0 204 EOB 8"]);
    assert_eq!(get("", json!({"next_by_subj": "p.0", "batch": 9})).await.last().expect("end"), "NATS/1.0 204 EOB 0");
    assert_eq!(get("", json!({"seq": 9, "batch": 9})).await, ["9=8 1", "10=9 0", "NATS/1.0 204 EOB 0"]);
    assert_eq!(get("", json!({"seq": 1, "batch": -1})).await, ["NATS/1.0 204 EOB 10"]);
    assert_eq!(get("", json!({"seq": 11, "batch": 1})).await, ["NATS/1.0 404 Message Not Found"]);
    assert_eq!(get("", json!({"multi_last": ["p.>"]})).await, ["8=7 2", "9=8 1", "10=9 0", "NATS/1.0 204 EOB 0"]);
    assert_eq!(
        get("", json!({"multi_last": ["p.0", "p.1"], "up_to_seq": 6})).await,
        ["4=3 1", "5=4 0", "NATS/1.0 204 EOB 0"]
    );
    assert_eq!(get("", json!({"multi_last": ["q"]})).await, ["NATS/1.0 404 No Results"]);
    for (body, status) in [
        (json!(null), "408 Empty Request"),
        (json!({"batch": 3}), "408 Empty Request"),
        (json!([1]), "408 Malformed Request"),
        (json!({"seq": 1, "last_by_subj": "p.1"}), "408 Bad Request"),
    ] {
        assert_eq!(get("", body).await, [format!("NATS/1.0 {status}")]);
    }
    assert_eq!(get(".p.1", json!({"seq": 1})).await, ["NATS/1.0 408 Bad Request"]);
}

#[actix_rt::test]
async fn a_long_direct_get_comes_in_slices() {
    let mut world = World::new(config(&["a"]));
    for _ in 0..700 {
        world.send(&[("a", &[], "")]);
    }
    world.settle().await;
    world.disk.lock().expect("free").cold.extend(100..400);
    let replies = world.send(&[("$JS.API.DIRECT.GET.S", &[], r#"{"seq":1,"batch":650}"#)]);
    world.settle().await;
    let got = world.replies(&replies[0]);
    assert_eq!(got.len(), 651);
    assert!(
        got[649].headers.contains("Nats-Sequence: 650\r\n") && got[649].headers.contains("Nats-Num-Pending: 50\r\n")
    );
}

#[actix_rt::test]
async fn updates_act_at_once() {
    let mut world = ten(config(&["p.*"])).await;
    let change = async |world: &mut World, config: StreamConfig| {
        let before = world.seen().answers.len();
        let request = crate::jetstream::messages::ApiRequest {
            via: crate::router::messages::RouterId(0),
            client: 1,
            subject: "$JS.API.STREAM.UPDATE.S".into(),
            reply: "answer".into(),
            headers: Default::default(),
            body: Default::default(),
        };
        world.stream.send(crate::jetstream::messages::UpdateStream { config, request });
        world.settle().await;
        world.seen().answers.get(before).cloned()
    };
    let answer = change(&mut world, StreamConfig { max_msgs: 4, ..config(&["q.*"]) }).await.expect("answered");
    assert_eq!((&answer["state"]["messages"], &answer["config"]["max_msgs"]), (&4.into(), &4.into()));
    let listening: Vec<String> = world.seen().listening.values().cloned().collect();
    assert!(listening.contains(&"q.*".to_string()) && !listening.contains(&"p.*".to_string()));
    let answer =
        change(&mut world, StreamConfig { max_msgs_per_subject: 1, allow_direct: false, ..config(&["q.*"]) }).await;
    assert_eq!(answer.expect("answered")["state"]["messages"], 3);
    assert_eq!(world.seen().listening.len(), 1);
    world.consumer("c", json!({"ack_policy": "explicit", "max_ack_pending": 100})).await;
    let mut limited = config(&["q.*"]);
    limited.consumer_limits.max_ack_pending = 10;
    assert!(change(&mut world, limited).await.is_none());
    assert_eq!(world.seen().refused, [(10069, "change to limits violates consumers: c".to_string())]);
}

#[actix_rt::test]
async fn age_takes_the_oldest_and_the_newest_in_turn() {
    let mut world = World::new(StreamConfig { max_age: 100_000_000, ..config(&["a"]) });
    world.publish("a", &[], "").await;
    world.advance_clock(60_000_000);
    world.publish("a", &[], "").await;
    world.advance_clock(60_000_000);
    world.stream.send(crate::actor::Alarm(1));
    world.settle().await;
    let state = world.state().await;
    assert_eq!((&state["messages"], &state["first_seq"]), (&1.into(), &2.into()));
}

#[actix_rt::test]
async fn deleting_ends_consumers_and_stream() {
    let mut world = ten(config(&["p.*"])).await;
    world.consumer("c", json!({"ack_policy": "explicit"})).await;
    assert_eq!(world.call("STREAM.DELETE.S", "x").await["error"]["err_code"], 10038);
    assert_eq!(world.call("STREAM.DELETE.S", "").await["success"], true);
    assert!(world.heard("c", |heard| heard.ended));
    let seen = world.seen();
    assert!(seen.ended && seen.dismissed);
    assert!(seen.published.iter().any(|got| got.subject == "$JS.EVENT.ADVISORY.STREAM.DELETED.S"));
}

#[actix_rt::test]
async fn a_shorter_age_is_watched_from_the_update_on() {
    let mut world = World::new(StreamConfig { max_age: 3_600_000_000_000, ..config(&["a"]) });
    world.publish("a", &[], "").await;
    let update = StreamConfig { max_age: 100_000_000, ..config(&["a"]) };
    let request = crate::jetstream::messages::ApiRequest {
        via: crate::router::messages::RouterId(0),
        client: 1,
        subject: "$JS.API.STREAM.UPDATE.S".into(),
        reply: "answer".into(),
        headers: Default::default(),
        body: Default::default(),
    };
    world.stream.send(crate::jetstream::messages::UpdateStream { config: update, request });
    world.settle().await;
    world.advance_clock(200_000_000);
    // The alarm is a real one: it comes when the wheel has turned.
    for _ in 0..2000 {
        if world.state().await["messages"] == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("the message is still there");
}
