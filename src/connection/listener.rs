use super::{Close, Connection, ConnectionState, Options, Parts, TellLameDuck, Transport};
use crate::actor::{Act, Alarm, Ctx, House, Mailbox, Outlet, Place, Receive, SetAlarm, Timers, launch};
use crate::protocol::CloseReason;
use crate::router::Routers;
use crate::router::messages::RouterId;
use ahash::RandomState;
use serde::Serialize;
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;
use tokio::net::TcpStream;

/// Connections accepted in one wake: the arbiter has others to serve.
const ACCEPTS_PER_WAKE: usize = 64;
/// After a failed accept (out of descriptors, mostly) the listener waits so long, then twice as long, up to a second.
const FIRST_BACKOFF: Duration = Duration::from_millis(10);
const LONGEST_BACKOFF: Duration = Duration::from_secs(1);
/// In lame duck mode connections are closed no further apart than this.
const LONGEST_GAP: Duration = Duration::from_secs(1);

/// A socket that listens, not yet served.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

impl Bound {
    /// With the port that was picked, if any would do.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// The address cannot be listened on. Shows itself as the reference's log line.
#[derive(Debug, thiserror::Error)]
#[error("Error listening on port: {host}:{port}, \"listen tcp {host}:{port}: {what}\"")]
pub struct BindError {
    host: String,
    port: u16,
    what: String,
    #[source]
    source: io::Error,
}

/// Begins to listen; port 0 takes any free one. `backlog` is how many connections the system may hold for us.
pub fn bind(host: &str, port: u16, backlog: u32) -> Result<Bound, BindError> {
    let open = || -> io::Result<Bound> {
        let address = (host, port).to_socket_addrs()?.next().ok_or(io::ErrorKind::AddrNotAvailable)?;
        let socket = socket2::Socket::new(socket2::Domain::for_address(address), socket2::Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&address.into())?;
        socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        let listener = TcpListener::from(socket);
        let address = listener.local_addr()?;
        Ok(Bound { listener, address })
    };
    open().map_err(|source| {
        let what = match source.kind() {
            io::ErrorKind::AddrInUse => "bind: address already in use".to_owned(),
            io::ErrorKind::AddrNotAvailable => "bind: cannot assign requested address".to_owned(),
            io::ErrorKind::PermissionDenied => "bind: permission denied".to_owned(),
            _ => source.to_string(),
        };
        BindError { host: host.to_owned(), port, what, source }
    })
}

/// What a listener is to do.
pub struct ListenerOptions {
    /// Shown as the actor's name, such as `client`.
    pub name: String,
    /// What its connections keep to.
    pub connections: Arc<Options>,
    /// At one time; a negative number refuses all.
    pub max_connections: i64,
    /// The first client id it gives out, and the step to the next: listeners of one house count past each other.
    pub first_id: u64,
    pub id_step: u64,
    /// Where its connections live; in the order of the routers.
    pub arbiters: Vec<Place>,
    /// Who hears of connections that come and go.
    pub registry: Option<Outlet<ConnectionNotice>>,
}

/// A connection has come or gone.
#[derive(Debug)]
pub enum ConnectionNotice {
    Opened { id: u64, connection: Mailbox<Connection> },
    Closed { id: u64, reason: CloseReason, state: Box<ConnectionState> },
}

/// A connection tells its listener that it has ended.
#[derive(Debug)]
pub struct ConnectionEnded {
    pub id: u64,
    pub reason: CloseReason,
    pub state: Box<ConnectionState>,
}

/// The server is about to go: accept no more, and let those know who understand it.
#[derive(Clone, Copy, Debug)]
pub struct EnterLameDuck;

/// Close all connections, one by one, spread over a time. `done` hears of it when none is left.
#[derive(Debug)]
pub struct DrainConnections {
    pub over: Duration,
    pub done: Outlet<Closed>,
}

/// Accept no more and close all connections now. `done` hears of it when none is left.
#[derive(Debug)]
pub struct CloseAll {
    pub reason: CloseReason,
    pub done: Outlet<Closed>,
}

/// A listener has no connections, and takes no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    pub listener: String,
}

