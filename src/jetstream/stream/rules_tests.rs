//! Configurations against the rules, with the words of the reference.

use super::config::*;
use super::validate::{self, Against};
use super::{equality, metadata, subject_rules, update_rules};
use crate::jetstream::api::json::{self, Decode};
use crate::jetstream::api::stream_request::StreamConfigRequest;
use crate::jetstream::error::ApiError;
use crate::jetstream::{AccountLimits, Limits};
use crate::subject::collides;
use proptest::prelude::*;
use serde_json::{Value, json};

const MS: i64 = 1_000_000;
const SECOND: i64 = 1000 * MS;
const MINUTE: i64 = 60 * SECOND;

fn shown(error: &ApiError) -> String {
    format!("{}/{} {}", error.code, error.err_code, error.description)
}

/// A configuration as a request has it, checked against server limits; its name is `S` unless said otherwise.
fn checked_against(limits: &Limits, mut body: Value) -> Result<StreamConfig, String> {
    body.as_object_mut().expect("an object").entry("name").or_insert("S".into());
    let request: StreamConfigRequest = json::decode(body.to_string().as_bytes(), true)?;
    let (mut config, pedantic) = (request.config, request.pedantic);
    let account = AccountLimits::default();
    let against = Against { limits, account: &account, pedantic };
    validate::check(&mut config, &against).map(|()| config).map_err(|error| shown(&error))
}

fn checked(body: Value) -> Result<StreamConfig, String> {
    checked_against(&Limits::default(), body)
}

/// `ok`, or the error.
fn outcome(body: Value) -> String {
    checked(body).map_or_else(|error| error, |_| "ok".into())
}

#[test]
fn names_and_sizes() {
    let bad = r"500/10052 stream name is required and can not contain '.', '*', '>', '\', '/'";
    for name in ["", "a*b", "a>b", "a.b", "a b", "a\tb", "a/b", r"a\b"] {
        assert_eq!(outcome(json!({"name": name})), bad, "{name:?}");
    }
    for name in ["ok-name", "ümlaut", "a$b", "#hash", "%41"] {
        assert_eq!(outcome(json!({"name": name})), "ok", "{name:?}");
    }
    let long = |n: usize| "n".repeat(n);
    assert_eq!(outcome(json!({"name": long(255)})), "ok");
    let refused = "500/10052 stream name is too long, maximum allowed is 255";
    assert_eq!(outcome(json!({"name": long(256)})), refused);
    let refused = "500/10052 stream description is too long, maximum allowed is 4096";
    assert_eq!(outcome(json!({"description": long(4096)})), "ok");
    assert_eq!(outcome(json!({"description": long(4097)})), refused);
    let refused = "500/10052 stream metadata exceeds maximum size of 131072 bytes";
    assert_eq!(outcome(json!({"metadata": {"k": long(131_055)}})), "ok", "the server's own entry takes 16");
    assert_eq!(outcome(json!({"metadata": {"k": long(131_056)}})), refused);
}

