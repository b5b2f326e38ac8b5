//! A broker of its own for each test, on a free port of the loopback interface, with an empty store.
#![allow(dead_code)] // Each test program uses its own part of this.

use postroom::{Broker, BrokerHandle, Settings};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// How long a test waits for something that must come.
pub const PATIENCE: Duration = Duration::from_secs(10);

pub struct TestBroker {
    handle: Option<BrokerHandle>,
    settings: Settings,
    _dir: tempfile::TempDir,
}

impl TestBroker {
    pub fn start() -> Self {
        Self::with(|_| {})
    }

    /// With settings changed by `adjust`.
    pub fn with(adjust: impl FnOnce(&mut Settings)) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut settings = Settings::default();
        settings.server.host = "127.0.0.1".into();
        settings.server.port = 0;
        settings.jetstream.store_dir = dir.path().join("store");
        adjust(&mut settings);
        let handle = Broker::start(settings.clone()).expect("the broker starts");
        Self { handle: Some(handle), settings, _dir: dir }
    }

    pub fn port(&self) -> u16 {
        self.handle.as_ref().expect("running").client_addr().port()
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port())
    }

    /// Stops it in order and starts it again on the same store.
    pub fn restart(&mut self) {
        if let Some(handle) = self.handle.take() {
            handle.shutdown();
        }
        self.handle = Some(Broker::start(self.settings.clone()).expect("the broker starts again"));
    }

    pub async fn client(&self) -> async_nats::Client {
        async_nats::connect(self.url()).await.expect("connected")
    }

    pub fn raw(&self) -> RawClient {
        RawClient::connect(self.port())
    }
}

/// A socket and what is said on it, line by line.
pub struct RawClient {
    reader: BufReader<TcpStream>,
    pub info: serde_json::Value,
}

impl RawClient {
    pub fn connect(port: u16) -> Self {
        let socket = TcpStream::connect(("127.0.0.1", port)).expect("connected");
        socket.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        socket.set_nodelay(true).expect("nodelay can be set");
        let mut client = Self { reader: BufReader::new(socket), info: serde_json::Value::Null };
        let line = client.line();
        client.info = serde_json::from_str(line.strip_prefix("INFO ").expect("INFO comes first")).expect("JSON");
        client
    }

    /// Connected, with what modern clients say.
    pub fn ready(port: u16) -> Self {
        let mut client = Self::connect(port);
        client.send(
            "CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true,\"protocol\":1}\r\n",
        );
        // The server says INFO once more behind the first PONG: with the second PONG it is past.
        client.ping();
        client.ping();
        client
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.reader.get_mut().write_all(bytes.as_ref()).expect("sent");
    }

    /// The next line, without its end.
    pub fn line(&mut self) -> String {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line).expect("a line in time");
        assert!(line.ends_with(b"\r\n"), "closed, or not a line: {:?}", String::from_utf8_lossy(&line));
        String::from_utf8_lossy(&line[..line.len() - 2]).into_owned()
    }

    /// `PING`, and whatever comes before its `PONG` (an INFO after the first one is left out).
    pub fn ping(&mut self) -> Vec<String> {
        self.send("PING\r\n");
        let mut before = Vec::new();
        loop {
            match self.line() {
                line if line == "PONG" => return before,
                line if line.starts_with("INFO ") => {}
                line => before.push(line),
            }
        }
    }

    /// Whatever comes until the server closes.
    pub fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        self.reader.read_to_end(&mut rest).expect("closed in time");
        String::from_utf8_lossy(&rest).into_owned()
    }
}
