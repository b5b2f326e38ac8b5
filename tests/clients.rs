//! The broker, driven by async-nats as a program would use it.

mod support;

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, PushConsumer, pull, push};
use async_nats::jetstream::{self, stream};
use futures_util::{StreamExt, TryStreamExt};
use std::time::Duration;
use support::{PATIENCE, TestBroker};
use tokio::time::timeout;

#[tokio::test(flavor = "multi_thread")]
async fn publish_and_subscribe() {
    let broker = TestBroker::start();
    let (publisher, subscriber) = (broker.client().await, broker.client().await);
    let mut messages = subscriber.subscribe("greet.*").await.unwrap();
    subscriber.flush().await.unwrap();
    let mut headers = HeaderMap::new();
    headers.insert("Colour", "blue");
    publisher.publish_with_headers("greet.sue", headers, "hello".into()).await.unwrap();
    let message = timeout(PATIENCE, messages.next()).await.unwrap().unwrap();
    assert_eq!((message.subject.as_str(), &message.payload[..]), ("greet.sue", &b"hello"[..]));
    assert_eq!(message.headers.unwrap().get("Colour").unwrap().as_str(), "blue");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_find_a_responder_or_hear_that_there_is_none() {
    let broker = TestBroker::start();
    let (asker, answerer) = (broker.client().await, broker.client().await);
    let error = asker.request("who", "".into()).await.unwrap_err();
    assert_eq!(error.kind(), async_nats::RequestErrorKind::NoResponders);
    let mut questions = answerer.queue_subscribe("who", "answerers".into()).await.unwrap();
    answerer.flush().await.unwrap();
    let replier = answerer.clone();
    tokio::spawn(async move {
        while let Some(question) = questions.next().await {
            replier.publish(question.reply.unwrap(), "me".into()).await.unwrap();
        }
    });
    assert_eq!(&asker.request("who", "".into()).await.unwrap().payload[..], b"me");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_group_shares_the_work() {
    let broker = TestBroker::start();
    let publisher = broker.client().await;
    let (counts, mut counted) = tokio::sync::mpsc::unbounded_channel();
    for member in 0..3 {
        let client = broker.client().await;
        let mut work = client.queue_subscribe("work.>", "workers".into()).await.unwrap();
        client.flush().await.unwrap();
        let counts = counts.clone();
        tokio::spawn(async move {
            let _client = client;
            while work.next().await.is_some() {
                counts.send(member).unwrap();
            }
        });
    }
    for n in 0..300 {
        publisher.publish(format!("work.{n}"), "".into()).await.unwrap();
    }
    let mut shares = [0; 3];
    for _ in 0..300 {
        shares[timeout(PATIENCE, counted.recv()).await.unwrap().unwrap()] += 1;
    }
    assert!(shares.iter().all(|&n| n > 0), "everybody works: {shares:?}");
    assert!(timeout(Duration::from_millis(50), counted.recv()).await.is_err(), "nothing twice");
}

async fn events(broker: &TestBroker) -> (jetstream::Context, stream::Stream) {
    let context = jetstream::new(broker.client().await);
    let config = stream::Config { name: "EVENTS".into(), subjects: vec!["events.>".into()], ..Default::default() };
    let events = context.create_stream(config).await.unwrap();
    (context, events)
}

async fn publish(context: &jetstream::Context, from: u64, to: u64) {
    for n in from..=to {
        let ack = context.publish(format!("events.{}", n % 3), format!("{n}").into()).await.unwrap().await.unwrap();
        assert_eq!(ack.sequence, n);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_outlives_the_broker() {
    let mut broker = TestBroker::start();
    let (context, _) = events(&broker).await;
    publish(&context, 1, 10).await;
    broker.restart();
    let context = jetstream::new(broker.client().await);
    let mut events = context.get_stream("EVENTS").await.unwrap();
    let state = &events.info().await.unwrap().state;
    assert_eq!((state.messages, state.first_sequence, state.last_sequence), (10, 1, 10));
    let message = events.get_raw_message(7).await.unwrap();
    assert_eq!((message.subject.as_str(), &message.payload[..]), ("events.1", &b"7"[..]));
    publish(&context, 11, 12).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_consumer_goes_on_where_it_was() {
    let mut broker = TestBroker::start();
    let (context, events) = events(&broker).await;
    publish(&context, 1, 10).await;
    let config =
        pull::Config { durable_name: Some("worker".into()), ack_policy: AckPolicy::Explicit, ..Default::default() };
    let worker: PullConsumer = events.create_consumer(config).await.unwrap();
    let batch: Vec<_> = worker.fetch().max_messages(4).messages().await.unwrap().try_collect().await.unwrap();
    assert_eq!(batch.iter().map(|m| &m.payload[..]).collect::<Vec<_>>(), [b"1", b"2", b"3", b"4"]);
    for message in &batch {
        message.double_ack().await.unwrap();
    }
    broker.restart();
    let context = jetstream::new(broker.client().await);
    let mut worker: PullConsumer = context.get_consumer_from_stream("worker", "EVENTS").await.unwrap();
    let info = worker.info().await.unwrap();
    assert_eq!((info.ack_floor.stream_sequence, info.num_pending, info.num_ack_pending), (4, 6, 0));
    let rest: Vec<_> = worker.fetch().max_messages(100).messages().await.unwrap().try_collect().await.unwrap();
    assert_eq!(rest.len(), 6);
    assert_eq!(rest[0].info().unwrap().stream_sequence, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nak_brings_a_message_again() {
    let broker = TestBroker::start();
    let (context, events) = events(&broker).await;
    publish(&context, 1, 1).await;
    let config =
        pull::Config { durable_name: Some("again".into()), ack_policy: AckPolicy::Explicit, ..Default::default() };
    let consumer: PullConsumer = events.create_consumer(config).await.unwrap();
    let mut messages = consumer.messages().await.unwrap();
    let first = timeout(PATIENCE, messages.next()).await.unwrap().unwrap().unwrap();
    first.ack_with(jetstream::AckKind::Nak(None)).await.unwrap();
    let second = timeout(PATIENCE, messages.next()).await.unwrap().unwrap().unwrap();
    assert_eq!((first.info().unwrap().delivered, second.info().unwrap().delivered), (1, 2));
    second.double_ack().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ordered_consumer_replays_everything_in_order() {
    let broker = TestBroker::start();
    let (context, events) = events(&broker).await;
    publish(&context, 1, 500).await;
    let config = push::OrderedConfig { deliver_subject: "replay".into(), ..Default::default() };
    let ordered = events.create_consumer(config).await.unwrap();
    let mut messages = ordered.messages().await.unwrap();
    for n in 1..=500u64 {
        let message = timeout(PATIENCE, messages.next()).await.unwrap().unwrap().unwrap();
        let info = message.info().unwrap();
        assert_eq!((info.stream_sequence, info.pending), (n, 500 - n));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_consumer_delivers_the_old_and_the_new() {
    let broker = TestBroker::start();
    let (context, events) = events(&broker).await;
    publish(&context, 1, 3).await;
    let config = push::Config {
        durable_name: Some("archive".into()),
        deliver_subject: "archive".into(),
        deliver_policy: DeliverPolicy::All,
        ack_policy: AckPolicy::None,
        ..Default::default()
    };
    let consumer: PushConsumer = events.create_consumer(config).await.unwrap();
    let mut messages = consumer.messages().await.unwrap();
    publish(&context, 4, 6).await;
    for n in 1..=6 {
        let message = timeout(PATIENCE, messages.next()).await.unwrap().unwrap().unwrap();
        assert_eq!(message.payload, format!("{n}").into_bytes());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_work_queue_forgets_what_is_done() {
    let broker = TestBroker::start();
    let context = jetstream::new(broker.client().await);
    let config = stream::Config {
        name: "JOBS".into(),
        subjects: vec!["jobs.>".into()],
        retention: stream::RetentionPolicy::WorkQueue,
        ..Default::default()
    };
    let mut jobs = context.create_stream(config).await.unwrap();
    for n in 1..=5 {
        context.publish("jobs.x", format!("{n}").into()).await.unwrap().await.unwrap();
    }
    let config = pull::Config { durable_name: Some("w".into()), ..Default::default() };
    let worker: PullConsumer = jobs.create_consumer(config).await.unwrap();
    let batch: Vec<_> = worker.fetch().max_messages(3).messages().await.unwrap().try_collect().await.unwrap();
    for message in &batch {
        message.double_ack().await.unwrap();
    }
    assert_eq!(jobs.info().await.unwrap().state.messages, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_keeps_the_last_of_each_key() {
    let mut broker = TestBroker::start();
    let context = jetstream::new(broker.client().await);
    let config = jetstream::kv::Config { bucket: "prefs".into(), history: 2, ..Default::default() };
    let bucket = context.create_key_value(config).await.unwrap();
    bucket.put("colour", "red".into()).await.unwrap();
    let revision = bucket.put("colour", "green".into()).await.unwrap();
    assert!(bucket.update("colour", "blue".into(), revision - 1).await.is_err(), "an old revision is refused");
    bucket.update("colour", "blue".into(), revision).await.unwrap();
    bucket.put("size", "9".into()).await.unwrap();
    bucket.delete("size").await.unwrap();
    broker.restart();
    let context = jetstream::new(broker.client().await);
    let bucket = context.get_key_value("prefs").await.unwrap();
    assert_eq!(bucket.get("colour").await.unwrap().unwrap(), "blue");
    assert_eq!(bucket.get("size").await.unwrap(), None);
    let keys: Vec<String> = bucket.keys().await.unwrap().try_collect().await.unwrap();
    assert_eq!(keys, ["colour"]);
    let history: Vec<_> = bucket.history("colour").await.unwrap().try_collect().await.unwrap();
    assert_eq!(history.iter().map(|e| &e.value[..]).collect::<Vec<_>>(), [&b"green"[..], b"blue"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_comes_back_whole() {
    use tokio::io::AsyncReadExt;
    let broker = TestBroker::start();
    let context = jetstream::new(broker.client().await);
    let config = jetstream::object_store::Config { bucket: "files".into(), ..Default::default() };
    let files = context.create_object_store(config).await.unwrap();
    let data: Vec<u8> = (0..700_000u32).map(|n| (n * 31 % 251) as u8).collect();
    files.put("big", &mut &data[..]).await.unwrap();
    let mut back = Vec::new();
    files.get("big").await.unwrap().read_to_end(&mut back).await.unwrap();
    assert_eq!(back.len(), data.len());
    assert!(back == data);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_id_counts_once() {
    let mut broker = TestBroker::start();
    let (context, _) = events(&broker).await;
    let publish = async |context: &jetstream::Context| {
        let message = jetstream::message::PublishMessage::build().message_id("once").payload("x".into());
        context.send_publish("events.a", message).await.unwrap().await.unwrap()
    };
    assert!(!publish(&context).await.duplicate);
    let again = publish(&context).await;
    assert!(again.duplicate && again.sequence == 1);
    broker.restart();
    let context = jetstream::new(broker.client().await);
    assert!(publish(&context).await.duplicate, "remembered over a restart");
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_are_spread_over_storage_threads() {
    let mut broker = TestBroker::with(|settings| settings.store.arbiters_wanted = 3);
    let names = ["S1", "S2", "S3", "S4"];
    for restarted in [false, true] {
        let client = broker.client().await;
        let context = jetstream::new(client.clone());
        for name in names {
            let config = stream::Config { name: name.into(), ..Default::default() };
            let stream = context.get_or_create_stream(config).await.unwrap();
            let config = pull::Config { durable_name: Some("worker".into()), ..Default::default() };
            let worker: PullConsumer = stream.get_or_create_consumer("worker", config).await.unwrap();
            let expected = if restarted { 5..=8 } else { 1..=4 };
            for seq in expected.clone() {
                assert_eq!(context.publish(name, "x".into()).await.unwrap().await.unwrap().sequence, seq);
            }
            let batch: Vec<_> = worker.fetch().max_messages(4).messages().await.unwrap().try_collect().await.unwrap();
            let seqs: Vec<u64> = batch.iter().map(|message| message.info().unwrap().stream_sequence).collect();
            assert_eq!(seqs, expected.collect::<Vec<_>>());
            for message in &batch {
                message.double_ack().await.unwrap();
            }
        }
        // The clock beside each stream was asked for alarms.
        let answer = client.request("$SYS.REQ.ACTORS", "{\"kind\":\"timers\"}".into()).await.unwrap();
        let actors: serde_json::Value = serde_json::from_slice(&answer.payload).unwrap();
        for place in ["storage-0", "storage-1", "storage-2"] {
            let clock = actors["actors"].as_array().unwrap().iter().find(|actor| actor["name"] == place);
            let alarms = |state: &serde_json::Value| state["armed"].as_u64().unwrap() + state["rung"].as_u64().unwrap();
            assert!(clock.is_some_and(|clock| alarms(&clock["state"]) > 0), "{place}: {actors}");
        }
        broker.restart();
    }
}
