//! The client protocol on raw sockets: what is accepted, what is refused, and in which words (core reference 1.1 to 1.8).

mod wire;
use wire::*;

const VERBOSE: &str = r#"{"verbose":true,"pedantic":false,"headers":true}"#;
const PEDANTIC: &str = r#"{"verbose":false,"pedantic":true}"#;
const ALL: &str = r#"{"verbose":false,"pedantic":false,"headers":true}"#;

#[test]
fn info_comes_first_and_again_behind_the_first_pong() {
    let core = core();
    let mut client = core.raw();
    assert_eq!((client.info["client_id"].as_u64(), client.info["client_ip"].as_str()), (Some(5), Some("127.0.0.1")));
    assert!(client.info.get("connect_info").is_none());
    client.send("CONNECT {\"verbose\":false,\"protocol\":1}\r\nPING\r\nPING\r\n");
    assert_eq!(client.line(), "PONG");
    let second = client.line();
    assert!(
        second.starts_with("INFO ") && second.contains("\"connect_info\":true,\"remote_account\":\"$G\""),
        "{second}"
    );
    assert_eq!(client.line(), "PONG");
    client.send("PING\r\n");
    assert_eq!(client.line(), "PONG", "no third INFO");
}

#[test]
fn a_client_of_protocol_0_gets_one_info() {
    let core = core();
    let mut client = core.raw();
    client.send("CONNECT {\"verbose\":false,\"protocol\":0}\r\nPING\r\nPING\r\n");
    assert_eq!([client.line(), client.line()], ["PONG", "PONG"]);
}

#[test]
fn what_is_no_operation_ends_the_connection_with_a_word() {
    let core = core();
    let cases: [&[u8]; 19] = [
        b"FOO bar\r\n",
        b"PIN\r\n",
        b"PUBLISH foo 2\r\nhi\r\n",
        b"\r\n",
        b"SUB foo 1\r\n\r\n",
        b" PUB foo 2\r\nhi\r\n",
        b"SUBfoo 1\r\n",
        b"SUB foo 1\r\nPUB foo 2\r\nhiho\r\n",
        b"PUB foo 5\r\nhi\r\nPUB foo 1\r\nx\r\n",
        b"PUB foo 2\r\nhi\nPUB foo 2\r\nhi\r\n",
        b"MSG foo 1 2\r\nhi\r\n",
        b"HMSG foo 1 12 14\r\nNATS/1.0\r\n\r\nhi\r\n",
        b"RS+ A foo\r\n",
        b"RMSG A foo 2\r\nhi\r\n",
        b"A+ A\r\n",
        b"LS+ foo\r\n",
        b"LMSG foo 2\r\nhi\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x00\xff",
    ];
    for case in cases {
        let heard = core.fatal(Some(QUIET), case);
        assert_eq!(heard, ["-ERR 'Unknown Protocol Operation'"], "{}", String::from_utf8_lossy(case));
    }
    assert_eq!(core.fatal(Some(QUIET), "-ERR 'whatever'\r\n"), [""; 0]);
    let heard = core.fatal(Some(QUIET), "SUB foo 1\r\nPUB foo 2\r\nhi\r\nBOGUS\r\n");
    assert_eq!(heard, ["MSG foo 1 2", "hi", "-ERR 'Unknown Protocol Operation'"], "what came before stands");
}

#[test]
fn wrong_arguments_end_the_connection_without_a_word() {
    let core = core();
    let cases = [
        "PUB \r\n",
        "PUB foo\r\n",
        "PUB foo bar baz 2\r\nhi\r\n",
        "PUB foo two\r\nhi\r\n",
        "PUB foo -1\r\nhi\r\n",
        "PUB foo +2\r\nhi\r\n",
        "PUB foo 2.0\r\nhi\r\n",
        "PUB foo 0000000002\r\nhi\r\n",
        "SUB \r\n",
        "SUB foo\r\n",
        "SUB foo q 1 2\r\n",
        "UNSUB \r\n",
        "UNSUB 1 2 3\r\n",
        "HPUB foo 12\r\nNATS/1.0\r\n\r\n\r\n",
        "HPUB foo r x 12 12\r\nNATS/1.0\r\n\r\n\r\n",
        "HPUB foo 14 12\r\nNATS/1.0\r\n\r\n\r\n",
        "HPUB foo -1 12\r\nNATS/1.0\r\n\r\n\r\n",
        "HPUB foo x 12\r\nNATS/1.0\r\n\r\n\r\n",
        "INFO {nonsense}\r\n",
    ];
    for case in cases {
        assert_eq!(core.fatal(Some(ALL), case), [""; 0], "{case}");
    }
    assert_eq!(core.fatal(Some(QUIET), "HPUB foo 12 12\r\nNATS/1.0\r\n\r\n\r\n"), [""; 0], "headers not asked for");
}

