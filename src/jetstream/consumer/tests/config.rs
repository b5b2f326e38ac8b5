//! What a create request may say (consumers reference, sections 1.3 and 2).

use crate::jetstream::Limits;
use crate::jetstream::api::consumer_create::{self, Action, CreateRequest};
use crate::jetstream::api::endpoint::Endpoint;
use crate::jetstream::consumer::{ConsumerConfig, StreamContext, defaults, equality, update_rules, validate};
use crate::jetstream::error::ApiError;
use crate::jetstream::stream::StreamConfig;
use crate::jetstream::stream::config::Retention;
use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Value, json};

fn config(value: Value) -> ConsumerConfig {
    serde_json::from_value(value).expect("a configuration")
}

fn check(value: Value, pedantic: bool, retention: Retention) -> Result<ConsumerConfig, ApiError> {
    let stream = StreamConfig { subjects: vec!["s.>".into()], retention, num_replicas: 1, ..StreamConfig::default() };
    let limits = Limits::default();
    let context = StreamContext { config: &stream, limits: &limits };
    let mut config = config(value);
    defaults::apply(&mut config, &context, pedantic)?;
    validate::validate(&config, &context)?;
    Ok(config)
}

fn refusal(value: Value) -> (u16, String) {
    let error = check(value.clone(), false, Retention::Limits).expect_err(&value.to_string());
    (error.err_code, error.description)
}

#[test]
fn defaults_are_filled_in() {
    let made = check(json!({"ack_policy": "explicit"}), false, Retention::Limits).expect("valid");
    assert_eq!(
        (made.ack_wait, made.max_deliver, made.max_waiting, made.max_ack_pending),
        (30_000_000_000, -1, 512, 1000)
    );
    let made = check(json!({"deliver_subject": "d"}), false, Retention::Limits).expect("valid");
    assert_eq!((made.ack_wait, made.max_waiting, made.max_ack_pending), (0, 0, 0));
    assert_eq!(made.metadata["_nats.req.level"], "0");
    let made = check(json!({"ack_policy": "all", "backoff": [5, 6]}), false, Retention::Limits).expect("valid");
    assert_eq!(made.ack_wait, 5);
    let flow = json!({"ack_policy": "flow_control", "deliver_subject": "d", "durable_name": "c"});
    let made = check(flow, false, Retention::Limits).expect("valid");
    assert!(made.flow_control);
    assert_eq!(
        (made.idle_heartbeat, made.max_ack_pending, &made.metadata["_nats.req.level"][..]),
        (1_000_000_000, 1000, "4")
    );
}

#[test]
fn corrections_are_errors_to_pedants() {
    let cases = [
        (json!({"max_deliver": -2}), "max_deliver must be set to -1"),
        (json!({"max_waiting": -1}), "max_waiting must not be negative"),
        (json!({"max_batch": -1}), "max_batch must not be negative"),
        (json!({"priority_timeout": -1}), "priority_timeout must not be negative"),
        (json!({"ack_policy": "explicit", "backoff": [5]}), "first backoff value has to equal batch AckWait"),
    ];
    for (value, text) in cases {
        let error = check(value.clone(), true, Retention::Limits).expect_err(text);
        assert_eq!((error.err_code, error.description), (10157, format!("pedantic mode: {text}")));
        check(value, false, Retention::Limits).expect("corrected");
    }
}

#[test]
fn refusals() {
    let long = "x".repeat(4097);
    let cases = [
        (json!({"name": "a b"}), 10052),
        (json!({"num_replicas": -1}), 10133),
        (json!({"backoff": [-1], "max_deliver": 3}), 10184),
        (json!({"ack_wait": -1}), 10183),
        (json!({"backoff": [1, 2, 3], "max_deliver": 2}), 10116),
        (json!({"description": long}), 10107),
        (json!({"deliver_subject": "a.*"}), 10079),
        (json!({"deliver_subject": "a..b"}), 10112),
        (json!({"deliver_subject": "s.x"}), 10081),
        (json!({"deliver_subject": "d", "max_waiting": 5}), 10080),
        (json!({"deliver_subject": "d", "max_ack_pending": 5}), 10082),
        (json!({"deliver_subject": "d", "idle_heartbeat": 99_999_999}), 10083),
        (json!({"rate_limit_bps": 1}), 10086),
        (json!({"idle_heartbeat": 1}), 10088),
        (json!({"flow_control": true}), 10089),
        (json!({"max_expires": 999_999}), 10115),
        (json!({"direct": true}), 10090),
        (json!({"direct": true, "deliver_subject": "d", "durable_name": "c"}), 10091),
        (json!({"filter_subject": "a", "filter_subjects": ["b"]}), 10136),
        (json!({"filter_subject": "a..b"}), 10052),
        (json!({"filter_subjects": ["a", ""]}), 10139),
        (json!({"filter_subjects": ["a.*", "a.b"]}), 10138),
        (json!({"sample_freq": "x"}), 10095),
        (json!({"deliver_subject": "d", "flow_control": true}), 10108),
        (json!({"metadata": {"k": "v".repeat(131_056)}}), 10135),
        (json!({"deliver_subject": "d", "priority_policy": "overflow", "priority_groups": ["A"]}), 10178),
        (json!({"priority_policy": "overflow"}), 10159),
        (json!({"priority_policy": "overflow", "priority_groups": [""]}), 10161),
        (json!({"priority_policy": "overflow", "priority_groups": ["a b"]}), 10162),
        (json!({"priority_groups": ["A"]}), 10196),
        (json!({"priority_timeout": 5}), 10197),
    ];
    for (value, code) in cases {
        assert_eq!(refusal(value.clone()).0, code, "{value}");
    }
    for fine in [json!({"filter_subjects": ["v.*.a", "v.a.*"]}), json!({"metadata": {"k": "v".repeat(131_055)}})] {
        check(fine, false, Retention::Limits).expect("valid");
    }
    let error = check(json!({"ack_policy": "none"}), false, Retention::WorkQueue).expect_err("needs acks");
    assert_eq!(error.err_code, 10084);
}