#[test]
fn limits_ages_and_windows() {
    for (body, expected) in [
        (json!({"num_replicas": 6}), "500/10052 maximum replicas is 5"),
        (json!({"num_replicas": 3}), "500/10074 replicas > 1 not supported in non-clustered mode"),
        (json!({"num_replicas": -1}), "400/10133 replicas count cannot be negative"),
        (json!({"max_age": -1}), "500/10052 max age can not be negative"),
        (json!({"max_age": 99 * MS}), "500/10052 max age needs to be >= 100ms"),
        (json!({"max_age": 100 * MS}), "ok"),
        (json!({"duplicate_window": -1}), "500/10052 duplicates window can not be negative"),
        (json!({"duplicate_window": 99 * MS}), "500/10052 duplicates window needs to be >= 100ms"),
        (json!({"duplicate_window": 100 * MS}), "ok"),
        (
            json!({"max_age": SECOND, "duplicate_window": SECOND + 1}),
            "500/10052 duplicates window can not be larger then max age",
        ),
        (json!({"deny_purge": true, "allow_rollup_hdrs": true}), "500/10052 roll-ups require the purge permission"),
        (
            json!({"discard_new_per_subject": true, "max_msgs_per_subject": 1}),
            "500/10052 discard new per subject requires discard new policy to be set",
        ),
        (
            json!({"discard_new_per_subject": true, "discard": "new"}),
            "500/10052 discard new per subject requires max msgs per subject > 0",
        ),
        (json!({"discard_new_per_subject": true, "discard": "new", "max_msgs_per_subject": 1}), "ok"),
        (json!({"placement": {"preferred": "s1"}}), "500/10052 preferred server not permitted in placement"),
        (
            json!({"persist_mode": "async", "storage": "memory"}),
            "500/10052 async persist mode is only supported on file storage",
        ),
        (
            json!({"persist_mode": "async", "num_replicas": 3}),
            "500/10052 async persist mode is not supported on replicated streams",
        ),
        (
            json!({"persist_mode": "async", "allow_atomic": true}),
            "500/10052 async persist mode is not supported with atomic batch publish",
        ),
        (json!({"persist_mode": "async"}), "ok"),
        (json!({"consumer_limits": {"max_ack_pending": -7, "inactive_threshold": -3}}), "ok"),
        (json!({"max_age": -1, "num_replicas": 9, "duplicate_window": -1}), "500/10052 maximum replicas is 5"),
        (json!({"allow_msg_counter": true, "discard": "new"}), "500/10052 counter stream cannot use discard new"),
        (json!({"allow_msg_counter": true, "allow_msg_ttl": true}), "500/10052 counter stream cannot use message TTLs"),
        (
            json!({"allow_msg_counter": true, "allow_msg_schedules": true}),
            "500/10052 counter stream cannot use message schedules",
        ),
        (
            json!({"allow_msg_counter": true, "retention": "interest"}),
            "500/10052 counter stream can only use limits retention",
        ),
        (
            json!({"subject_delete_marker_ttl": SECOND - 1}),
            "500/10052 subject delete marker TTL must be at least 1 second",
        ),
        (json!({"subject_delete_marker_ttl": -1}), "500/10052 subject delete marker TTL must not be negative"),
        (json!({"allow_msg_schedules": true, "discard": "new"}), "500/10052 message scheduling cannot use discard new"),
    ] {
        assert_eq!(outcome(body.clone()), expected, "{body}");
    }
}

#[test]
fn defaults_are_filled_in() {
    let plain = checked(json!({"max_msgs": -7, "placement": {}})).expect("fine");
    assert_eq!((plain.max_msgs, plain.max_bytes, plain.max_msg_size, plain.max_consumers), (-1, -1, -1, -1));
    assert_eq!((plain.num_replicas, plain.duplicate_window), (1, 2 * MINUTE));
    assert_eq!((plain.subjects, plain.placement), (vec!["S".to_string()], None));
    let markers = checked(json!({"subject_delete_marker_ttl": SECOND, "deny_purge": true})).expect("fine");
    assert!(markers.allow_msg_ttl && markers.allow_rollup_hdrs && !markers.deny_purge);
    let limits = Limits { duplicate_window: Some(MINUTE), ..Limits::default() };
    assert_eq!(checked_against(&limits, json!({})).map(|c| c.duplicate_window), Ok(MINUTE));
    assert_eq!(checked_against(&limits, json!({"max_age": MINUTE / 2})).map(|c| c.duplicate_window), Ok(MINUTE / 2));
}

