use super::jetstream::Streams;
use crate::actor::{Act, Alarm, Ctx, Mailbox, Receive, SetAlarm, Timers};
use crate::connection::{Closed, DrainConnections, EnterLameDuck, Listener};
use crate::logging;
use crate::settings::Settings;
use crate::signals::Signal;
use crate::store;
use actix_rt::Arbiter;
use serde::Serialize;
use tokio::sync::oneshot;

/// A signal has come, or the program asks for what it would do.
#[derive(Clone, Copy, Debug)]
pub struct Told(pub Signal);

/// The program asks for an orderly end.
#[derive(Clone, Copy, Debug)]
pub struct ShutDown;

/// What a broker is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Running,
    /// No new clients; the grace period runs.
    LameDuck,
    /// Clients are being closed one by one.
    Draining,
    /// Streams and consumers say goodbye.
    EndingStreams,
    /// All connections are being closed.
    ClosingConnections,
    /// What is staged gets to the disk.
    ClosingStore,
    Ended,
}

/// Those that the broker started and must end. Dropping an arbiter ends its thread.
pub struct Children {
    pub listener: Mailbox<Listener>,
    pub streams: Option<Streams>,
    pub arbiters: Vec<Arbiter>,
}

/// The root of the house: it outlives all others.
pub struct Broker {
    pub(super) own: Mailbox<Self>,
    pub(super) settings: Settings,
    pub(super) children: Children,
    pub(super) timers: Mailbox<Timers>,
    pub(super) stage: Stage,
    /// Told when the house is empty.
    pub(super) ended: Option<oneshot::Sender<()>>,
}

/// What the Broker shows.
#[derive(Serialize)]
pub struct BrokerState {
    pub stage: Stage,
    pub arbiters: usize,
}

impl Broker {
    pub(super) fn new(
        own: Mailbox<Self>,
        settings: Settings,
        children: Children,
        timers: Mailbox<Timers>,
        ended: oneshot::Sender<()>,
    ) -> Self {
        Self { own, settings, children, timers, stage: Stage::Running, ended: Some(ended) }
    }

    /// Core reference, section 1.13.
    fn enter_lame_duck(&mut self) {
        if self.stage != Stage::Running {
            return;
        }
        tracing::info!("Entering lame duck mode, stop accepting new clients");
        self.stage = Stage::LameDuck;
        self.children.listener.send(EnterLameDuck);
        let after = self.settings.server.lame_duck_grace_period;
        self.timers.send(SetAlarm { after, token: Stage::LameDuck as u64, to: self.own.outlet() });
    }

    fn drain(&mut self) {
        tracing::info!("Closing existing clients");
        self.stage = Stage::Draining;
        let server = &self.settings.server;
        let over = server.lame_duck_duration.saturating_sub(server.lame_duck_grace_period);
        self.children.listener.send(DrainConnections { over, done: self.own.outlet() });
    }
}

impl Act for Broker {
    const KIND: &'static str = "broker";
    type State = BrokerState;

    fn name(&self) -> String {
        "broker".into()
    }

    fn observe(&self) -> BrokerState {
        BrokerState { stage: self.stage, arbiters: self.children.arbiters.len() }
    }
}

impl Receive<Told> for Broker {
    fn receive(&mut self, Told(signal): Told, _: &mut Ctx<Self>) {
        match signal {
            Signal::LameDuck => self.enter_lame_duck(),
            // Whoever sent the one wants the clients to leave in peace.
            Signal::Term if matches!(self.stage, Stage::LameDuck | Stage::Draining) => {}
            Signal::Quit | Signal::Term | Signal::Stop => self.shut_down(),
            Signal::Reopen => match logging::reopen() {
                Ok(()) => tracing::info!("File log re-opened"),
                Err(error) => tracing::error!("cannot open the log file again: {error}"),
            },
            Signal::Reload => tracing::error!("Failed to reload server configuration: not supported yet"),
        }
    }
}

impl Receive<ShutDown> for Broker {
    fn receive(&mut self, _: ShutDown, _: &mut Ctx<Self>) {
        self.shut_down();
    }
}

impl Receive<Closed> for Broker {
    fn receive(&mut self, _: Closed, _: &mut Ctx<Self>) {
        match self.stage {
            Stage::Draining => self.shut_down(),
            Stage::ClosingConnections => self.close_store(),
            _ => {}
        }
    }
}

impl Receive<store::Closed> for Broker {
    fn receive(&mut self, _: store::Closed, _: &mut Ctx<Self>) {
        if self.stage == Stage::ClosingStore {
            self.end();
        }
    }
}

impl Receive<Alarm> for Broker {
    fn receive(&mut self, Alarm(token): Alarm, _: &mut Ctx<Self>) {
        if token == Stage::LameDuck as u64 && self.stage == Stage::LameDuck {
            self.drain();
        } else if token == super::shutdown::DEADLINE {
            self.give_up();
        } else if token == Stage::EndingStreams as u64 && self.stage == Stage::EndingStreams {
            self.close_connections();
        }
    }
}