/// Accepts connections and knows those it accepted.
pub struct Listener {
    options: ListenerOptions,
    /// Not yet registered with the arbiter's reactor.
    bound: Option<Bound>,
    /// Absent once it accepts no more.
    socket: Option<tokio::net::TcpListener>,
    routers: Routers,
    house: House,
    ended: Outlet<ConnectionEnded>,
    alarm: Outlet<Alarm>,
    timers: Mailbox<Timers>,
    connections: HashMap<u64, Mailbox<Connection>, RandomState>,
    next_id: u64,
    next_arbiter: usize,
    /// The last wait after a failed accept; none after a success.
    backoff: Option<Duration>,
    /// It is waiting.
    paused: bool,
    /// Connections are being closed one by one, so far apart.
    gap: Option<Duration>,
    done: Option<Outlet<Closed>>,
    accepted: u64,
    refused: u64,
}

/// What a listener shows.
#[derive(Serialize)]
pub struct ListenerState {
    /// Open now.
    pub connections: usize,
    /// Since the start.
    pub accepted: u64,
    /// Since the start, for want of room.
    pub refused: u64,
    pub listening: bool,
}

/// Two things a listener waits for.
const ACCEPT_AGAIN: Alarm = Alarm(0);
const CLOSE_NEXT: Alarm = Alarm(1);

/// Serves a bound socket. `on` is the arbiter of the listener itself.
pub fn launch_listener(
    on: &Place,
    house: &House,
    bound: Bound,
    routers: Routers,
    options: ListenerOptions,
) -> Mailbox<Listener> {
    let (timers, own_house) = (on.1.clone(), house.clone());
    launch(&on.0, house, move |own| Listener {
        next_id: options.first_id,
        options,
        bound: Some(bound),
        socket: None,
        routers,
        house: own_house,
        ended: own.outlet(),
        alarm: own.outlet(),
        timers,
        connections: HashMap::default(),
        next_arbiter: 0,
        backoff: None,
        paused: false,
        gap: None,
        done: None,
        accepted: 0,
        refused: 0,
    })
}

impl Listener {
    fn admit(&mut self, socket: TcpStream, peer: SocketAddr) {
        // The socket moves to the reactor of another arbiter.
        let Ok(socket) = socket.set_nodelay(true).and_then(|()| socket.into_std()) else { return };
        let id = self.next_id;
        self.next_id += self.options.id_step.max(1);
        let room = usize::try_from(self.options.max_connections).unwrap_or(0);
        let refused = self.connections.len() >= room;
        let place = self.next_arbiter % self.options.arbiters.len().max(1);
        self.next_arbiter = place + 1;
        let Some((arbiter, timers)) = self.options.arbiters.get(place) else { return };
        let (options, routers) = (self.options.connections.clone(), self.routers.clone());
        let (timers, ended, home) = (timers.clone(), self.ended.clone(), RouterId(place as u16));
        let connection = launch(arbiter, &self.house, move |own| {
            let transport = match TcpStream::from_std(socket) {
                Ok(socket) => Transport::Tcp(socket),
                // It reads as closed, so that the connection ends the ordinary way.
                Err(_) => Transport::Layered(Box::new(tokio::io::empty())),
            };
            let parts = Parts { id, peer, options, routers, home, timers, transport, ended, refused };
            Connection::new(&own, parts)
        });
        if refused {
            self.refused += 1;
            return;
        }
        self.accepted += 1;
        if let Some(registry) = &self.options.registry {
            registry.send(ConnectionNotice::Opened { id, connection: connection.clone() });
        }
        self.connections.insert(id, connection);
    }

    fn stop_accepting(&mut self) {
        self.socket = None;
        self.bound = None;
    }

    fn set_alarm(&self, after: Duration, Alarm(token): Alarm) {
        self.timers.send(SetAlarm { after, token, to: self.alarm.clone() });
    }

