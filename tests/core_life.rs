//! How connections come, stay and go: authentication, pings, limits, slow consumers, lame duck mode.

mod wire;
use postroom::auth::{AuthSettings, UserSettings};
use postroom::connection::{CloseAll, DrainConnections, EnterLameDuck};
use postroom::protocol::CloseReason;
use std::time::Duration;
use wire::*;

const REFUSED: [&str; 1] = ["-ERR 'Authorization Violation'"];

fn with_auth(auth: AuthSettings) -> Core {
    Setup { auth, auth_timeout: Duration::from_millis(300), ..Setup::default() }.start()
}

#[test]
fn a_user_must_give_the_password() {
    let core = with_auth(AuthSettings { user: "u".into(), password: "p".into(), ..AuthSettings::default() });
    let mut client = core.raw();
    assert_eq!(client.info["auth_required"], true);
    client.send("CONNECT {\"verbose\":true,\"user\":\"u\",\"pass\":\"p\"}\r\nPING\r\n");
    assert_eq!(client.until_pong(), ["+OK"]);
    for wrong in ["{\"user\":\"u\",\"pass\":\"x\"}", "{\"user\":\"x\",\"pass\":\"p\"}", "{}"] {
        assert_eq!(core.fatal(Some(wrong), ""), REFUSED, "{wrong}");
    }
    assert_eq!(core.fatal(None, "PING\r\n"), REFUSED, "nothing before CONNECT");
    client.send("CONNECT {\"pass\":\"wrong\"}\r\n");
    assert_eq!(client.rest(), REFUSED, "a second CONNECT is judged too");
}

#[test]
fn a_hashed_password_is_checked_elsewhere() {
    let hash = bcrypt::hash("secret", 4).expect("a cost within bounds");
    let core = with_auth(AuthSettings { token: hash, ..AuthSettings::default() });
    let heard = core.wire(Some("{\"verbose\":false,\"auth_token\":\"secret\"}"), "SUB a 1\r\nPUB a 1\r\nx\r\n");
    assert_eq!(heard, ["MSG a 1 1", "x"], "what follows waits for the judgement");
    assert_eq!(core.fatal(Some("{\"auth_token\":\"wrong\"}"), "PING\r\n"), REFUSED);
}

#[test]
fn who_says_nothing_is_sent_away() {
    let core = with_auth(AuthSettings { token: "t".into(), ..AuthSettings::default() });
    assert_eq!(core.raw().rest(), ["-ERR 'Authentication Timeout'"]);
}

#[test]
fn somebody_without_credentials_may_be_somebody() {
    let user = UserSettings { user: "guest".into(), password: "g".into() };
    let core = with_auth(AuthSettings { users: vec![user], no_auth_user: "guest".into(), ..AuthSettings::default() });
    assert_eq!(core.raw().info.get("auth_required"), None);
    assert_eq!(core.wire(None, "SUB a 1\r\n"), ["+OK"]);
    assert_eq!(core.fatal(Some("{\"user\":\"guest\",\"pass\":\"x\"}"), ""), REFUSED);
}

#[test]
fn a_silent_client_is_stale_and_one_that_answers_is_not() {
    let core = Setup::with(|s| s.server.ping_interval = Duration::from_millis(150)).start();
    for connect in ["", "CONNECT {\"verbose\":false}\r\n"] {
        let mut silent = core.raw();
        silent.send(connect);
        assert_eq!([silent.line(), silent.line()], ["PING", "PING"]);
        assert_eq!(silent.line(), "-ERR 'Stale Connection'");
        assert_eq!(silent.line(), "", "closed");
    }
    let mut lively = core.raw();
    lively.send("CONNECT {\"verbose\":false}\r\n");
    for _ in 0..5 {
        assert_eq!(lively.line(), "PING");
        lively.send("PONG\r\n");
    }
}

