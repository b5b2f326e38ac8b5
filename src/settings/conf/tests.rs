use super::parser::{MAX_DEPTH, parse_text};
use super::*;
use crate::settings::{Settings, Sync};
use proptest::prelude::*;
use std::path::Path;

fn environment(name: &str) -> Option<String> {
    match name {
        "MPE" => Some("2kb".into()),
        "WORDS" => Some("one two".into()),
        "ROUND" => Some("$ABOUT".into()),
        "ABOUT" => Some("$ROUND".into()),
        _ => None,
    }
}

fn parse(text: &str) -> Result<Map, String> {
    parse_text(text, "a.conf", Path::new("/nowhere"), &environment).map_err(|e| e.to_string())
}

/// The value of the key `v`.
fn value(text: &str) -> Value {
    let map = parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    map.get("v").unwrap_or_else(|| panic!("{text}")).item.value.clone()
}

fn read(text: &str) -> Result<Document, String> {
    let map = parse(text)?;
    understand(&map, Path::new("a.conf")).map_err(|e| e.to_string())
}

#[test]
fn single_values() {
    use Value::{Bool, DateTime, Float, Integer, Text};
    let text = |t: &str| Text(t.into());
    let cases = [
        ("v: yes", Bool(true)),
        ("v = OFF", Bool(false)),
        ("v \"true\"", text("true")),
        ("v: 5", Integer(5)),
        ("v: -5k", Integer(-5000)),
        ("v: 1kb", Integer(1024)),
        ("v: 1KiB", Integer(1024)),
        ("v: 2mi", Integer(2 << 20)),
        ("v: 3e", Integer(3_000_000_000_000_000_000)),
        ("v: 1.5", Float(1.5)),
        ("v: -1.5", Float(-1.5)),
        ("v: 1.2.3", text("1.2.3")),
        ("v: 127.0.0.1", text("127.0.0.1")),
        ("v: -1.2.3", text("-1.2.3")),
        ("v: 10s", text("10s")),
        ("v: +5", text("+5")),
        ("v: 0x10", text("0x10")),
        ("v: 1_000", text("1_000")),
        ("v: 1kk", text("1kk")),
        ("v: 2020-01-01T00:00:00Z", DateTime("2020-01-01T00:00:00Z".into())),
        ("v: a#b", text("a#b")),
        ("v: http://h:1/p // x", text("http://h:1/p")),
        ("v: x\\ty", text("x\ty")),
        ("v: \"\\x41\\\"\"", text("A\"")),
        ("v: 'raw\\t'", text("raw\\t")),
        ("v: b$c", text("b$c")),
        ("v: $2a$11$abc", text("$2a$11$abc")),
        ("v: $MPE", Integer(2048)),
        ("v: (\nabc\n)\n", text("\nabc\n")),
        ("v: \"x\ny\"", text("x\ny")),
        ("v:", text("")),
        ("v: a\nv: b", text("b")),
        ("x: 1k\nm { x: 2 }\nv: $x", Integer(1000)),
    ];
    for (written, expected) in cases {
        assert_eq!(value(written), expected, "{written}");
    }
}