#[test]
fn spelling_is_tolerated() {
    let core = core();
    assert_eq!(core.wire(Some(QUIET), "sUb foo 1\r\npuB foo 2\r\nhi\r\nunsub 1\r\n"), ["MSG foo 1 2", "hi"]);
    let heard = core.wire(Some(QUIET), "SUB \t foo\t\tq   7 \r\nPUB\tfoo   reply\t 2 \r\nhi\r\n");
    assert_eq!(heard, ["MSG foo 7 reply 2", "hi"]);
    assert_eq!(core.wire(Some(QUIET), "SUB foo 1\nPUB foo 2\nhi\r\nUNSUB 1\n"), ["MSG foo 1 2", "hi"]);
    assert_eq!(core.wire(Some(QUIET), "PONG abc\r\n+OK great\r\n+okay\r\n"), [""; 0]);
    let heard = core.wire(None, "CONNECT{\"verbose\":true}\r\nINFO{\"server_id\":\"x\"}\r\nSUB a 1\r\n");
    assert_eq!(heard, ["+OK", "+OK"]);
    let heard = core.wire(None, "SUB foo 1\r\nPUB foo 2\r\nhi\r\nUNSUB 1\r\n");
    assert_eq!(heard, ["+OK", "+OK", "MSG foo 1 2", "hi", "+OK"]);
    assert_eq!(core.fatal(None, "SUB foo 1\r\nHPUB foo 12 14\r\nNATS/1.0\r\n\r\nhi\r\n"), ["+OK"]);
    assert_eq!(core.wire(Some(QUIET), "SUB foo 1\r\nPUB foo 0002\r\nhi\r\n"), ["MSG foo 1 0002", "hi"]);
    for sid in ["abc-ü", "0001", "*"] {
        let heard = core.wire(Some(QUIET), format!("SUB foo {sid}\r\nPUB foo 1\r\nx\r\n"));
        assert_eq!(heard, [format!("MSG foo {sid} 1"), "x".into()]);
    }
}

#[test]
fn operations_may_come_in_any_pieces() {
    let core = core();
    let session = "SUB in.* 1\r\nPUB in.a re.ply 5\r\nhello\r\nHPUB in.b 18 23\r\nNATS/1.0\r\nA: b\r\n\r\nworld\r\nPUB in.c 0\r\n\r\nUNSUB 1\r\n";
    let whole = core.wire(Some(ALL), session);
    assert_eq!(whole.len(), 9, "{whole:?}");
    for cut in 1..session.len() {
        let mut client = core.client(ALL);
        client.send(&session[..cut]);
        std::thread::yield_now();
        client.send(&session[cut..]);
        assert_eq!(client.flush(), whole, "cut at {cut}");
    }
    let mut client = core.client(ALL);
    session.bytes().for_each(|byte| client.send([byte]));
    assert_eq!(client.flush(), whole, "byte by byte");
}

#[test]
fn payloads_are_bytes() {
    let core = core();
    let mut client = core.quiet();
    client.send("SUB foo 1\r\n");
    for payload in
        [b"".to_vec(), b"\0".to_vec(), b"\r\n\r\nPING\r\n".to_vec(), vec![b'z'; 65_537], vec![0xff; 1_048_576]]
    {
        let line = format!("PUB foo {}\r\n", payload.len());
        client.send([line.as_bytes(), &payload, b"\r\n"].concat());
        assert_eq!(client.line(), format!("MSG foo 1 {}", payload.len()));
        assert_eq!(client.bytes(payload.len()), payload);
        assert_eq!(client.bytes(2), b"\r\n");
    }
}

#[test]
fn verbose_clients_get_their_oks_in_order() {
    let core = Setup::with(|s| s.server.max_subscriptions = 2).start();
    let heard = core.wire(Some(VERBOSE), "SUB foo 1\r\nPUB foo 1\r\nx\r\nUNSUB 1\r\nPUB foo 1\r\ny\r\nUNSUB 1\r\n");
    assert_eq!(heard, ["+OK", "+OK", "+OK", "MSG foo 1 1", "x", "+OK", "+OK", "+OK"]);
    let heard = core.wire(Some(VERBOSE), "SUB a..b 1\r\nSUB a 1\r\nSUB b 2\r\nSUB c 3\r\n");
    assert_eq!(heard, ["+OK", "-ERR 'Invalid Subject'", "+OK", "+OK", "-ERR 'maximum subscriptions exceeded'"]);
    let heard = core.wire(Some(VERBOSE), "SUB a 1\r\nSUB b 1\r\nPUB b 1\r\nx\r\n");
    assert_eq!(heard, ["+OK"; 4], "the second SUB of a sid is ignored");
    let heard = core.wire(Some(VERBOSE), "SUB a 1\r\nCONNECT {\"verbose\":false}\r\nSUB a 1\r\nPUB a 1\r\nx\r\n");
    assert_eq!(heard, ["+OK", "+OK", "MSG a 1 1", "x"]);
    let heard = core.fatal(Some(VERBOSE), "SUB foo 1\r\nBOGUS\r\n");
    assert_eq!(heard, ["+OK", "+OK", "-ERR 'Unknown Protocol Operation'"]);
}

