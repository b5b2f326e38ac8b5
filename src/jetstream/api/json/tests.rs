use super::*;
use crate::jetstream::consumer::ConsumerConfig;
use crate::jetstream::stream::StreamConfig;
use crate::jetstream::stream::config::{Compression, Discard, PersistMode, Retention};
use proptest::prelude::*;

/// As the CREATE request has it: a configuration, and one member more.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Request {
    #[serde(flatten)]
    config: StreamConfig,
    pedantic: bool,
}

impl Decode for Request {
    const SCHEMA: &'static Schema = &Schema {
        name: "StreamConfigRequest",
        members: &[crate::jetstream::stream::schema::MEMBERS, &[Member::new("pedantic", Kind::Bool)]],
    };
}

fn good(body: &str) -> StreamConfig {
    decode::<Request>(body.as_bytes(), true).unwrap_or_else(|error| panic!("{body}: {error}")).config
}

fn bad(body: &str) -> String {
    decode::<Request>(body.as_bytes(), true).err().unwrap_or_else(|| panic!("{body} was taken"))
}

#[test]
fn names_in_any_case_and_null_for_not_given() {
    let config = good(r#"{"NAME":"A","Max_Msgs":5,"subjects":null,"no_ack":null,"mirror":null}"#);
    assert_eq!((config.name.as_str(), config.max_msgs, config.subjects.len()), ("A", 5, 0));
    assert!(config.mirror.is_none());
    assert_eq!(good("null"), StreamConfig::default());
    assert_eq!(good(""), StreamConfig::default());
}

#[test]
fn documents_are_merged() {
    let config = good(r#" {"name":"A","placement":{"cluster":"c"}} {"max_msgs":5,"placement":{"tags":["t"]}}"#);
    let placement = config.placement.expect("given");
    assert_eq!((config.name.as_str(), config.max_msgs), ("A", 5));
    assert_eq!((placement.cluster.as_str(), placement.tags.len()), ("c", 1));
    assert_eq!(good(r#"{"name":"A","name":"B"}"#).name, "B");
    assert_eq!(bad(r#"{"name":"A"}{"foo":1}"#), r#"json: unknown field "foo""#);
}

#[test]
fn choices() {
    let config = good(r#"{"retention":"workqueue","discard":"NEW","compression":"s2","persist_mode":""}"#);
    assert_eq!((config.retention, config.discard), (Retention::WorkQueue, Discard::New));
    assert_eq!((config.compression, config.persist_mode), (Compression::S2, PersistMode::Default));
    assert_eq!(bad(r#"{"retention":null}"#), r#"can not unmarshal "null""#);
    assert_eq!(bad(r#"{"retention":""}"#), r#"can not unmarshal "\"\"""#);
    assert_eq!(bad(r#"{"storage":"File"}"#), r#"can not unmarshal "\"File\"""#);
    assert_eq!(bad(r#"{"compression":"S2"}"#), "unknown compression algorithm");
    let consumer = decode::<ConsumerConfig>(br#"{"priority_policy":"x"}"#, true);
    assert_eq!(consumer.err().as_deref(), Some(r#"unknown priority policy: "x""#));
}

/// Bodies and texts as observed on the reference.
#[test]
fn texts_of_the_reference() {
    let field = "json: cannot unmarshal";
    for (body, text) in [
        (r#"{"name":"A"} x"#, "invalid character 'x' looking for beginning of value at offset 14".to_string()),
        (r#"{"name":"A""#, "unexpected EOF".into()),
        ("[]", format!("{field} array into Go value of type server.StreamConfigRequest")),
        ("not json", "invalid character 'o' in literal null (expecting 'u') at offset 2".into()),
        (
            r#"{"max_msgs":"5"}"#,
            format!("{field} string into Go struct field StreamConfigRequest.max_msgs of type int64"),
        ),
        (
            r#"{"max_msgs":5.0}"#,
            format!("{field} number 5.0 into Go struct field StreamConfigRequest.max_msgs of type int64"),
        ),
        (
            r#"{"max_msg_size":2147483648}"#,
            format!("{field} number 2147483648 into Go struct field StreamConfigRequest.max_msg_size of type int32"),
        ),
        (
            r#"{"first_seq":-1}"#,
            format!("{field} number -1 into Go struct field StreamConfigRequest.first_seq of type uint64"),
        ),
        (r#"{"subjects":[1]}"#, format!("{field} number into StreamConfigRequest.subjects.0 of type string")),
        (
            r#"{"mirror":[]}"#,
            format!("{field} array into Go struct field StreamConfigRequest.mirror of type server.StreamSource"),
        ),
        (
            r#"{"sources":{}}"#,
            format!("{field} object into Go struct field StreamConfigRequest.sources of type []*server.StreamSource"),
        ),
        (
            r#"{"metadata":{"a":1}}"#,
            format!("{field} number into Go struct field StreamConfigRequest.metadata.a of type string"),
        ),
        (
            r#"{"sources":[{"name":1}]}"#,
            format!("{field} number into Go struct field StreamConfigRequest.sources.0.name of type string"),
        ),
        (
            r#"{"sources":[{"opt_start_time":"x"}]}"#,
            r#"parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006""#.into(),
        ),
        (
            r#"{"max_age":1.5}"#,
            format!("{field} number 1.5 into Go struct field StreamConfigRequest.max_age of type time.Duration"),
        ),
        (
            r#"{"consumer_limits":{"max_ack_pending":"x"}}"#,
            format!(
                "{field} string into Go struct field StreamConfigRequest.consumer_limits.max_ack_pending of type int"
            ),
        ),
        (r#"{"placement":{"foo":1}}"#, r#"json: unknown field "foo""#.into()),
        (r#"{"foo":1,"max_msgs":"x"}"#, r#"json: unknown field "foo""#.into()),
        (r#"{"name":"A",}"#, "invalid character '}' looking for beginning of object key string at offset 13".into()),
        (r#"{"name" "A"}"#, "invalid character '\"' after object key at offset 9".into()),
        (r#"{"max_msgs":01}"#, "invalid character '1' after object key:value pair at offset 14".into()),
        (r#"{"max_msgs":-}"#, "invalid character '}' in numeric literal at offset 14".into()),
        ("{\"name\":\"A\u{1}\"}", "invalid character '\\x01' in string at offset 11".into()),
        (r#"{"name":"\x"}"#, r"invalid escape sequence `\x` in string at offset 11".into()),
        (r#"{"subjects":["a" "b"]}"#, "invalid character '\"' after array element at offset 18".into()),
        ("\u{feff}{}", "invalid character '\\ufeff' looking for beginning of value at offset 3".into()),
        ("{name:1}", "invalid character 'n' looking for beginning of object key string at offset 2".into()),
        ("-", "unexpected EOF".into()),
    ] {
        assert_eq!(bad(body), text, "{body}");
    }
}

#[test]
fn a_choice_that_is_wrong_outruns_an_earlier_error() {
    assert_eq!(bad(r#"{"max_msgs":"x","retention":"y"}"#), r#"can not unmarshal "\"y\"""#);
}

#[test]
fn without_strictness_only_unknown_members_are_forgiven() {
    let config = decode::<Request>(br#"{"foo":{"bar":[1]},"max_msgs":7}"#, false).expect("forgiven");
    assert_eq!(config.config.max_msgs, 7);
    assert!(decode::<Request>(br#"{"max_msgs":"x"}"#, false).is_err());
}

#[test]
fn lenient_bodies_are_one_document() {
    let lenient = |body: &str| decode_lenient::<Request>(body.as_bytes());
    assert!(lenient(r#"{"foo":1,"pedantic":true}"#).is_ok_and(|r| r.pedantic));
    assert_eq!(lenient("").err().as_deref(), Some("unexpected end of JSON input"));
    assert_eq!(lenient("{").err().as_deref(), Some("unexpected end of JSON input"));
    assert_eq!(lenient("{}x").err().as_deref(), Some("invalid character 'x' after top-level value at offset 3"));
}

#[test]
fn empty_and_jsonish() {
    assert!(["", "{}", " { } "].iter().all(|body| is_empty_request(body.as_bytes())));
    assert!(["null", "[]", " ", "{\"a\":1}", "{}{}", "{"].iter().all(|body| !is_empty_request(body.as_bytes())));
    assert!(is_jsonish(b" \n{") && is_jsonish(b"[") && !is_jsonish(b"") && !is_jsonish(b"x{"));
}

#[test]
fn depth_is_bounded() {
    let deep = "[".repeat(1_000_000);
    assert_eq!(bad(&deep), format!("exceeded max depth at offset {}", MAX_DEPTH + 1));
    let nested = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    assert!(bad(&nested).starts_with("json: cannot unmarshal array"));
}

#[test]
fn escapes() {
    assert_eq!(good(r#"{"description":"\u00e9\n<&>\ud83d\ude00\ud800\/"}"#).description, "é\n<&>😀\u{fffd}/");
}

fn any_json() -> impl Strategy<Value = String> {
    let names =
        prop_oneof!["name|max_msgs|sources|metadata|subjects|retention|mirror|pedantic|placement", "[a-z]{1,3}"];
    let leaf = prop_oneof![
        Just("null".to_string()),
        Just("true".to_string()),
        "-?[0-9]{1,20}(\\.[0-9])?(e[0-9])?",
        "\"[ -~]{0,6}\"",
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            proptest::collection::vec((names.clone(), inner), 0..4).prop_map(|members| {
                let members: Vec<_> = members.iter().map(|(name, value)| format!("{name:?}:{value}")).collect();
                format!("{{{}}}", members.join(" , "))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_are_taken_calmly(body in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = decode::<Request>(&body, true);
        let _ = decode_lenient::<ConsumerConfig>(&body);
        let _ = (is_jsonish(&body), is_empty_request(&body));
    }

    #[test]
    fn any_document_is_taken_calmly(body in any_json()) {
        let _ = decode::<Request>(body.as_bytes(), true);
        let _ = decode::<Request>(body.as_bytes(), false);
    }

    /// Our syntax is serde_json's, apart from depth, and numbers that serde finds too big.
    #[test]
    fn syntax_agrees_with_serde(body in any_json(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(body.len() + 1);
        for body in [body.as_str(), body.get(..cut).unwrap_or("")] {
            let ours = syntax::document(body.as_bytes(), 0).is_ok_and(|end| syntax::skip_blanks(body.as_bytes(), end) == body.len());
            let theirs = serde_json::from_str::<serde::de::IgnoredAny>(body).is_ok();
            prop_assert_eq!(ours, theirs, "{}", body);
        }
    }

    /// What a configuration shows can be sent back.
    #[test]
    fn configurations_come_back(config in any_config()) {
        let shown = serde_json::to_vec(&config).expect("plain data");
        prop_assert_eq!(decode::<StreamConfig>(&shown, true), Ok(config));
    }
}

prop_compose! {
    fn any_config()(
        name in "[A-Z]{1,5}",
        subjects in proptest::collection::vec("[a-z.\"\\\\]{1,5}", 0..3),
        max_msgs in any::<i64>(),
        first_seq in any::<u64>(),
        metadata in proptest::collection::btree_map("\\PC{0,4}", "\\PC{0,4}", 0..3),
        sealed in any::<bool>(),
    ) -> StreamConfig {
        StreamConfig { name, subjects, max_msgs, first_seq, metadata, sealed, ..StreamConfig::default() }
    }
}
