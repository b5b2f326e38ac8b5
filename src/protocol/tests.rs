use super::headers::{self, Builder};
use super::*;
use bytes::Bytes;
use proptest::prelude::*;
use std::borrow::Cow;

#[test]
fn info_is_one_line_in_the_known_order() {
    let info = ServerInfo {
        server_id: "NX".into(),
        server_name: "s1".into(),
        version: "2.15.1".into(),
        proto: 1,
        git_commit: "b2fd3ef".into(),
        go: "go1".into(),
        host: "127.0.0.1".into(),
        port: 4222,
        headers: true,
        max_payload: 1 << 20,
        client_id: 5,
        client_ip: "127.0.0.1".into(),
        api_lvl: 5,
        xkey: "XX".into(),
        ..Default::default()
    };
    let expected = concat!(
        r#"INFO {"server_id":"NX","server_name":"s1","version":"2.15.1","proto":1,"git_commit":"b2fd3ef","go":"go1","#,
        r#""host":"127.0.0.1","port":4222,"headers":true,"max_payload":1048576,"client_id":5,"#,
        r#""client_ip":"127.0.0.1","api_lvl":5,"xkey":"XX"} "#,
        "\r\n"
    );
    assert_eq!(String::from_utf8_lossy(&info.line()), expected);
    let full = ServerInfo { auth_required: true, jetstream: true, nonce: "n".into(), domain: "d".into(), ..info };
    let line = String::from_utf8(full.line()).expect("JSON is UTF-8");
    let place = |key: &str| line.find(key).unwrap_or_else(|| panic!("{key} is missing"));
    let order = [
        "headers",
        "auth_required",
        "max_payload",
        "jetstream",
        "client_id",
        "client_ip",
        "nonce",
        "domain",
        "api_lvl",
    ];
    assert!(order.windows(2).all(|pair| place(pair[0]) < place(pair[1])));
    let back: ServerInfo = serde_json::from_str(line.trim_start_matches("INFO ")).expect("our own line");
    assert_eq!(back, full);
}

#[test]
fn connect_without_options_has_three_on() {
    for json in ["{}", "null", " { } ", r#"{"unknown":[1,{"a":"b"}],"verbose":null}"#] {
        let connect = Connect::parse(json.as_bytes()).expect(json);
        assert!(connect.verbose && connect.pedantic && connect.echo && !connect.headers, "{json}");
        assert!(connect.is_anonymous());
    }
}

