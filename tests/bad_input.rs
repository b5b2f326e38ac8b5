//! What must not bring a broker down: garbage, floods, halves, bad names. Each gets its error, everybody else goes on.

mod support;

use postroom::{Broker, Settings};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use support::{RawClient, TestBroker};

/// Others are served as before.
fn goes_on(broker: &TestBroker) {
    let mut client = RawClient::ready(broker.port());
    client.send("SUB still.here 1\r\nPUB still.here 2\r\nhi\r\n");
    assert_eq!(client.ping(), ["MSG still.here 1 2", "hi"]);
}

fn api(client: &mut RawClient, subject: &str, body: &str) -> Value {
    client.send(format!("SUB answer 9\r\nPUB $JS.API.{subject} answer {}\r\n{body}\r\n", body.len()));
    let head = client.line();
    assert!(head.starts_with("MSG answer 9 "), "{head}");
    let answer = client.line();
    client.send("UNSUB 9\r\n");
    serde_json::from_str(&answer).expect("JSON")
}

#[test]
fn garbage_closes_only_its_own_connection() {
    let broker = TestBroker::start();
    for garbage in
        [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\x16\x03\x01\x02\x00\x01\x00", b"\0\0\0\0\r\n", b"MSG a 1 1\r\nx\r\n"]
    {
        let mut client = broker.raw();
        client.send(garbage);
        client.send("\r\n");
        assert!(client.rest().contains("-ERR 'Unknown Protocol Operation'"));
    }
    goes_on(&broker);
}

#[test]
fn limits_are_told() {
    let broker = TestBroker::start();
    let mut client = broker.raw();
    client.send(format!("PUB {} 0\r\n", "x".repeat(5000)));
    assert!(client.rest().contains("-ERR 'maximum control line exceeded'"));
    let mut client = broker.raw();
    client.send("CONNECT {}\r\nPUB x 2000000\r\n");
    assert!(client.rest().contains("-ERR 'Maximum Payload Violation'"));
    goes_on(&broker);
}

#[test]
fn half_lines_and_silence_hold_nobody_up() {
    let broker = TestBroker::start();
    let mut half = TcpStream::connect(("127.0.0.1", broker.port())).unwrap();
    half.write_all(b"CONNECT {\"verb").unwrap();
    let _silent = TcpStream::connect(("127.0.0.1", broker.port())).unwrap();
    let mut cut = RawClient::ready(broker.port());
    cut.send("PUB x 10\r\nabc");
    goes_on(&broker);
}

#[test]
fn a_flood_of_subscriptions_is_worked_off() {
    let broker = TestBroker::start();
    let mut client = RawClient::ready(broker.port());
    let flood: String = (0..20_000).map(|n| format!("SUB flood.{n}.* {n}\r\n")).collect();
    client.send(flood);
    client.send("PUB flood.19999.x 0\r\n\r\n");
    assert_eq!(client.ping(), ["MSG flood.19999.x 19999 0", ""]);
    goes_on(&broker);
}

#[test]
fn a_client_that_never_reads_is_cut_off() {
    let broker = TestBroker::with(|settings| settings.server.max_pending = 1 << 20);
    let mut lazy = RawClient::ready(broker.port());
    lazy.send("SUB flood 1\r\n");
    lazy.ping();
    let mut busy = RawClient::ready(broker.port());
    let message = format!("PUB flood 65536\r\n{}\r\n", "x".repeat(65536));
    for _ in 0..400 {
        busy.send(&message);
    }
    assert!(busy.ping().is_empty());
    // What was on its way still comes, then the end; not all of it, or there would have been no limit.
    assert!(lazy.rest().len() < 400 * 65536);
    goes_on(&broker);
}

#[test]
fn bad_api_requests_get_their_error() {
    let broker = TestBroker::start();
    let mut client = RawClient::ready(broker.port());
    for body in ["{", "nonsense", "{\"name\":5}", "{\"nmae\":\"S\"}", "[1,2", "{\"name\":\"S\"} trailing", "\u{0}"] {
        let answer = api(&mut client, "STREAM.CREATE.S", body);
        assert_eq!(answer["error"]["err_code"], 10025, "{body}: {answer}");
        let text = answer["error"]["description"].as_str().unwrap();
        assert!(text.starts_with("invalid JSON: "), "{text}");
    }
    let deep = "[".repeat(100_000);
    assert_eq!(api(&mut client, "STREAM.CREATE.S", &deep)["error"]["err_code"], 10025);
    goes_on(&broker);
}

#[test]
fn bad_stream_names_and_subjects_are_refused() {
    let broker = TestBroker::start();
    let mut client = RawClient::ready(broker.port());
    let long = "x".repeat(300);
    for (name, code) in [("x/y", 10128), ("a\\b", 10128), (long.as_str(), 10052), ("a\u{0}b", 0)] {
        let body = json!({"name": name, "subjects": ["ok"]}).to_string();
        let answer = api(&mut client, &format!("STREAM.CREATE.{name}"), &body);
        match code {
            // As the reference: a name may hold what no file name could, ours is not one.
            0 => assert_eq!(answer["config"]["name"], name),
            _ => assert_eq!(answer["error"]["err_code"], code, "{name}: {answer}"),
        }
    }
    for subject in ["", ".", "a..b", "a b", "a.>.b", "$JS.API.>", ">"] {
        let body = json!({"name": "S", "subjects": [subject]}).to_string();
        let answer = api(&mut client, "STREAM.CREATE.S", &body);
        assert!(answer["error"]["err_code"].is_number(), "{subject:?}: {answer}");
    }
    goes_on(&broker);
}

#[test]
fn a_store_that_cannot_be_used_is_told_at_start() {
    let broker = TestBroker::start();
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut settings = Settings::default();
    (settings.server.host, settings.server.port) = ("127.0.0.1".into(), 0);
    settings.jetstream.store_dir = file.path().join("store");
    let error = Broker::start(settings).expect_err("a file is no directory").to_string();
    assert!(error.contains("store"), "{error}");
    goes_on(&broker);
}

#[test]
fn a_second_broker_on_the_same_store_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    (settings.server.host, settings.server.port) = ("127.0.0.1".into(), 0);
    settings.jetstream.store_dir = dir.path().into();
    let first = Broker::start(settings.clone()).expect("the first starts");
    let error = Broker::start(settings.clone()).expect_err("the second does not").to_string();
    assert!(error.contains(&dir.path().display().to_string()), "{error}");
    first.shutdown();
    Broker::start(settings).expect("free again").shutdown();
}
