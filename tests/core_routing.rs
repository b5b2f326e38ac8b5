//! Who gets what: matching, queue groups, limits, echo, 503s, order (core reference 1.7, 1.10 and 2).

mod wire;
use wire::*;

fn publish(client: &mut Client, subject: &str, count: usize) {
    let lines: String = (0..count).map(|i| format!("PUB {subject} {}\r\n{i}\r\n", i.to_string().len())).collect();
    client.send(lines);
    client.flush();
}

/// Payloads that came since the last look, by sid.
fn came(client: &mut Client) -> Vec<(String, String)> {
    let lines = client.flush();
    let messages = lines.chunks(2).filter(|pair| pair[0].starts_with("MSG "));
    messages.map(|pair| (pair[0].split(' ').nth(2).unwrap_or_default().to_owned(), pair[1].clone())).collect()
}

#[test]
fn wildcards_match_token_by_token() {
    let core = core();
    let mut client = core.quiet();
    let patterns = ["a", "*", "*.*", "a.*", "a.>", ">", "*.b", "a.*.c", "a*"];
    for (sid, pattern) in patterns.iter().enumerate() {
        client.send(format!("SUB {pattern} {sid}\r\n"));
    }
    for (subject, expected) in [
        ("a", vec!["a", "*", ">"]),
        ("a.b", vec!["*.*", "a.*", "a.>", ">", "*.b"]),
        ("a.b.c", vec!["a.>", ">", "a.*.c"]),
        ("a*", vec!["*", ">", "a*"]),
        ("a.*", vec!["*.*", "a.*", "a.>", ">"]),
        ("a..b", vec![]),
        (".a", vec![]),
        ("a.", vec![]),
    ] {
        client.send(format!("PUB {subject} 1\r\nx\r\n"));
        let mut got: Vec<_> =
            came(&mut client).iter().map(|(sid, _)| patterns[sid.parse::<usize>().unwrap()]).collect();
        let mut expected = expected;
        got.sort_unstable();
        expected.sort_unstable();
        assert_eq!(got, expected, "{subject}");
    }
}

#[test]
fn one_of_a_queue_group_gets_each_message() {
    for arbiters in [1, 2] {
        let core = Setup::default().arbiters(arbiters).start();
        let (mut publisher, mut a, mut b, mut c) = (core.quiet(), core.quiet(), core.quiet(), core.quiet());
        // One group over different patterns, another beside it, and a plain subscription.
        a.send("SUB p.* q 1\r\nSUB p.x 2\r\n");
        b.send("SUB p.> q 1\r\nSUB p.x r 3\r\n");
        c.send("SUB p.x q 1\r\nSUB p.x r 3\r\n");
        for client in [&mut a, &mut b, &mut c] {
            client.flush();
        }
        publish(&mut publisher, "p.x", 300);
        let mut all = [came(&mut a), came(&mut b), came(&mut c)];
        // A flush of each covers what other arbiters had not handed over yet.
        for (got, client) in all.iter_mut().zip([&mut a, &mut b, &mut c]) {
            got.extend(came(client));
        }
        let count = |sid: &str| all.iter().map(|got| got.iter().filter(|(s, _)| s == sid).count()).collect::<Vec<_>>();
        assert_eq!(count("1").iter().sum::<usize>(), 300);
        assert!(count("1").iter().all(|&n| n > 0), "everybody has a share: {:?}", count("1"));
        assert_eq!((count("2").iter().sum::<usize>(), count("3").iter().sum::<usize>()), (300, 300));
    }
}

#[test]
fn a_limit_ends_a_subscription_exactly() {
    for arbiters in [1, 2] {
        let core = Setup::default().arbiters(arbiters).start();
        // Connections go to arbiters in turn: these two are on different ones, if there are two.
        let (mut publisher, mut client) = (core.quiet(), core.quiet());
        let mut round = |before: usize, ops: &str, after: usize| {
            client.send("SUB foo 1\r\n");
            client.flush();
            publish(&mut publisher, "foo", before);
            let mut got = came(&mut client).len();
            got += came(&mut client).len();
            client.send(ops);
            client.flush();
            publish(&mut publisher, "foo", after);
            got += came(&mut client).len() + came(&mut client).len();
            client.send("UNSUB 1\r\n");
            client.flush();
            got
        };
        assert_eq!(round(0, "UNSUB 1 3\r\n", 5), 3);
        assert_eq!(round(2, "UNSUB 1 3\r\n", 4), 3);
        assert_eq!(round(3, "UNSUB 1 2\r\n", 2), 3, "reached already");
        assert_eq!(round(0, "UNSUB 1 2\r\nUNSUB 1 4\r\n", 6), 4, "raised");
        assert_eq!(round(1, "UNSUB 1 5\r\nUNSUB 1 0\r\n", 3), 1, "0 is now");
        assert_eq!(round(1, "UNSUB 1 many\r\n", 3), 1);
    }
}