#[test]
fn there_is_room_for_so_many() {
    let core = Setup::with(|s| s.server.max_connections = 2).start();
    let (first, _second) = (core.quiet(), core.quiet());
    let mut third = core.raw();
    assert!(third.info.get("server_id").is_some(), "INFO comes first");
    assert_eq!(third.rest(), ["-ERR 'maximum connections exceeded'"]);
    drop(first);
    let room = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        let mut next = core.raw();
        next.send("CONNECT {\"verbose\":false}\r\nPING\r\n");
        next.until_pong().is_empty()
    });
    assert!(room, "once one has left");
    let none = Setup::with(|s| s.server.max_connections = -1).start();
    assert_eq!(none.raw().rest(), ["-ERR 'maximum connections exceeded'"]);
}

#[test]
fn a_reader_that_does_not_read_is_cut_and_nobody_else_suffers() {
    let core = Setup::with(|s| {
        s.server.max_pending = 1 << 20;
        s.server.write_deadline = Duration::from_secs(60);
    })
    .start();
    let mut lazy = core.quiet();
    lazy.send("SUB foo 1\r\n");
    lazy.flush();
    let (mut keen, mut publisher) = (core.quiet(), core.quiet());
    keen.send("SUB foo 1\r\n");
    keen.flush();
    let message = [b"PUB foo 100000\r\n".as_slice(), &[b'x'; 100_000], b"\r\n"].concat();
    let reading = std::thread::spawn(move || {
        for _ in 0..320 {
            assert_eq!(keen.line(), "MSG foo 1 100000");
            keen.bytes(100_002);
        }
    });
    for _ in 0..320 {
        publisher.send(&message);
    }
    assert_eq!(publisher.flush(), [""; 0]);
    reading.join().expect("the keen one gets all");
    let mut told = false;
    while let Ok(line) = lazy.try_line() {
        told |= line.contains("-ERR");
        if line.is_empty() {
            break;
        }
    }
    assert!(!told, "closed without a word");
}

#[test]
fn a_write_must_end_in_time() {
    let core = Setup::with(|s| s.server.write_deadline = Duration::from_millis(300)).start();
    let mut lazy = core.quiet();
    lazy.send("SUB foo 1\r\n");
    lazy.flush();
    let mut publisher = core.client(HEADERS);
    publisher.send("SUB in 1\r\n");
    let message = [b"PUB foo 1000000\r\n".as_slice(), &[b'x'; 1_000_000], b"\r\n"].concat();
    for _ in 0..16 {
        publisher.send(&message);
    }
    publisher.flush();
    let cut = (0..300).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        publisher.send("PUB foo in 0\r\n\r\n");
        !publisher.flush().is_empty()
    });
    assert!(cut, "its subscription is gone");
}

#[test]
fn a_lame_duck_says_so_and_lets_go_one_by_one() {
    let core = core();
    let (mut new, mut old) = (core.client("{\"verbose\":false,\"protocol\":1}"), core.quiet());
    assert!(new.line().contains("connect_info"));
    core.listener.send(EnterLameDuck);
    assert!(new.line().contains("\"ldm\":true"));
    assert_eq!(old.flush(), [""; 0], "protocol 0 is not told");
    assert!(std::net::TcpStream::connect(core.address).is_err(), "no new ones");
    new.send("SUB foo 1\r\n");
    new.flush();
    old.send("PUB foo 1\r\nx\r\n");
    old.flush();
    assert_eq!(new.line(), "MSG foo 1 1", "those who are there are served");
    core.listener.send(DrainConnections { over: Duration::from_millis(100), done: core.done.clone() });
    assert_eq!(core.closed.recv_timeout(Duration::from_secs(5)).expect("told").listener, "client");
    assert_eq!(old.rest(), [""; 0]);
}

#[test]
fn a_shutdown_ends_all_without_a_word() {
    let core = core();
    let mut client = core.quiet();
    core.listener.send(CloseAll { reason: CloseReason::ServerShutdown, done: core.done.clone() });
    core.closed.recv_timeout(Duration::from_secs(5)).expect("told");
    assert_eq!(client.rest(), [""; 0]);
}