#[test]
fn pedantic_requests_are_not_adjusted() {
    let limits = Limits { duplicate_window: Some(MINUTE), ..Limits::default() };
    for (body, expected) in [
        (json!({"duplicate_window": MINUTE}), "ok"),
        (json!({"max_msgs": -2}), "400/10157 pedantic mode: max_msgs must be set to -1"),
        (json!({"max_consumers": -2, "max_bytes": -2}), "400/10157 pedantic mode: max_bytes must be set to -1"),
        (json!({"duplicate_window": MINUTE, "max_msgs": 0}), "ok"),
        (json!({}), "400/10157 pedantic mode: duplicate window limits are higher than current limits"),
        (
            json!({"duplicate_window": 2 * MINUTE}),
            "500/10052 duplicates window can not be larger then server limit of 1m0s",
        ),
        (
            json!({"duplicate_window": MINUTE, "subject_delete_marker_ttl": MINUTE}),
            "500/10052 subject delete marker cannot be set if message TTLs are disabled",
        ),
        (
            json!({"duplicate_window": MINUTE, "subject_delete_marker_ttl": MINUTE, "allow_msg_ttl": true}),
            "500/10052 subject delete marker cannot be set if roll-ups are disabled",
        ),
        (
            json!({"duplicate_window": MINUTE, "allow_msg_schedules": true}),
            "500/10052 message scheduling cannot be set if roll-ups are disabled",
        ),
    ] {
        let mut body = body;
        body["pedantic"] = true.into();
        let outcome = checked_against(&limits, body.clone()).map_or_else(|error| error, |_| "ok".into());
        assert_eq!(outcome, expected, "{body}");
    }
    let short = outcome(json!({"max_age": SECOND, "pedantic": true}));
    assert_eq!(short, "400/10157 pedantic mode: duplicate window cannot be bigger than max age");
}