#[test]
fn start_positions() {
    let text = |value: Value| refusal(value).1.replace("consumer delivery policy is deliver ", "");
    let (seq, time) = (json!(5), json!("2024-01-01T00:00:00Z"));
    let both = json!({"opt_start_seq": seq, "opt_start_time": time});
    assert_eq!(text(both), "all, but optional start sequence is also set");
    assert_eq!(
        text(json!({"deliver_policy": "new", "opt_start_time": time})),
        "new, but optional start time is also set"
    );
    assert_eq!(
        text(json!({"deliver_policy": "last_per_subject"})),
        "last per subject, but optional filter subject is not set"
    );
    assert_eq!(
        text(json!({"deliver_policy": "by_start_time", "opt_start_time": time, "opt_start_seq": seq})),
        "by start time, but optional start start sequence is also set"
    );
    assert_eq!(
        text(json!({"deliver_policy": "by_start_sequence"})),
        "by start sequence, but optional start sequence is not set"
    );
}

#[test]
fn names_and_filters_of_the_subject() {
    let named = |rest: &str, stream: &str, value: Value| {
        let endpoint = Endpoint::parse(&Bytes::from(format!("$JS.API.CONSUMER.{rest}"))).expect("an endpoint");
        let request = CreateRequest { stream_name: stream.into(), config: config(value), ..CreateRequest::default() };
        consumer_create::check_names(&endpoint, request).map_err(|error| error.err_code)
    };
    let plain = || json!({});
    assert_eq!(named("CREATE.S.c", "T", plain()).unwrap_err(), 10056);
    assert_eq!(named("CREATE.S.c", "", plain()).unwrap_err(), 10056);
    assert_eq!(named("CREATE.S.a/b", "S", plain()).unwrap_err(), 10127);
    assert_eq!(named("DURABLE.CREATE.S.c", "S", plain()).unwrap_err(), 10018);
    assert_eq!(named("CREATE.S.c", "S", json!({"durable_name": "d"})).unwrap_err(), 10017);
    assert_eq!(named("CREATE.S", "S", json!({"durable_name": "d"})).unwrap_err(), 10020);
    assert_eq!(named("CREATE.S.c.s.a", "S", json!({"filter_subjects": ["s.a"]})).unwrap_err(), 10137);
    assert_eq!(named("CREATE.S.c.s.a", "S", json!({"filter_subject": "s.b"})).unwrap_err(), 10131);
    assert_eq!(named("CREATE.S.c", "S", json!({"num_replicas": 3})).unwrap_err(), 10074);
    let made = named("CREATE.S.c", "S", json!({"name": "other"})).expect("valid");
    assert_eq!((&made.name[..], &made.config.name[..], made.made_up), ("c", "c", false));
    let made = named("CREATE.S", "S", plain()).expect("valid");
    assert_eq!((made.name.len(), &made.config.name[..], made.made_up), (8, "", true));
}

#[test]
fn requests_are_decoded_strictly() {
    let decode = |body: &str| consumer_create::decode(body.as_bytes(), true).map_err(|error| error.description);
    let request = decode(r#"{"stream_name":"S","config":{"ack_policy":"all"},"action":"update"}"#).expect("valid");
    assert_eq!((request.action, &request.stream_name[..]), (Action::Update, "S"));
    assert_eq!(decode(r#"{"foo":1}"#).unwrap_err(), r#"invalid JSON: json: unknown field "foo""#);
    let error = decode(r#"{"action":"destroy"}"#).unwrap_err();
    assert_eq!(error, r#"invalid JSON: unknown consumer action: "destroy""#);
    assert_eq!(decode("").expect("empty is fine").stream_name, "");
}

#[test]
fn the_same_again() {
    let stored =
        check(json!({"ack_policy": "explicit", "metadata": {"a": "b"}}), false, Retention::Limits).expect("valid");
    let mut again = stored.clone();
    again.metadata.insert("_nats.ver".into(), "1".into());
    assert!(equality::is_same(&stored, &again));
    again.description = "x".into();
    assert!(!equality::is_same(&stored, &again));
    assert!(update_rules::check(&stored, &again).is_ok());
    again.deliver_subject = "d".into();
    let error = update_rules::check(&stored, &again).unwrap_err();
    assert_eq!((error.code, error.err_code), (500, 10012));
    assert_eq!(error.description, "can not update pull consumer to push based");
}

proptest! {
    #[test]
    fn any_body_is_taken_calmly(body in "\\PC*") {
        let _ = consumer_create::decode(body.as_bytes(), true);
    }
}