#[test]
fn inner_maps_see_outer_variables_first_their_own() {
    let map = parse("N: a\nm { N: b, v: $N }\nk { v: $N }").unwrap();
    let inner = |name: &str| match &map.get(name).unwrap().item.value {
        Value::Map(map) => map.get("v").unwrap().item.value.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!((inner("m"), inner("k")), (Value::Text("b".into()), Value::Text("a".into())));
    assert!(map.get("N").unwrap().used);
}

#[test]
fn grammar_errors_name_their_line() {
    let cases = [
        (
            "debug: true trace: true",
            "a.conf:1:13: Parse error on line 1: 'Expected a top-level value to end with a new line, comment or EOF, but got 't' instead.'",
        ),
        (
            "a: [b; c]",
            "a.conf:1:6: Parse error on line 1: 'Expected an array value terminator \",\" or an array terminator \"]\", but got ';' instead.'",
        ),
        ("a: [b,, c]", "a.conf:1:7: Parse error on line 1: 'Unexpected array value terminator ','.'"),
        ("\na { b: c", "a.conf:2:9: Parse error on line 2: 'Unexpected EOF processing map.'"),
        ("a:\n", "a.conf:1:3: Parse error on line 1: 'Expected value but found new line'"),
        ("a: -x", "a.conf:1:5: Parse error on line 1: 'Expected a digit but got 'x'.'"),
        ("= b", "a.conf:1:1: Parse error on line 1: 'Unexpected key separator '=''"),
        ("\na: $nope", "a.conf:2:4: variable reference for 'nope' on line 2 can not be found"),
        (
            "a: $ROUND",
            "a.conf:1:4: variable reference for 'ROUND' on line 1 could not be parsed: $ROUND:1:7: variable reference for 'ABOUT' on line 1 could not be parsed: $ABOUT:1:7: variable reference cycle for 'ROUND'",
        ),
        (
            "include x.conf",
            "a.conf:1:1: error parsing include file 'x.conf', open /nowhere/x.conf: no such file or directory",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(text).unwrap_err(), expected);
    }
    for text in [
        "a: \"\\q\"",
        "a: 1 kb",
        "a: 1.5s",
        "a: 1.",
        "a: .5",
        "a: 2020-01-01",
        "a: ( x )",
        "a: 'x",
        "a",
        "a: 99999999999999999999",
        "a: $WORDS",
        "a: \"\\xZZ\"",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn equal_meaning_has_an_equal_digest() {
    let digest = |text: &str| parse(text).unwrap().digest();
    // As the reference prints it with `-t`.
    assert_eq!(digest("debug: true"), "sha256:eca738dbc8155b8e2da07ff1a72a27aea10ba0fe3256289ad8b18ef5846bec7e");
    assert_eq!(digest("# c\n\"debug\" = on;"), digest("debug: true"));
    assert_eq!(
        digest("server_name: \"a<b>&\\x41ü\\x01\\t\""),
        "sha256:ffd5817102b6b53639b97e138958c4fcb06722aa2f1fd79accff755d19d526d5"
    );
    assert_eq!(
        digest("authorization: { timeout: 1.50 , timeout: 2}"),
        "sha256:f57eb29d3a6d2735e57acb0e75823fa801434a1c45709550cd1e3d283305c908"
    );
}

#[test]
fn nothing_grows_without_bound() {
    let deep = "a: ".to_string() + &"[".repeat(MAX_DEPTH + 1);
    assert_eq!(parse(&deep).unwrap_err(), format!("a.conf:1:{}: maps and lists are nested too deep", 4 + MAX_DEPTH));
    let doubling: String = (1..40).map(|i| format!("a{i}: [$a{0}, $a{0}]\n", i - 1)).collect();
    assert!(parse(&format!("a0: x\n{doubling}")).unwrap_err().ends_with("the configuration is too big"));
}

#[test]
fn includes_are_found_beside_their_file_and_end_somewhere() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    put("parts/users.conf", "users: [{user: a, password: b}]\ninclude more.conf");
    put("parts/more.conf", "timeout: 1");
    put("a.conf", "authorization { include ./parts/users.conf }\ninclude 'parts/name.conf'");
    put("parts/name.conf", "server_name: n\nbogus: 1");
    let path = folder.path().join("a.conf");
    let error = super::read(&path).unwrap_err().to_string();
    assert!(error.ends_with("parts/name.conf:2:1: unknown field \"bogus\""), "{error}");
    put("parts/name.conf", "server_name: n\nbogus: 1\nmax_payload: $bogus");
    let document = super::read(&path).unwrap();
    for key in ["auth.users", "auth.timeout", "server.name", "server.max_payload"] {
        assert!(document.layer.has(key), "{key}");
    }
    put("parts/name.conf", "include ../a.conf");
    assert!(super::read(&path).unwrap_err().to_string().contains("the file includes itself"));
}

#[test]
fn keys_that_are_wrong_are_told_all_at_once() {
    let error = read("bogus: 1\nmax_paylod: 1\ndebug: 5\nauthorization {\n user: 1\n}").unwrap_err();
    let expected = [
        "a.conf:1:1: unknown field \"bogus\"",
        "a.conf:2:1: unknown field \"max_paylod\", did you mean \"max_payload\"?",
        "a.conf:3:1: debug: expected a boolean, true or false, found an integer",
        "a.conf:5:2: user: expected a string, found an integer; put it in quotes",
    ];
    assert_eq!(error, expected.join("\n"));
    assert_eq!(read("leafnodes {}").unwrap_err(), "a.conf:1:1: \"leafnodes\" is not supported yet");
    assert_eq!(read("max_payload: 99999999999").unwrap_err(), "a.conf:1:1: max_payload value is too big");
    assert_eq!(read("listen: nowhere").unwrap_err(), "a.conf:1:1: could not parse address string \"nowhere\"");
}

#[test]
fn oddities_are_warnings() {
    let warned = |text: &str| read(text).unwrap().warnings.len();
    assert_eq!(warned("ping_interval: 2m"), 1);
    assert_eq!(warned("authorization { timeout: 90 }"), 1);
    assert_eq!(warned(""), 1);
    assert_eq!(warned("prof_port: 1"), 0);
}

#[test]
fn a_file_becomes_settings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.conf");
    let text = r#"
        listen: "[::1]:4333"; max_connections: 0, MAX_SUBS: 7
        server_tags: [A, "b"]; server_metadata { "Some.Key": x }
        write_deadline: 7s
        authorization {
            timeout: 1.5
            users: [ { user: a, password: $2a$11$x, permissions: { sub: "foo q", pub: { deny: [a, "b.>"] }, allow_responses: { max: 5, expires: "1m" } } } ]
        }
        jetstream { max_file: "10G", max_mem: 3000, sync: "10s", limits { duplicate_window: "1m", default_max_consumers: 3, batch { timeout: "5s" } } }
    "#;
    std::fs::write(&path, text).unwrap();
    let layer = super::read(&path).unwrap().layer;
    let defaults = config::Config::try_from(&Settings::default()).unwrap();
    let built = config::Config::builder().add_source(defaults).add_source(layer).build().unwrap();
    let s: Settings = built.try_deserialize().unwrap();
    assert_eq!(
        (s.server.host.as_str(), s.server.port, s.server.max_connections, s.server.max_subscriptions),
        ("::1", 4333, -1, 7)
    );
    assert_eq!(s.server.tags, ["a", "b"]);
    assert_eq!(s.server.metadata.get("Some.Key").map(String::as_str), Some("x"));
    assert_eq!(s.server.write_deadline.as_secs(), 7);
    assert_eq!(s.auth.timeout.as_millis(), 1500);
    let user = &s.auth.users[0];
    let permissions = user.permissions.as_ref().unwrap();
    assert_eq!(user.password.as_ref().unwrap().expose(), "$2a$11$x");
    assert_eq!(permissions.subscribe.as_ref().unwrap().allow.as_deref(), Some(&["foo q".to_string()][..]));
    assert_eq!(permissions.publish.as_ref().unwrap().deny, ["a", "b.>"]);
    assert_eq!(permissions.allow_responses.as_ref().unwrap().max, 5);
    assert!(s.jetstream.enabled && s.jetstream.sync == Sync::Interval);
    assert_eq!((s.jetstream.max_file, s.jetstream.max_memory), (Some(10 << 30), Some(3000)));
    assert_eq!((s.jetstream.limits.max_consumers_per_stream, s.jetstream.limits.batch.timeout.as_secs()), (3, 5));
}

proptest! {
    #[test]
    fn no_text_is_a_panic(text in ".*") {
        let _ = read(&text);
    }

    #[test]
    fn nothing_that_looks_like_a_file_is_a_panic(
        words in proptest::collection::vec(
            prop_oneof![
                Just("a"), Just("{"), Just("}"), Just("["), Just("]"), Just(":"), Just("="), Just("\n"), Just(","), Just("\""),
                Just("'"), Just("("), Just(")"), Just("$a"), Just("$MPE"), Just("include "), Just("#"), Just("\\x"), Just("-"),
                Just("1kb"), Just("1.5"), Just("2020-"), Just("é"), Just("users"), Just("authorization"), Just("jetstream"),
                Just("server_tags"), Just("limits"), Just("permissions"), Just(" "),
            ],
            0..40,
        )
    ) {
        let _ = read(&words.concat());
    }

    #[test]
    fn quoted_text_is_taken_as_it_is(text in "[^\"\\\\]*") {
        prop_assert_eq!(value(&format!("v: \"{text}\"")), Value::Text(text));
    }
}