#[test]
fn subjects() {
    let api = "500/10052 subjects that overlap with jetstream api require no-ack to be true";
    let system = "500/10052 subjects that overlap with system api require no-ack to be true";
    for bad in ["a..b", ".a", "a.", "a b", "", "a.>.b"] {
        assert_eq!(outcome(json!({"subjects": [bad]})), "500/10052 invalid subject", "{bad:?}");
    }
    for (subjects, expected) in [
        (json!(["a", "a"]), r#"500/10052 subject "a" overlaps with "a""#),
        (json!(["a.*", "a.b"]), r#"500/10052 subject "a.*" overlaps with "a.b""#),
        (json!(["a.b.c", "a.>"]), r#"500/10052 subject "a.b.c" overlaps with "a.>""#),
        (json!([">"]), "500/10052 capturing all subjects requires no-ack to be true"),
        (json!(["*.>"]), api),
        (json!(["$JS.API.x"]), api),
        (json!(["$NRG.x"]), api),
        (json!(["$SYS.>"]), system),
        (json!(["*"]), "ok"),
        (json!(["$JS.EVENT.>"]), "ok"),
        (json!(["$SYS.ACCOUNT.>"]), "ok"),
        (json!(["$KV.b.>", "a*", "b>"]), "ok"),
    ] {
        assert_eq!(outcome(json!({"subjects": subjects})), expected, "{subjects}");
    }
    for subject in [">", "$JS.>", "*.>", "$SYS.>"] {
        assert_eq!(outcome(json!({"subjects": [subject], "no_ack": true})), "ok", "{subject}");
    }
    let replicas = outcome(json!({"subjects": [">"], "no_ack": true, "num_replicas": 3}));
    assert_eq!(replicas, "500/10052 capturing all subjects requires replicas of 1");
}

#[test]
fn origins() {
    let unsupported = |feature: &str| format!("500/10052 this server does not support {feature} yet");
    let mirror = |mut mirror: Value| {
        mirror.as_object_mut().expect("an object").entry("name").or_insert("ORIGIN".into());
        outcome(json!({"mirror": mirror}))
    };
    for (beside, expected) in [
        (json!({"subjects": ["a"]}), "400/10034 stream mirrors can not contain subjects"),
        (json!({"sources": [{"name": "X"}]}), "400/10031 stream mirrors can not also contain other sources"),
        (json!({"first_seq": 5}), "400/10143 stream mirrors can not have first sequence configured"),
        (json!({"allow_msg_counter": true}), "400/10173 stream mirrors can not also calculate counters"),
        (json!({"allow_atomic": true}), "400/10198 stream mirrors can not also use atomic publishing"),
        (json!({"allow_batched": true}), "400/10209 stream mirrors can not also use batch publishing"),
        (json!({"allow_msg_schedules": true}), "400/10186 stream mirrors can not also schedule messages"),
        (json!({"subject_delete_marker_ttl": SECOND}), "500/10052 subject delete markers forbidden on mirrors"),
    ] {
        let mut body = beside;
        body["mirror"] = json!({"name": "ORIGIN"});
        assert_eq!(outcome(body.clone()), expected, "{body}");
    }
    for (given, expected) in [
        (json!({"name": ""}), "400/10142 mirrored stream name is invalid"),
        (json!({"name": "a.b"}), "400/10142 mirrored stream name is invalid"),
        (json!({"name": "S"}), "500/10052 detected cycle"),
        (
            json!({"filter_subject": "a", "subject_transforms": [{"src": "a"}]}),
            "400/10150 mirror with multiple subject transforms cannot also have a single subject filter",
        ),
        (json!({"subject_transforms": [{"src": "a..b"}]}), "400/10151 mirror transform source: invalid subject a..b"),
        (
            json!({"subject_transforms": [{"src": "a.*"}, {"src": "*.b"}]}),
            "400/10152 mirror subject filters can not overlap",
        ),
        (
            json!({"external": {"api": "$JS.API"}}),
            "400/10021 stream external api prefix $JS.API must not overlap with $JS.API",
        ),
        (
            json!({"external": {"api": "a.*"}}),
            r#"500/10052 stream external api prefix "a.*" must be a valid subject without wildcards"#,
        ),
        (
            json!({"external": {"api": "x", "deliver": "d.*"}}),
            "400/10024 stream external delivery prefix d.* must not contain wildcards",
        ),
        (json!({"consumer": {"name": "C"}}), "400/10213 stream mirror consumer config is invalid"),
    ] {
        assert_eq!(mirror(given.clone()), expected, "{given}");
    }
    assert_eq!(mirror(json!({})), unsupported("mirrors"));
    let sources = |sources: Value| outcome(json!({"sources": sources}));
    for (given, expected) in [
        (json!([null]), "400/10141 sourced stream name is invalid".to_string()),
        (json!([{"name": "O"}, {"name": "O"}]), "400/10140 duplicate source configuration detected".into()),
        (
            json!([{"name": "O", "subject_transforms": [{"src": "a.*"}, {"src": "a.b"}]}]),
            "400/10147 source filters can not overlap".into(),
        ),
        (json!([{"name": "O", "subject_transforms": [{"src": "a.*.x"}, {"src": "a.x.*"}]}]), unsupported("sources")),
        (json!([{"name": "O", "external": {"api": ""}}]), unsupported("sources")),
        (json!([{"name": "S"}]), "500/10052 detected cycle".into()),
    ] {
        assert_eq!(sources(given.clone()), expected, "{given}");
    }
    let scheduled = outcome(json!({"sources": [{"name": "X"}], "allow_msg_schedules": true}));
    assert_eq!(scheduled, "400/10187 stream source can not also schedule messages");
}

/// `ok`, or why the step is refused. Features that are not built yet cannot be checked, so the checks of each
/// configuration alone are left out.
fn step(from: Value, to: Value) -> String {
    let config = |mut body: Value| {
        body["name"] = "S".into();
        json::decode::<StreamConfig>(body.to_string().as_bytes(), true).expect("a configuration")
    };
    update_rules::check(&config(from), &mut config(to)).map_or_else(|error| shown(&error), |()| "ok".into())
}

#[test]
fn updates() {
    let change = |what: &str| format!("500/10052 stream configuration update can not {what}");
    let work_queue = change("change retention policy to/from workqueue");
    for (from, to, expected) in [
        (json!({}), json!({"storage": "memory"}), change("change storage type")),
        (json!({}), json!({"retention": "workqueue"}), work_queue.clone()),
        (json!({"retention": "workqueue"}), json!({}), work_queue.clone()),
        (json!({}), json!({"retention": "interest"}), "ok".into()),
        (json!({"deny_delete": true}), json!({}), change("cancel deny message deletes")),
        (json!({"deny_purge": true}), json!({}), change("cancel deny purge")),
        (json!({"sealed": true}), json!({}), change("unseal a sealed stream")),
        (json!({"allow_rollup_hdrs": true}), json!({}), "ok".into()),
        (json!({"allow_msg_ttl": true}), json!({}), "500/10052 message TTL status can not be disabled".into()),
        (json!({}), json!({"allow_msg_counter": true}), change("change message counter setting")),
        (json!({"allow_msg_schedules": true}), json!({}), "500/10052 message schedules can not be disabled".into()),
        (json!({}), json!({"persist_mode": "async"}), change("change persist mode")),
        (
            json!({}),
            json!({"mirror": {"name": "O"}}),
            "400/10055 stream mirror configuration can not be updated".into(),
        ),
        (json!({"mirror": {"name": "O"}}), json!({"mirror": {"name": "O"}}), "ok".into()),
        (json!({"mirror": {"name": "O"}}), json!({}), "ok".into()),
        (json!({}), json!({"storage": "memory", "retention": "workqueue"}), change("change storage type")),
    ] {
        assert_eq!(step(from.clone(), to.clone()), expected, "{from} -> {to}");
    }
}

#[test]
fn sealing_makes_a_stream_final() {
    let mut sealed = StreamConfig { sealed: true, max_age: 5, allow_rollup_hdrs: true, ..StreamConfig::default() };
    update_rules::check(&StreamConfig::default(), &mut sealed).expect("may be sealed");
    assert_eq!((sealed.max_age, sealed.discard), (0, Discard::New));
    assert!(sealed.deny_delete && sealed.deny_purge && !sealed.allow_rollup_hdrs);
    let mut again = StreamConfig { sealed: true, ..StreamConfig::default() };
    let refused = update_rules::check(&sealed, &mut again).expect_err("flags must be repeated");
    assert_eq!(refused.description, "stream configuration update can not cancel deny message deletes");
}

#[test]
fn metadata_of_the_server() {
    let level = |body: Value| {
        let mut config = json::decode::<StreamConfig>(body.to_string().as_bytes(), true).expect("a configuration");
        metadata::stamp(&mut config);
        config.metadata[metadata::REQUIRED_LEVEL].clone()
    };
    for (body, expected) in [
        (json!({}), "0"),
        (json!({"allow_msg_ttl": true}), "1"),
        (json!({"subject_delete_marker_ttl": SECOND}), "1"),
        (json!({"allow_msg_counter": true}), "2"),
        (json!({"persist_mode": "async", "allow_msg_ttl": true}), "2"),
        (json!({"allow_batched": true, "allow_msg_ttl": true}), "4"),
        (json!({"metadata": {"_nats.req.level": "99"}}), "0"),
    ] {
        assert_eq!(level(body.clone()), expected, "{body}");
    }
    let sent = json!({"_nats.ver": "1", "_nats.level": "99", "_nats.other": "x", "mine": "y"});
    let config = checked(json!({"metadata": sent})).expect("fine");
    let kept: Vec<_> = config.metadata.keys().map(String::as_str).collect();
    assert_eq!(kept, ["_nats.other", "_nats.req.level", "mine"]);
    let shown = metadata::with_versions(&config);
    assert_eq!((shown.metadata["_nats.ver"].as_str(), shown.metadata["_nats.level"].as_str()), ("2.15.1", "5"));
}

#[test]
fn the_same_configuration_spelled_otherwise() {
    let base = checked(json!({"subjects": ["a.>", "b"], "metadata": {"k": "v"}})).expect("fine");
    let same = json!({"subjects": ["a.>", "b"], "metadata": {"k": "v", "_nats.ver": "9"}, "retention": "limits",
        "num_replicas": 1, "max_bytes": -1, "duplicate_window": 2 * MINUTE, "compression": "none"});
    assert!(equality::is_same(&base, &checked(same).expect("fine")));
    for other in [
        json!({"subjects": ["b", "a.>"], "metadata": {"k": "v"}}),
        json!({"subjects": ["a.>", "b"], "metadata": {"k": "w"}}),
        json!({"subjects": ["a.>", "b"]}),
    ] {
        assert!(!equality::is_same(&base, &checked(other.clone()).expect("fine")), "{other}");
    }
}

proptest! {
    /// Whatever passes is a fixed point: an update with what INFO shows changes nothing.
    #[test]
    fn what_has_passed_passes_unchanged(
        limits in proptest::array::uniform4(-3i64..3),
        age in prop_oneof![Just(0), Just(SECOND), -1i64..200 * MS],
        flags in proptest::array::uniform8(any::<bool>()),
        marker in prop_oneof![Just(0), Just(SECOND)],
    ) {
        let body = json!({
            "max_msgs": limits[0], "max_bytes": limits[1], "max_consumers": limits[2], "max_msgs_per_subject": limits[3],
            "max_age": age, "allow_direct": flags[0], "deny_delete": flags[1], "deny_purge": flags[2],
            "allow_rollup_hdrs": flags[3], "allow_msg_ttl": flags[4], "no_ack": flags[5],
            "discard_new_per_subject": flags[6], "discard": if flags[7] { "new" } else { "old" },
            "subject_delete_marker_ttl": marker,
        });
        if let Ok(config) = checked(body) {
            let again = checked(serde_json::to_value(&config).expect("plain data"));
            prop_assert_eq!(again.as_ref(), Ok(&config));
            let mut to = config.clone();
            prop_assert!(update_rules::check(&config, &mut to).is_ok());
            prop_assert_eq!(to, config);
        }
    }

    /// Two subjects of a stream are refused exactly if they collide.
    #[test]
    fn subjects_of_a_stream_never_collide(subjects in proptest::collection::vec("[ab*](\\.[ab*]){0,2}(\\.>)?", 1..5)) {
        let config = StreamConfig { subjects: subjects.clone(), no_ack: true, num_replicas: 1, ..StreamConfig::default() };
        let pairs = subjects.iter().enumerate().flat_map(|(i, a)| subjects[..i].iter().map(move |b| (a, b)));
        let collide = pairs.clone().any(|(a, b)| collides(a.as_bytes(), b.as_bytes()));
        prop_assert_eq!(subject_rules::check(&config).is_err(), collide);
    }
}

/// The schema names every member that a configuration shows.
#[test]
fn the_schema_is_whole() {
    let full = json!({
        "description": "d", "subjects": ["a"], "no_ack": true, "duplicate_window": 1, "placement": {"cluster": "c"},
        "mirror": {"name": "m", "opt_start_seq": 1}, "sources": [{"name": "s"}], "first_seq": 1, "max_msg_size": 5,
        "subject_transform": {"src": "a", "dest": "b"}, "republish": {"dest": "d"}, "discard_new_per_subject": true,
        "subject_delete_marker_ttl": 1, "allow_msg_counter": true, "allow_atomic": true, "allow_msg_schedules": true,
        "persist_mode": "async", "allow_batched": true, "metadata": {"a": "b"},
    });
    let config: StreamConfig = json::decode(full.to_string().as_bytes(), true).expect("a configuration");
    let shown = serde_json::to_value(&config).expect("plain data");
    let members = StreamConfig::SCHEMA.members.iter().map(|group| group.len()).sum::<usize>();
    assert_eq!(shown.as_object().map(|shown| shown.len()), Some(members));
}