#[test]
fn a_sid_is_free_after_its_limit() {
    let core = core();
    let heard =
        core.wire(Some(QUIET), "SUB a 1\r\nUNSUB 1 1\r\nPUB a 1\r\nx\r\nSUB b 1\r\nPUB a 1\r\ny\r\nPUB b 1\r\nz\r\n");
    assert_eq!(heard, ["MSG a 1 1", "x", "MSG b 1 1", "z"]);
    let heard = core.wire(Some(QUIET), format!("SUB a 1\r\nUNSUB 1 2\r\nSUB b 1\r\n{}", "PUB a 1\r\nx\r\n".repeat(3)));
    assert_eq!(heard, ["MSG a 1 1", "x", "MSG a 1 1", "x"], "an ignored SUB leaves the limit alone");
}

#[test]
fn queue_members_with_limits_share_what_they_may_have() {
    let core = core();
    let (mut publisher, mut a, mut b) = (core.quiet(), core.quiet(), core.quiet());
    for client in [&mut a, &mut b] {
        client.send("SUB v q 1\r\nUNSUB 1 5\r\n");
        client.flush();
    }
    publish(&mut publisher, "v", 30);
    assert_eq!([came(&mut a).len(), came(&mut b).len()], [5, 5]);
}

#[test]
fn without_echo_own_messages_go_to_others_only() {
    let core = core();
    let mut mute = core.client(r#"{"verbose":false,"echo":false,"headers":true,"no_responders":true}"#);
    let mut other = core.quiet();
    mute.send("SUB foo 1\r\nSUB foo q 2\r\nSUB in 3\r\n");
    mute.flush();
    other.send("SUB foo q 1\r\n");
    other.flush();
    publish(&mut mute, "foo", 10);
    assert_eq!(came(&mut other).len(), 10);
    publish(&mut core.quiet(), "foo", 1);
    assert_eq!(came(&mut mute).len() + came(&mut other).len(), 2, "the plain one, and one of the group");
    mute.send("SUB alone 4\r\nPUB alone in 1\r\nx\r\n");
    assert_eq!(mute.flush()[1], "NATS/1.0 503", "only its own subscription");
}

#[test]
fn a_request_that_reaches_nobody_is_answered() {
    let core = core();
    let expected = ["HMSG in.1 7 35 35", "NATS/1.0 503", "Nats-Subject: a.b", "", ""];
    assert_eq!(core.wire(Some(HEADERS), "SUB in.* 7\r\nPUB a.b in.1 2\r\nhi\r\n"), expected);
    assert_eq!(core.wire(Some(HEADERS), "SUB in.1 7\r\nPUB a.b in.1 2\r\nhi\r\n"), expected);
    assert_eq!(core.wire(Some(HEADERS), "SUB in.* 7\r\nHPUB a.b in.1 12 14\r\nNATS/1.0\r\n\r\nhi\r\n"), expected);
    for silent in [
        "SUB in.* 7\r\nPUB a.b 2\r\nhi\r\n",
        "SUB in.* 7\r\nPUB a.b out.1 2\r\nhi\r\n",
        "SUB in.* q 7\r\nPUB a.b in.1 2\r\nhi\r\n",
    ] {
        assert_eq!(core.wire(Some(HEADERS), silent), [""; 0], "{silent}");
    }
    assert_eq!(core.wire(Some(QUIET), "SUB in.* 7\r\nPUB a.b in.1 2\r\nhi\r\n"), [""; 0], "not asked for");
    let heard = core.wire(
        Some(HEADERS),
        format!("SUB in.* 7\r\nUNSUB 7 1\r\n{}{}", "PUB a in.1 0\r\n\r\n".repeat(2), "PUB in.1 0\r\n\r\n".repeat(2)),
    );
    assert_eq!(heard.iter().filter(|line| line.starts_with("HMSG")).count(), 2, "they do not count: {heard:?}");
    assert_eq!(heard.iter().filter(|line| line.starts_with("MSG")).count(), 1);
}

#[test]
fn operations_of_one_write_take_effect_in_turn() {
    let core = core();
    let ops: String = (0..50).map(|i| format!("SUB x 1\r\nPUB x 2\r\n{i:02}\r\nUNSUB 1\r\nPUB x 1\r\n!\r\n")).collect();
    let heard = core.wire(Some(QUIET), ops);
    let expected: Vec<String> = (0..50).flat_map(|i| ["MSG x 1 2".to_owned(), format!("{i:02}")]).collect();
    assert_eq!(heard, expected);
}

#[test]
fn messages_keep_their_order_on_every_arbiter() {
    for arbiters in [1, 3] {
        let core = Setup::default().arbiters(arbiters).start();
        let mut readers: Vec<_> = (0..3).map(|_| core.quiet()).collect();
        for reader in &mut readers {
            reader.send("SUB load.* 1\r\nSUB load.> 2\r\nSUB load.a 3\r\n");
            reader.flush();
        }
        let writers: Vec<_> = ["a", "b", "c"].map(|name| (name, core.quiet())).into();
        std::thread::scope(|scope| {
            for (name, mut writer) in writers {
                scope.spawn(move || {
                    for i in 0..500 {
                        let payload = format!("{name}{i}");
                        writer.send(format!("PUB load.{name} {}\r\n{payload}\r\n", payload.len()));
                    }
                    writer.flush();
                });
            }
        });
        for reader in &mut readers {
            let mut got = came(reader);
            got.extend(came(reader));
            for (sid, names) in [("1", "abc"), ("2", "abc"), ("3", "a")] {
                for name in names.chars() {
                    let payloads = got.iter().filter(|(s, p)| s == sid && p.starts_with(name));
                    let numbers: Vec<usize> = payloads.map(|(_, p)| p[1..].parse().unwrap()).collect();
                    assert_eq!(numbers, (0..500).collect::<Vec<_>>(), "sid {sid}, publisher {name}");
                }
            }
        }
    }
}

#[test]
fn after_a_pong_a_subscription_is_known_to_everybody() {
    let core = Setup::default().arbiters(2).start();
    let (mut a, mut b) = (core.quiet(), core.quiet());
    for round in 0..200 {
        a.send(format!("SUB r.{round} {round}\r\n"));
        a.flush();
        b.send(format!("PUB r.{round} 1\r\nx\r\n"));
        assert_eq!((a.line(), a.line()), (format!("MSG r.{round} {round} 1"), "x".into()));
        a.send(format!("UNSUB {round}\r\n"));
        a.flush();
        b.send(format!("PUB r.{round} 1\r\ny\r\n"));
        b.flush();
        assert_eq!(a.flush(), [""; 0], "nothing after the PONG behind UNSUB");
    }
}

#[test]
fn a_connection_takes_its_subscriptions_with_it() {
    let core = core();
    let mut requester = core.client(HEADERS);
    requester.send("SUB in 1\r\n");
    let mut worker = core.quiet();
    worker.send("SUB work 1\r\n");
    worker.flush();
    requester.send("PUB work in 1\r\nx\r\n");
    assert_eq!(requester.flush(), [""; 0]);
    drop(worker);
    let gone = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        requester.send("PUB work in 1\r\nx\r\n");
        !requester.flush().is_empty()
    });
    assert!(gone, "503 once the worker is gone");
}

#[test]
fn subscribers_see_changes_of_others_at_once() {
    // Churn of patterns beside literals: what is remembered of a subject must not outlive a change.
    let core = core();
    let (mut publisher, mut reader) = (core.quiet(), core.quiet());
    for round in 0..100 {
        let pattern = ["k.a.b", "k.a.*", "k.*.b", "k.>", "*.a.b", ">"][round % 6];
        reader.send(format!("SUB {pattern} 1\r\n"));
        reader.flush();
        publish(&mut publisher, "k.a.b", 2);
        assert_eq!(came(&mut reader).len(), 2, "{pattern}");
        reader.send("UNSUB 1\r\n");
        reader.flush();
        publish(&mut publisher, "k.a.b", 2);
        assert_eq!(came(&mut reader).len(), 0, "{pattern}");
    }
}
