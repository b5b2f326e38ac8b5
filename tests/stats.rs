//! Actor metrics on the stats subject, as an operator sees them.

mod support;

use futures_util::StreamExt;
use serde_json::Value;
use support::{PATIENCE, TestBroker};
use tokio::time::timeout;

fn json(payload: &[u8]) -> Value {
    serde_json::from_slice(payload).expect("JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_shows_every_actor() {
    let broker = TestBroker::start();
    let client = broker.client().await;
    let answer = client.request("$SYS.REQ.ACTORS", "".into()).await.unwrap();
    let answer = json(&answer.payload);
    assert_eq!(answer["v"], 1);
    let actors = answer["actors"].as_array().unwrap();
    let kinds: Vec<&str> = actors.iter().map(|a| a["kind"].as_str().unwrap()).collect();
    for kind in ["router", "connection", "jetstream", "committer", "timers", "stats", "listener"] {
        assert!(kinds.contains(&kind), "{kind} is missing in {kinds:?}");
    }
    let router = actors.iter().find(|a| a["kind"] == "router").unwrap();
    assert!(router["handled"].as_u64().unwrap() > 0 && router["max_ns"].as_u64().unwrap() > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_and_consumers_report_on_their_own_subjects() {
    let broker = TestBroker::start();
    let client = broker.client().await;
    let context = async_nats::jetstream::new(client.clone());
    let config = async_nats::jetstream::stream::Config { name: "S".into(), ..Default::default() };
    context.create_stream(config).await.unwrap();
    context.publish("S", "x".into()).await.unwrap().await.unwrap();
    let mut reports = client.subscribe("postroom.stats.stream.>").await.unwrap();
    let report = timeout(PATIENCE, reports.next()).await.unwrap().unwrap();
    let report = json(&report.payload);
    assert_eq!((&report["kind"], &report["v"]), (&Value::from("stream"), &Value::from(1)));
    assert_eq!(report["state"]["messages"], 1);
    let mut summary = client.subscribe("postroom.stats.SUMMARY").await.unwrap();
    let summary = timeout(PATIENCE, summary.next()).await.unwrap().unwrap();
    assert_eq!(json(&summary.payload)["kinds"]["stream"]["actors"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_request_is_told() {
    let broker = TestBroker::start();
    let client = broker.client().await;
    let answer = client.request("$SYS.REQ.ACTORS", "{\"knd\":1}".into()).await.unwrap();
    assert!(json(&answer.payload)["error"].as_str().unwrap().contains("unknown field"));
}