    fn close_next(&mut self) {
        let Some(gap) = self.gap else { return };
        if let Some(connection) = self.connections.values().next() {
            connection.send(Close(CloseReason::ServerShutdown));
        }
        if !self.connections.is_empty() {
            // Between half of it and all of it.
            self.set_alarm(gap.mul_f64(0.5 + rand::random::<f64>() / 2.0), CLOSE_NEXT);
        }
    }

    fn tell_if_done(&mut self) {
        if self.connections.is_empty()
            && let Some(done) = self.done.take()
        {
            done.send(Closed { listener: self.options.name.clone() });
        }
    }
}

impl Act for Listener {
    const KIND: &'static str = "listener";
    type State = ListenerState;

    fn name(&self) -> String {
        self.options.name.clone()
    }

    fn observe(&self) -> ListenerState {
        ListenerState {
            connections: self.connections.len(),
            accepted: self.accepted,
            refused: self.refused,
            listening: self.socket.is_some(),
        }
    }

    fn started(&mut self, _: &mut Ctx<Self>) {
        let Some(bound) = self.bound.take() else { return };
        match tokio::net::TcpListener::from_std(bound.listener) {
            Ok(socket) => self.socket = Some(socket),
            Err(error) => tracing::error!("cannot serve {}: {error}", bound.address),
        }
    }

    fn wake(&mut self, _: &mut Ctx<Self>, task: &mut task::Context<'_>) {
        if self.paused {
            return;
        }
        for _ in 0..ACCEPTS_PER_WAKE {
            let Some(socket) = &self.socket else { return };
            match socket.poll_accept(task) {
                Poll::Pending => return,
                Poll::Ready(Ok((socket, peer))) => {
                    self.backoff = None;
                    self.admit(socket, peer);
                }
                Poll::Ready(Err(error)) => {
                    let wait = self.backoff.map_or(FIRST_BACKOFF, |wait| (wait * 2).min(LONGEST_BACKOFF));
                    (self.backoff, self.paused) = (Some(wait), true);
                    tracing::error!("Temporary Client Accept Error ({error}), sleeping {}ms", wait.as_millis());
                    self.set_alarm(wait, ACCEPT_AGAIN);
                    return;
                }
            }
        }
        task.waker().wake_by_ref();
    }
}

impl Receive<Alarm> for Listener {
    fn receive(&mut self, alarm: Alarm, _: &mut Ctx<Self>) {
        match alarm {
            ACCEPT_AGAIN => self.paused = false,
            _ => self.close_next(),
        }
    }
}

impl Receive<ConnectionEnded> for Listener {
    fn receive(&mut self, ended: ConnectionEnded, _: &mut Ctx<Self>) {
        let ConnectionEnded { id, reason, state } = ended;
        if self.connections.remove(&id).is_some()
            && let Some(registry) = &self.options.registry
        {
            registry.send(ConnectionNotice::Closed { id, reason, state });
        }
        self.tell_if_done();
    }
}

impl Receive<EnterLameDuck> for Listener {
    fn receive(&mut self, _: EnterLameDuck, _: &mut Ctx<Self>) {
        self.stop_accepting();
        self.connections.values().for_each(|connection| connection.send(TellLameDuck));
    }
}

impl Receive<DrainConnections> for Listener {
    fn receive(&mut self, drain: DrainConnections, _: &mut Ctx<Self>) {
        self.stop_accepting();
        self.done = Some(drain.done);
        let count = u32::try_from(self.connections.len()).unwrap_or(u32::MAX);
        self.gap = Some((drain.over / count.max(1)).min(LONGEST_GAP));
        self.close_next();
        self.tell_if_done();
    }
}

impl Receive<CloseAll> for Listener {
    fn receive(&mut self, close: CloseAll, _: &mut Ctx<Self>) {
        self.stop_accepting();
        self.done = Some(close.done);
        self.connections.values().for_each(|connection| connection.send(Close(close.reason)));
        self.tell_if_done();
    }
}
