//! Connections: an actor for each client, and the listeners that bring them in.
//!
//! A Connection is a pump. On every wake it writes what has gathered, reads what is there, and works off the operations
//! it read: publishes go to the Router of its arbiter as one batch, together with the read buffer; everything else is
//! done on the spot, in order. It does not read while its buffer is lent: that is how a fast publisher is slowed.

mod closing;
mod handshake;
mod inbound;
mod listener;
mod operations;
mod options;
mod outbound;
mod ping;
mod pump;
mod reserved;
mod state;
mod subscriptions;
mod transport;

#[cfg(test)]
mod tests;

pub use listener::{
    BindError, Bound, CloseAll, Closed, ConnectionNotice, DrainConnections, EnterLameDuck, Listener, ListenerOptions,
    ListenerState, bind, launch_listener,
};
pub use options::Options;
pub use state::ConnectionState;
pub use transport::{Layer, Transport};

use crate::account::WhoIs;
use crate::actor::{Act, Alarm, Ctx, Mailbox, Outlet, Receive, SetAlarm, Timers};
use crate::auth::{Denied, Identity};
use crate::protocol::{CloseReason, Connect};
use crate::router::messages::RouterId;
use crate::router::{FromRouter, Routers};
use handshake::Phase;
use inbound::Inbound;
use outbound::Outbound;
use ping::Heartbeat;
use state::Counts;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task;
use std::time::{Duration, Instant};
use subscriptions::Subscriptions;

/// A client.
pub struct Connection {
    id: u64,
    peer: SocketAddr,
    options: Arc<Options>,
    routers: Routers,
    home: RouterId,
    own: Outlets,
    timers: Mailbox<Timers>,
    transport: Transport,
    inbound: Inbound,
    outbound: Outbound,
    subs: Subscriptions,
    /// What it said of itself; none before its CONNECT.
    connect: Option<Box<Connect>>,
    identity: Option<Identity>,
    phase: Phase,
    /// The routers know it.
    entered: bool,
    /// The next operation waits for the routers to settle changes.
    stalled: bool,
    first_pong: bool,
    heartbeat: Heartbeat,
    deadline: Option<WriteDeadline>,
    closing: Option<CloseReason>,
    counts: Counts,
    started: Instant,
    lame_duck: bool,
}

/// The parts of its own mailbox that a connection hands out.
struct Outlets {
    router: Outlet<FromRouter>,
    alarm: Outlet<Alarm>,
    judged: Outlet<Judged>,
    ended: Outlet<listener::ConnectionEnded>,
}

/// By when what waits now must be written.
struct WriteDeadline {
    at: Instant,
    /// Bytes ever written, once it is.
    goal: u64,
}

/// Who a client turned out to be.
struct Judged(Result<Identity, Denied>);

/// The server asks a connection to say that it is about to go.
#[derive(Clone, Copy, Debug)]
pub struct TellLameDuck;

/// The server ends a connection, without a word: a shutdown, a kick.
#[derive(Clone, Copy, Debug)]
pub struct Close(pub CloseReason);

/// A reload: other limits, other users. Who is on stays on.
#[derive(Clone, Debug)]
pub struct SetOptions(pub Arc<Options>);

/// What an alarm is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Timer {
    Ping,
    Auth,
    Write,
    Idle,
    Close,
}

/// What a connection is made of.
struct Parts {
    id: u64,
    peer: SocketAddr,
    options: Arc<Options>,
    routers: Routers,
    home: RouterId,
    timers: Mailbox<Timers>,
    transport: Transport,
    ended: Outlet<listener::ConnectionEnded>,
    /// There are too many already: it is told so, and closed.
    refused: bool,
}