#[test]
fn connect_keys_match_in_any_case_and_the_last_wins() {
    let connect = Connect::parse(br#"{"USER":"a","Pass":"b","user":"c","Protocol":1,"NAME":"\u00e9"}"#).expect("valid");
    assert_eq!((connect.user.as_str(), connect.pass.as_str(), connect.protocol), ("c", "b", 1));
    assert_eq!(connect.name, "é");
    assert!(!format!("{connect:?}").contains("\"b\""));
    assert_eq!(Connect::parse(b"{\"name\":\"\xff\"}").expect("replaced").name, "\u{fffd}");
}

#[test]
fn connect_of_a_wrong_type_is_refused() {
    let bad = [
        "",
        "[1]",
        "1",
        "\"x\"",
        "{} x",
        "{}{}",
        "{",
        r#"{"verbose":"true"}"#,
        r#"{"verbose":1}"#,
        r#"{"user":1}"#,
        r#"{"protocol":1.0}"#,
        r#"{"protocol":"1"}"#,
        r#"{"protocol":9223372036854775808}"#,
        r#"{"tls_required":1}"#,
        r#"{"user":"a","pass":[]}"#,
    ];
    for json in bad {
        assert!(Connect::parse(json.as_bytes()).is_err(), "{json}");
    }
}

#[test]
fn a_second_connect_keeps_what_it_does_not_mention() {
    let mut connect = Connect::parse(br#"{"verbose":false,"user":"a","headers":true}"#).expect("valid");
    connect.update(br#"{"pedantic":false,"user":null}"#).expect("valid");
    assert!(!connect.verbose && !connect.pedantic && connect.headers && connect.user == "a");
    let before = connect.clone();
    assert!(connect.update(br#"{"user":"b","verbose":1}"#).is_err());
    assert_eq!(connect, before);
}

#[test]
fn connect_objections() {
    let objection = |json: &str, server_headers| {
        Connect::parse(json.as_bytes()).expect("valid").objection(server_headers).map(|error| error.to_string())
    };
    assert_eq!(objection("{}", true), None);
    assert_eq!(objection(r#"{"protocol":2,"no_responders":true}"#, true).as_deref(), Some("invalid client protocol"));
    assert_eq!(objection(r#"{"protocol":-1}"#, true).as_deref(), Some("invalid client protocol"));
    let wanted = Some("no responders requires headers support");
    assert_eq!(objection(r#"{"no_responders":true}"#, true).as_deref(), wanted);
    assert_eq!(objection(r#"{"no_responders":true,"headers":true}"#, true), None);
    assert_eq!(objection(r#"{"no_responders":true,"headers":true}"#, false).as_deref(), wanted);
    assert_eq!(objection(r#"{"account":"x"}"#, true).as_deref(), Some("Authorization Violation"));
}

#[test]
fn a_header_is_found_by_its_exact_name() {
    let block = b"NATS/1.0\r\nA: 1\r\nAB:  two \r\na: 3\r\nA: 4\r\nEmpty:\r\nno colon\r\nLast: x\r\n\r\nB: behind\r\n";
    assert_eq!(headers::get(block, "A"), Some(&b"1"[..]));
    assert_eq!(headers::get(block, "AB"), Some(&b"two "[..]));
    assert_eq!(headers::get(block, "a"), Some(&b"3"[..]));
    assert_eq!(headers::get(block, "Empty"), Some(&b""[..]));
    assert_eq!(headers::get(block, "Last"), Some(&b"x"[..]));
    assert_eq!(headers::get(block, "B"), Some(&b"behind"[..]));
    assert_eq!(headers::get(block, "NATS/1.0"), None);
    assert_eq!(headers::iter(block).count(), 7);
    for odd in [&b""[..], b"\r\n", b"\r\n\r\n", b"NATS/1.0", b"A: 1", b"A: 1\r\n", b"NATS/1.0\nA: 1\r\n"] {
        assert_eq!(headers::get(odd, "A"), None, "{odd:?}");
    }
    assert_eq!(headers::get(b"NATS/1.0\r\nA: unended", "A"), Some(&b"unended"[..]));
}

#[test]
fn status_lines() {
    assert_eq!(headers::status(b"NATS/1.0\r\n\r\n"), None);
    assert_eq!(headers::status(b"NATS/1.0 503\r\n\r\n"), Some((&b"503"[..], &b""[..])));
    assert_eq!(headers::status(b"NATS/1.0 404 No Messages\r\n\r\n"), Some((&b"404"[..], &b"No Messages"[..])));
    assert_eq!(headers::status(b"garbage"), None);
    assert_eq!(Builder::status(404, "No Messages").finish(), b"NATS/1.0 404 No Messages\r\n\r\n");
    assert_eq!(headers::no_responders(b"a.b"), b"NATS/1.0 503\r\nNats-Subject: a.b\r\n\r\n");
    assert_eq!(headers::no_responders(b"a.b").len(), 32 + 3);
}

#[test]
fn headers_are_appended_at_the_end() {
    let new = Builder::new().header("A", "1").number("N", 42u64).finish();
    assert_eq!(new, b"NATS/1.0\r\nA: 1\r\nN: 42\r\n\r\n");
    assert_eq!(Builder::extend(&new).header("B", b"\xff").finish(), b"NATS/1.0\r\nA: 1\r\nN: 42\r\nB: \xff\r\n\r\n");
    assert_eq!(Builder::extend(b"").header("B", "2").finish(), b"NATS/1.0\r\nB: 2\r\n\r\n");
    assert_eq!(Builder::extend(b"NATS/1.0\r\n\r\n").header("B", "2").finish(), b"NATS/1.0\r\nB: 2\r\n\r\n");
    assert_eq!(Builder::new().header("A", "1\r\nEvil: 2").finish(), b"NATS/1.0\r\nA: 1  Evil: 2\r\n\r\n");
}

#[test]
fn an_inline_status_is_not_stored() {
    let stored = |block: &'static [u8]| headers::normalize(block).into_owned();
    assert_eq!(stored(b"NATS/1.0 503 Foo\r\nA: b\r\n\r\n"), b"NATS/1.0\r\nA: b\r\n\r\n");
    assert_eq!(stored(b"NATS/1.0 503\r\n\r\n"), b"");
    assert_eq!(stored(b"NATS/1.0\r\n\r\n"), b"NATS/1.0\r\n\r\n");
    assert!(matches!(headers::normalize(b"NATS/1.0\r\nA: b\r\n\r\n"), Cow::Borrowed(_)));
    assert_eq!(stored(b"garbage"), b"garbage");
    assert_eq!(stored(b""), b"");
}

#[test]
fn stripping_headers() {
    let block = b"NATS/1.0\r\nNats-A: 1\r\nB: 2\r\nNats-C: 3\r\nNats-A: 4\r\n\r\n";
    assert_eq!(&headers::strip(block, "Nats-A")[..], b"NATS/1.0\r\nB: 2\r\nNats-C: 3\r\n\r\n");
    assert_eq!(&headers::strip_prefix(block, "Nats-")[..], b"NATS/1.0\r\nB: 2\r\n\r\n");
    assert!(matches!(headers::strip(block, "nats-a"), Cow::Borrowed(_)));
    assert_eq!(&headers::strip(b"NATS/1.0\r\nA: 1\r\n\r\n", "A")[..], b"");
    assert_eq!(&headers::strip(b"NATS/1.0 503\r\nA: 1\r\n\r\n", "A")[..], b"NATS/1.0 503\r\n\r\n");
}

#[test]
fn errors_are_worded_exactly() {
    let subject = Bytes::from_static(b"a.b");
    let text = |error: ProtocolError| String::from_utf8(error.line()).expect("text");
    assert_eq!(text(ProtocolError::UnknownProtocolOperation), "-ERR 'Unknown Protocol Operation'\r\n");
    assert_eq!(
        text(ProtocolError::PublishViolation { subject: subject.clone() }),
        "-ERR 'Permissions Violation for Publish to \"a.b\"'\r\n"
    );
    let queue = Bytes::from_static(b"q");
    assert_eq!(
        text(ProtocolError::QueueSubscriptionViolation { subject: subject.clone(), queue }),
        "-ERR 'Permissions Violation for Subscription to \"a.b\" using queue \"q\"'\r\n"
    );
    assert_eq!(
        text(ProtocolError::TooManyTokens { subject: subject.clone() }),
        "-ERR 'Permissions Violation for Subscription to \"a.b\", too many tokens'\r\n"
    );
    assert!(!ProtocolError::PublishViolation { subject }.closes() && !ProtocolError::InvalidSubject.closes());
    assert!(ProtocolError::StaleConnection.closes() && ProtocolError::MaximumControlLineExceeded.closes());
    assert_eq!(ProtocolError::AuthorizationViolation.reason().to_string(), "Authentication Failure");
    assert_eq!(CloseReason::SlowConsumerPendingBytes.to_string(), "Slow Consumer (Pending Bytes)");
}

#[test]
fn quotes_are_those_of_the_reference() {
    let raw = b"_GR_.a\"b\\\xff\xc3\xa9\x01\xc2\x80\xe2\x80\x8b\xf0\x9f\x98\x80\x7f";
    assert_eq!(quote(raw), "\"_GR_.a\\\"b\\\\\\xffé\\x01\\u0080\\u200b😀\\x7f\"");
    assert_eq!(quote(b"a b\r\n"), "\"a b\\r\\n\"");
}

#[test]
fn names_and_hashes() {
    let name = nuid();
    assert_eq!(name.len(), NUID_LENGTH);
    assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric()) && name != nuid());
    assert_eq!(short_hash("$G"), "szMpdrwD");
    assert_eq!(fresh_name().len(), 8);
}

#[test]
fn durations_are_written_as_go_writes_them() {
    let known = [
        (0, "0s"),
        (1, "1ns"),
        (1_100, "1.1µs"),
        (139_000, "139µs"),
        (1_500_000, "1.5ms"),
        (2_000_001, "2.000001ms"),
        (500_000_000, "500ms"),
        (1_500_000_000, "1.5s"),
        (9_000_000_000, "9s"),
        (60_000_000_000, "1m0s"),
        (90_000_000_000, "1m30s"),
        (3_600_000_000_000, "1h0m0s"),
        (3_661_000_000_001, "1h1m1.000000001s"),
        (-1_500_000_000, "-1.5s"),
        (i64::MAX, "2562047h47m16.854775807s"),
        (i64::MIN, "-2562047h47m16.854775808s"),
    ];
    for (nanos, text) in known {
        assert_eq!(GoDuration(nanos).to_string(), text);
        assert_eq!(text.parse(), Ok(GoDuration(nanos)));
    }
}

#[test]
fn durations_are_read_as_go_reads_them() {
    let good = [
        ("0", 0),
        ("+5s", 5_000_000_000),
        ("1h30m", 5_400_000_000_000),
        ("300ms", 300_000_000),
        (".5s", 500_000_000),
        ("1.s", 1_000_000_000),
        ("1us1µs1μs", 3_000),
        ("1.9999999999999999999999ns", 1),
        ("3s1h", 3_603_000_000_000),
        ("-0.5m", -30_000_000_000),
    ];
    for (text, nanos) in good {
        assert_eq!(text.parse(), Ok(GoDuration(nanos)), "{text}");
    }
    let bad = [
        ("", "time: invalid duration \"\""),
        ("3", "time: missing unit in duration \"3\""),
        ("-", "time: invalid duration \"-\""),
        ("s", "time: invalid duration \"s\""),
        (".s", "time: invalid duration \".s\""),
        ("1d", "time: unknown unit \"d\" in duration \"1d\""),
        ("1h 3s", "time: unknown unit \"h \" in duration \"1h 3s\""),
        ("9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""),
        ("99999999999999999999s", "time: invalid duration \"99999999999999999999s\""),
        ("3000000h", "time: invalid duration \"3000000h\""),
    ];
    for (text, error) in bad {
        assert_eq!(text.parse::<GoDuration>().map_err(|error| error.to_string()), Err(error.to_owned()), "{text}");
    }
}

#[test]
fn times_are_trimmed_and_utc() {
    let known = [
        (0, "1970-01-01T00:00:00Z"),
        (1_700_000_000_500_000_000, "2023-11-14T22:13:20.5Z"),
        (1_700_000_000_000_000_001, "2023-11-14T22:13:20.000000001Z"),
        (-1, "1969-12-31T23:59:59.999999999Z"),
        (i64::MAX, "2262-04-11T23:47:16.854775807Z"),
    ];
    for (nanos, text) in known {
        assert_eq!(Timestamp(nanos).to_string(), text);
        assert_eq!(text.parse(), Ok(Timestamp(nanos)));
        assert_eq!(serde_json::to_string(&Timestamp(nanos)).expect("plain"), format!("\"{text}\""));
    }
}

#[test]
fn the_zero_time_is_never() {
    assert_eq!(Timestamp::default().to_string(), "0001-01-01T00:00:00Z");
    for text in ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z", "0001-01-01T02:00:00+02:00"] {
        assert!(text.parse::<Timestamp>().expect(text).is_never(), "{text}");
    }
    assert_eq!(Option::<i64>::from(Timestamp::NEVER), None);
    assert_eq!(Timestamp::from(None), Timestamp::NEVER);
    assert!("0001-01-01T00:00:01Z".parse::<Timestamp>().is_ok_and(|time| !time.is_never()));
    assert_eq!("9999-12-31T23:59:59Z".parse(), Ok(Timestamp(i64::MAX)));
}

#[test]
fn offsets_are_understood_and_kept() {
    let time: OffsetTime = "2023-11-15T00:13:20.25+02:00".parse().expect("valid");
    assert_eq!(time.at.to_string(), "2023-11-14T22:13:20.25Z");
    assert_eq!(time.to_string(), "2023-11-15T00:13:20.25+02:00");
    assert_eq!("2023-11-14T22:13:20+00:00".parse::<OffsetTime>().expect("valid").to_string(), "2023-11-14T22:13:20Z");
    assert_eq!("2023-11-14T17:43:20-04:30".parse::<Timestamp>().expect("valid").to_string(), "2023-11-14T22:13:20Z");
    let json: OffsetTime = serde_json::from_str("\"2023-11-15T00:13:20+02:00\"").expect("valid");
    assert_eq!(json.offset, 7200);
}

#[test]
fn what_is_no_time_is_refused() {
    let bad = [
        "",
        "now",
        "2023-11-14",
        "2023-11-14T22:13:20",
        "2023-11-14 22:13:20Z",
        "2023-11-14t22:13:20z",
        "2023-11-14T22:13:60Z",
        "2023-13-14T22:13:20Z",
        "2023-02-30T22:13:20Z",
        "2023-11-14T24:13:20Z",
        "2023-11-14T22:13:20.Z",
        "2023-11-14T22:13:20+0200",
        "2023-11-14T22:13:20+24:00",
        "2023-11-14T22:13:20Zjunk",
        "2023-11-14T22:13:20+02:00[Europe/Berlin]",
        "é023-11-14T22:13:2",
    ];
    for text in bad {
        assert!(text.parse::<Timestamp>().is_err(), "{text}");
    }
    assert!(serde_json::from_str::<Timestamp>("5").is_err());
}

#[test]
fn outside_of_json_a_time_is_a_number() {
    let packed = rmp_serde::to_vec(&Timestamp(7)).expect("plain");
    assert_eq!(packed, [7]);
    assert_eq!(rmp_serde::from_slice::<Timestamp>(&packed).expect("our own"), Timestamp(7));
}

proptest! {
    #[test]
    fn durations_survive_their_text(nanos in any::<i64>()) {
        prop_assert_eq!(GoDuration(nanos).to_string().parse(), Ok(GoDuration(nanos)));
    }

    #[test]
    fn no_text_breaks_a_duration(text in "[-+]?([0-9.]{0,25}[a-zµ]{0,3}){0,3}") {
        let _ = text.parse::<GoDuration>();
    }

    #[test]
    fn times_survive_their_text(nanos in any::<i64>(), minutes in -1439..=1439i32) {
        let at = Timestamp(nanos);
        prop_assert_eq!(at.to_string().parse(), Ok(at));
        let shown = OffsetTime { at, offset: if at.is_never() { 0 } else { minutes * 60 } };
        prop_assert_eq!(shown.to_string().parse(), Ok(shown));
    }

    #[test]
    fn no_text_breaks_a_time(text in "\\PC{0,30}", digits in "[0-9T:.Z+-]{0,35}") {
        let _ = (text.parse::<Timestamp>(), digits.parse::<Timestamp>());
    }

    #[test]
    fn no_bytes_break_headers(block in prop::collection::vec(prop::sample::select(b"NA:\r\n 1/.".to_vec()), 0..40)) {
        let stripped = headers::strip(&block, "A").into_owned();
        prop_assert_eq!(headers::get(&stripped, "A"), None);
        let longer = Builder::extend(&block).header("Z", "z").finish();
        prop_assert!(longer.ends_with(b"Z: z\r\n\r\n"));
        let _ = (headers::status(&block), headers::normalize(&block));
    }

    #[test]
    fn what_is_built_is_read(values in prop::collection::vec("[a-z]{1,5}", 0..6)) {
        let mut builder = Builder::new();
        for (n, value) in values.iter().enumerate() {
            builder = builder.header(&format!("H{n}"), value);
        }
        let block = builder.finish();
        for (n, value) in values.iter().enumerate() {
            prop_assert_eq!(headers::get(&block, &format!("H{n}")), Some(value.as_bytes()));
        }
        prop_assert_eq!(headers::iter(&block).count(), values.len());
    }

    #[test]
    fn no_bytes_break_connect(json in prop::collection::vec(any::<u8>(), 0..60), text in "\\{(\"user\":\"[a-z]?\",?){0,2}\\}") {
        let _ = (Connect::parse(&json), Connect::parse(text.as_bytes()));
    }

    #[test]
    fn a_quoted_subject_never_ends_its_line(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let quoted = quote(&bytes);
        prop_assert!(!quoted.contains(['\r', '\n', '\0']));
    }
}
