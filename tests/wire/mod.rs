//! A house with nothing but routers and a listener, and a client that speaks bytes.
#![allow(dead_code)] // Each test binary uses its part.

use actix_rt::{Arbiter, System};
use postroom::actor::{Act, Ctx, House, Mailbox, Outlet, Receive, Timers, launch, launch_here};
use postroom::auth::{AuthSettings, Users};
use postroom::connection::{self, Closed, Listener, ListenerOptions, bind, launch_listener};
use postroom::protocol::ServerInfo;
use postroom::router::{self, Routers, launch_routers};
use postroom::settings::Settings;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// A running core, ended when dropped.
pub struct Core {
    pub address: SocketAddr,
    pub routers: Routers,
    pub listener: Mailbox<Listener>,
    pub closed: mpsc::Receiver<Closed>,
    pub done: Outlet<Closed>,
    system: System,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// Passes messages on to a test.
pub struct Ear<M>(pub mpsc::Sender<M>);

impl<M: Send + 'static> Act for Ear<M> {
    const KIND: &'static str = "ear";
    type State = ();

    fn name(&self) -> String {
        "ear".into()
    }

    fn observe(&self) {}
}

impl<M: Send + 'static> Receive<M> for Ear<M> {
    fn receive(&mut self, message: M, _: &mut Ctx<Self>) {
        self.0.send(message).ok();
    }
}

/// What a test changes.
pub struct Setup {
    pub settings: Settings,
    pub auth: AuthSettings,
    pub auth_timeout: Duration,
    pub arbiters: usize,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            auth: AuthSettings::default(),
            auth_timeout: Duration::from_secs(2),
            arbiters: 1,
        }
    }
}

pub fn core() -> Core {
    Setup::default().start()
}

impl Setup {
    /// With other settings.
    pub fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let mut setup = Self::default();
        change(&mut setup.settings);
        setup
    }

    pub fn arbiters(mut self, arbiters: usize) -> Self {
        self.arbiters = arbiters;
        self
    }

    pub fn start(self) -> Core {
        let bound = bind("127.0.0.1", 0, 128).expect("a free port");
        let address = bound.address();
        let (tell, told) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let system = System::new();
            system.block_on(async move {
                let house = House::default();
                let arbiters: Vec<_> = (0..self.arbiters)
                    .map(|number| {
                        let arbiter = Arbiter::new().handle();
                        let timers = launch(&arbiter, &house, move |_| Timers::new(number.to_string()));
                        (arbiter, timers)
                    })
                    .collect();
                let routers = launch_routers(&arbiters, &house, router::Options::from(&self.settings));
                let info = ServerInfo {
                    server_id: "NTEST".into(),
                    server_name: "test".into(),
                    version: "2.15.1".into(),
                    proto: 1,
                    host: "127.0.0.1".into(),
                    port: address.port(),
                    ..ServerInfo::default()
                };
                let users = Users::new(&self.auth).expect("settings that agree");
                let options = connection::Options::new(&self.settings, info, users, self.auth_timeout);
                let options = ListenerOptions {
                    name: "client".into(),
                    connections: Arc::new(options),
                    max_connections: self.settings.server.max_connections,
                    first_id: 5,
                    id_step: 1,
                    arbiters: arbiters.clone(),
                    registry: None,
                };
                let listener = launch_listener(&arbiters[0], &house, bound, routers.clone(), options);
                let (closed, heard) = mpsc::channel();
                let done = launch_here(&house, |_| Ear::<Closed>(closed)).outlet();
                tell.send((routers, listener, heard, done, System::current())).ok();
            });
            system.run().ok();
        });
        let (routers, listener, closed, done, system) = told.recv().expect("it starts");
        Core { address, routers, listener, closed, done, system, thread: Some(thread) }
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.system.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// A client that reads lines and writes bytes. Reading gives up after five seconds.
pub struct Client {
    reader: BufReader<TcpStream>,
    pub info: serde_json::Value,
}

pub const QUIET: &str = r#"{"verbose":false,"pedantic":false}"#;
pub const HEADERS: &str = r#"{"verbose":false,"pedantic":false,"headers":true,"no_responders":true}"#;

impl Core {
    /// A client that has read INFO and said nothing.
    pub fn raw(&self) -> Client {
        let socket = TcpStream::connect(self.address).expect("it listens");
        socket.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
        socket.set_nodelay(true).expect("an open socket");
        let mut client = Client { reader: BufReader::new(socket), info: serde_json::Value::Null };
        let line = client.line();
        let json = line.strip_prefix("INFO ").expect("INFO comes first");
        client.info = serde_json::from_str(json).expect("INFO is JSON");
        client
    }

    /// A client that has said CONNECT and got its first PONG.
    pub fn client(&self, connect: &str) -> Client {
        let mut client = self.raw();
        client.send(format!("CONNECT {connect}\r\n"));
        client.flush();
        client
    }

    pub fn quiet(&self) -> Client {
        self.client(QUIET)
    }

    /// One connection as the oracle's `wire` does it: all lines up to the PONG.
    pub fn wire(&self, connect: Option<&str>, data: impl AsRef<[u8]>) -> Vec<String> {
        let mut client = self.raw();
        if let Some(connect) = connect {
            client.send(format!("CONNECT {connect}\r\n"));
        }
        client.send(data);
        client.send("PING\r\n");
        client.until_pong()
    }

    /// One connection whose data ends it: all lines up to the end.
    pub fn fatal(&self, connect: Option<&str>, data: impl AsRef<[u8]>) -> Vec<String> {
        let mut client = self.raw();
        if let Some(connect) = connect {
            client.send(format!("CONNECT {connect}\r\n"));
        }
        client.send(data);
        client.rest()
    }
}

impl Client {
    pub fn send(&mut self, data: impl AsRef<[u8]>) {
        // A server that has closed already is seen when reading.
        self.reader.get_mut().write_all(data.as_ref()).ok();
    }

    /// The next line without its end; empty at the end of the connection.
    pub fn line(&mut self) -> String {
        self.try_line().expect("a line within five seconds")
    }

    pub fn try_line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        match self.reader.read_until(b'\n', &mut line) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
            Err(error) => return Err(error),
            Ok(_) => {}
        }
        Ok(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned())
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.reader.read_exact(&mut bytes).expect("so many bytes within five seconds");
        bytes
    }

    /// All lines up to and including the next PONG; `closed` if the connection ends before.
    pub fn until_pong(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self.line();
            match line.as_str() {
                "" if self.reader.buffer().is_empty() && self.is_closed() => {
                    lines.push("closed".into());
                    return lines;
                }
                "PONG" => return lines,
                "PING" => {}
                _ if line.starts_with("INFO ") => {}
                _ => lines.push(line),
            }
        }
    }

    /// Sends a PING and reads to its PONG: everything sent before is in effect. Answers with the lines in between.
    pub fn flush(&mut self) -> Vec<String> {
        self.send("PING\r\n");
        self.until_pong()
    }

    /// All lines up to the end.
    pub fn rest(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self.line();
            if line.is_empty() && self.reader.buffer().is_empty() && self.is_closed() {
                return lines;
            }
            if line != "PING" && !line.starts_with("INFO ") {
                lines.push(line);
            }
        }
    }

    fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        match self.reader.get_ref().peek(&mut byte) {
            Ok(count) => count == 0,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock && error.kind() != io::ErrorKind::TimedOut,
        }
    }
}