#[test]
fn a_pedantic_client_is_told_and_served() {
    let core = core();
    for (subject, fine) in
        [("foo", true), ("foo.*", false), (">", false), ("a..b", false), (".a", false), ("foo*", true)]
    {
        let heard = core.wire(Some(PEDANTIC), format!("PUB {subject} 1\r\nx\r\n"));
        assert_eq!(heard.is_empty(), fine, "{subject}: {heard:?}");
    }
    let heard = core.wire(Some(PEDANTIC), "SUB foo.> 1\r\nPUB foo.* 1\r\nx\r\n");
    assert_eq!(heard, ["-ERR 'Invalid Publish Subject'", "MSG foo.* 1 1", "x"]);
    assert_eq!(core.wire(Some(QUIET), "PUB foo.* 1\r\nx\r\n"), [""; 0]);
}

#[test]
fn connect_is_read_leniently_and_refused_silently() {
    let core = core();
    for fine in ["{}", "null", "{\"VERBOSE\":false}", "{\"verbose\":false,\"colour\":\"red\",\"deep\":{\"a\":[1]}}"] {
        assert!(!core.wire(None, format!("CONNECT {fine}\r\n")).contains(&"closed".into()), "{fine}");
    }
    for bad in
        ["{\"verbose\":1}", "{\"protocol\":\"1\"}", "[]", "\"x\"", "{\"verbose\":", "{\"verbose\":false} more", ""]
    {
        assert_eq!(core.fatal(None, format!("CONNECT {bad}\r\n")), [""; 0], "{bad}");
    }
    assert_eq!(core.fatal(None, "CONNECT {\"protocol\":2}\r\n"), ["-ERR 'invalid client protocol'"]);
    let heard = core.fatal(None, "CONNECT {\"no_responders\":true}\r\n");
    assert_eq!(heard, ["-ERR 'no responders requires headers support'"]);
    let heard = core.fatal(None, "CONNECT {\"account\":\"X\",\"new_account\":true}\r\n");
    assert_eq!(heard, ["-ERR 'Authorization Violation'"]);
}

#[test]
fn a_second_connect_drops_subscriptions_and_keeps_options() {
    let core = core();
    let heard = core.wire(
        Some(QUIET),
        "SUB foo 1\r\nPUB foo 1\r\na\r\nCONNECT {\"verbose\":false}\r\nPUB foo 1\r\nb\r\nSUB foo 1\r\nPUB foo 1\r\nc\r\n",
    );
    assert_eq!(heard, ["MSG foo 1 1", "a", "MSG foo 1 1", "c"]);
    let echoless = r#"{"verbose":false,"pedantic":false,"echo":false}"#;
    assert_eq!(core.wire(Some(echoless), "CONNECT {}\r\nSUB foo 1\r\nPUB foo 1\r\na\r\n"), [""; 0]);
}

#[test]
fn limits_are_told() {
    let core = Setup::with(|s| {
        s.server.max_control_line = 256;
        s.server.max_payload = 100;
        s.server.max_sub_tokens = 3;
    })
    .start();
    let a = |n| "a".repeat(n);
    assert_eq!(core.wire(Some(QUIET), format!("SUB {} 1\r\n", a(254))), [""; 0]);
    let over = ["-ERR 'maximum control line exceeded'"];
    assert_eq!(core.fatal(Some(QUIET), format!("SUB {} 1\r\n", a(255))), over);
    assert_eq!(core.wire(Some(QUIET), format!("PUB {} 0\r\n\r\n", a(254))), [""; 0]);
    assert_eq!(core.fatal(Some(QUIET), format!("PUB {} 0\r\n", a(255))), over);
    assert_eq!(core.fatal(Some(QUIET), format!("PUB {}", a(300))), over, "a line without an end");
    assert_eq!(core.fatal(None, format!("CONNECT {{\"name\":\"{}\"}}\r\n", a(246))), over);
    let over = ["-ERR 'Maximum Payload Violation'"];
    assert_eq!(core.fatal(Some(QUIET), "PUB foo 101\r\n"), over);
    assert_eq!(core.fatal(Some(ALL), "HPUB foo 18 101\r\n"), over);
    let heard = core.fatal(Some(QUIET), "SUB bar 1\r\nPUB bar 2\r\nhi\r\nPUB bar 101\r\n");
    assert_eq!(heard, ["MSG bar 1 2", "hi", "-ERR 'Maximum Payload Violation'"]);
    let heard = core.wire(Some(QUIET), "SUB a.b.c 1\r\nSUB a.b.c.d 2\r\nSUB a.*.c.> q 4\r\n");
    let text = |subject| format!("-ERR 'Permissions Violation for Subscription to \"{subject}\", too many tokens'");
    assert_eq!(heard, [text("a.b.c.d"), text("a.*.c.>")]);
}