impl Connection {
    fn new(own: &Mailbox<Self>, parts: Parts) -> Self {
        let Parts { id, peer, options, routers, home, timers, transport, ended, refused } = parts;
        let own = Outlets { router: own.outlet(), alarm: own.outlet(), judged: own.outlet(), ended };
        let phase = Phase::at_accept(&options, refused);
        Self {
            id,
            peer,
            options,
            routers,
            home,
            own,
            timers,
            transport,
            inbound: Inbound::default(),
            outbound: Outbound::default(),
            subs: Subscriptions::default(),
            connect: None,
            identity: None,
            phase,
            entered: false,
            stalled: false,
            first_pong: false,
            heartbeat: Heartbeat::default(),
            deadline: None,
            closing: None,
            counts: Counts::default(),
            started: Instant::now(),
            lame_duck: false,
        }
    }

    fn set_alarm(&self, timer: Timer, after: Duration, round: u32) {
        let token = u64::from(round) << 8 | timer as u64;
        self.timers.send(SetAlarm { after, token, to: self.own.alarm.clone() });
    }

    /// How log lines name it, as the reference does.
    fn label(&self) -> String {
        let label = format!("{} - cid:{}", self.peer, self.id);
        match &self.connect {
            Some(connect) if !connect.version.is_empty() || !connect.lang.is_empty() || !connect.name.is_empty() => {
                format!("{label} - \"v{}:{}:{}\"", connect.version, connect.lang, connect.name)
            }
            _ => label,
        }
    }
}

impl Act for Connection {
    const KIND: &'static str = "connection";
    type State = ConnectionState;

    fn name(&self) -> String {
        self.id.to_string()
    }

    fn observe(&self) -> ConnectionState {
        self.state()
    }

    fn started(&mut self, _: &mut Ctx<Self>) {
        tracing::debug!("{} - Client connection created", self.label());
        self.greet();
    }

    fn wake(&mut self, ctx: &mut Ctx<Self>, task: &mut task::Context<'_>) {
        self.pump(ctx, task);
    }

    fn stopped(&mut self) {
        self.part();
    }
}

impl Receive<FromRouter> for Connection {
    fn receive(&mut self, from: FromRouter, _: &mut Ctx<Self>) {
        match from {
            FromRouter::Deliver(deliver) => self.take_delivery(deliver),
            FromRouter::Ack(ack) => self.inbound.give_back(ack),
            FromRouter::Settled => self.subs.settled(),
            FromRouter::Limited { key, delivered } => {
                for message in self.subs.limited(key, delivered) {
                    self.outbound.say(message);
                }
            }
            FromRouter::Spent { key } => self.subs.spent(key),
        }
    }
}

impl Receive<Alarm> for Connection {
    fn receive(&mut self, Alarm(token): Alarm, ctx: &mut Ctx<Self>) {
        let round = (token >> 8) as u32;
        match token & 0xff {
            t if t == Timer::Ping as u64 => self.ping_alarm(round),
            t if t == Timer::Auth as u64 => self.auth_alarm(),
            t if t == Timer::Write as u64 => self.write_alarm(ctx),
            t if t == Timer::Idle as u64 => self.idle_alarm(),
            _ => self.close_alarm(ctx),
        }
    }
}

impl Receive<Judged> for Connection {
    fn receive(&mut self, Judged(verdict): Judged, _: &mut Ctx<Self>) {
        self.judged(verdict);
    }
}

impl Receive<TellLameDuck> for Connection {
    fn receive(&mut self, _: TellLameDuck, _: &mut Ctx<Self>) {
        self.tell_lame_duck();
    }
}

impl Receive<Close> for Connection {
    fn receive(&mut self, Close(reason): Close, _: &mut Ctx<Self>) {
        self.close(reason);
    }
}

impl Receive<WhoIs> for Connection {
    fn receive(&mut self, question: WhoIs, _: &mut Ctx<Self>) {
        question.answer(self.who());
    }
}

impl Receive<SetOptions> for Connection {
    fn receive(&mut self, SetOptions(options): SetOptions, _: &mut Ctx<Self>) {
        self.options = options;
    }
}