#[test]
fn a_payload_limit_may_be_none_or_refuse_all() {
    let none = Setup::with(|s| s.server.max_payload = -1).start();
    assert_eq!(none.wire(Some(QUIET), "PUB foo 3\r\nabc\r\n"), [""; 0]);
    let all = Setup::with(|s| s.server.max_payload = -5).start();
    assert_eq!(all.fatal(Some(QUIET), "PUB foo 0\r\n\r\n"), ["-ERR 'Maximum Payload Violation'"]);
}

#[test]
fn headers_reach_those_who_take_them() {
    let core = core();
    let block = "NATS/1.0\r\nA: b\r\n\r\n";
    let publish = format!("HPUB foo re 18 22\r\n{block}body\r\n");
    let heard = core.wire(Some(ALL), format!("SUB foo 1\r\n{publish}"));
    assert_eq!(heard, ["HMSG foo 1 re 18 22", "NATS/1.0", "A: b", "", "body"]);
    let mut plain = core.quiet();
    plain.send("SUB foo 1\r\n");
    plain.flush();
    core.wire(Some(ALL), publish);
    assert_eq!(plain.flush(), ["MSG foo 1 re 4", "body"]);
    assert_eq!(core.wire(Some(ALL), "SUB foo 1\r\nHPUB foo 0 4\r\nbody\r\n"), ["MSG foo 1 4", "body"]);
    let off = Setup::with(|s| s.server.no_header_support = true).start();
    assert_eq!(off.fatal(Some(ALL), "HPUB foo 12 12\r\nNATS/1.0\r\n\r\n\r\n"), [""; 0]);
    assert_eq!(off.fatal(Some(HEADERS), ""), ["-ERR 'no responders requires headers support'"]);
}

#[test]
fn reserved_subjects_are_refused() {
    let core = core();
    for subject in ["_GR_.abc", "$GR.abc", "$NRG.V.x"] {
        let heard = core.wire(Some(QUIET), format!("SUB > 1\r\nPUB {subject} 1\r\nx\r\n"));
        assert_eq!(heard, [format!("-ERR 'Permissions Violation for Publish to \"{subject}\"'")]);
    }
    for reply in ["_R_.abc", "_GR_.abc", "$GR.abc", "$JS.ACK.s.c.1.1.1.1.1"] {
        let heard = core.wire(Some(QUIET), format!("SUB > 1\r\nPUB foo {reply} 1\r\nx\r\n"));
        assert_eq!(heard, [format!("-ERR 'Permissions Violation for Publish with Reply of \"{reply}\"'")]);
    }
    for subject in ["_R_.abc", "$JSC.x", "$SYS.x", "$KV.b.k", "_INBOX.x"] {
        let heard = core.wire(Some(QUIET), format!("SUB > 1\r\nPUB {subject} 1\r\nx\r\n"));
        assert_eq!(heard, [format!("MSG {subject} 1 1"), "x".into()]);
    }
    let heard = core.wire(Some(QUIET), "SUB foo _sys_ 1\r\n");
    assert_eq!(heard, ["-ERR 'Permissions Violation for Subscription to \"foo\" using queue \"_sys_\"'"]);
}

#[test]
fn subscriptions_are_checked() {
    let core = core();
    for bad in ["a..b", ".a", "a.", ".", ">.", ">.a", "a.>.b", "a.*."] {
        assert_eq!(core.wire(Some(QUIET), format!("SUB {bad} 1\r\n")), ["-ERR 'Invalid Subject'"], "{bad}");
    }
    for fine in ["a*", "*a", "a.*b", "a>", ">a", "ü.ñ", "a\0b", "'", "{{x}}"] {
        let heard = core.wire(Some(QUIET), format!("SUB {fine} 1\r\nPUB {fine} 1\r\nx\r\n"));
        assert_eq!(heard, [format!("MSG {fine} 1 1"), "x".into()]);
    }
}
