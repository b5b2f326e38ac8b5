use super::client::{Ack, FromRouter};
use super::credit::{Parking, Permit};
use super::directory::Directory;
use super::messages::RouterId;
use super::publish::Pending;
use super::routing::{Random, Round};
use super::switchboard::{Line, Switchboard};
use crate::actor::{Act, AfterPanic, Alarm, Ctx, House, Mailbox, Outlet, Receive, SetAlarm, Timers, launch};
use crate::settings::Settings;
use actix_rt::ArbiterHandle;
use serde::Serialize;
use std::sync::Arc;
use std::task;
use std::time::{Duration, Instant};

/// What a replica is to keep to. Sizes are bytes.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// A publisher waits while a destination of its batch has more than this before it.
    pub stall_above: usize,
    /// It goes on when this is left.
    pub stall_below: usize,
    /// It waits no longer than this; services wait on.
    pub stall_time: Duration,
}

impl From<&Settings> for Options {
    fn from(settings: &Settings) -> Self {
        let network = &settings.network;
        // A connection that is cut early must hold its publishers back earlier still (core reference 1.9: at 75 %).
        let stall_above = network.stall_above.min(settings.server.max_pending / 4 * 3).max(1);
        let stall_below = network.stall_below.min(stall_above / 2);
        let stall_time = if settings.server.no_fast_producer_stall { Duration::ZERO } else { network.stall_time };
        Self { stall_above, stall_below, stall_time }
    }
}

/// A replica of the Subject-Router.
pub struct Router {
    pub(super) id: RouterId,
    pub(super) options: Options,
    pub(super) directory: Directory,
    pub(super) round: Round,
    pub(super) parking: Parking,
    /// Granted at the end of the round, unless somebody is congested.
    pub(super) pending: Vec<Pending>,
    /// Whose batch is being routed.
    pub(super) publisher: Option<u64>,
    timers: Mailbox<Timers>,
    alarm: Outlet<Alarm>,
    alarm_set: bool,
}

/// What a replica shows.
#[derive(Serialize)]
pub struct RouterState {
    /// Connections and services.
    pub destinations: usize,
    pub subscriptions: usize,
    pub watches: usize,
    /// Messages published through this replica since the start.
    pub in_msgs: u64,
    /// Messages handed to destinations since the start; each copy counts.
    pub out_msgs: u64,
    /// Subjects whose subscribers are remembered.
    pub cached: usize,
    pub cache_hits: u64,
    pub cache_misses: u64,
    /// Publishers held back now, and ever.
    pub stalled: usize,
    pub stalls: u64,
}

impl Router {
    /// `replicas` is how many there are in all.
    pub fn new(own: &Mailbox<Self>, id: RouterId, replicas: usize, timers: Mailbox<Timers>, options: Options) -> Self {
        Self {
            id,
            options,
            directory: Directory::new(),
            round: Round {
                id,
                touched: Vec::new(),
                stall_above: options.stall_above,
                counted_here: replicas == 1,
                random: Random::new(),
                messages_in: 0,
                messages_out: 0,
            },
            parking: Parking::default(),
            pending: Vec::new(),
            publisher: None,
            timers,
            alarm: own.outlet(),
            alarm_set: false,
        }
    }

    fn set_alarm(&mut self) {
        if !self.alarm_set {
            self.alarm_set = true;
            self.timers.send(SetAlarm { after: self.options.stall_time, token: 0, to: self.alarm.clone() });
        }
    }
}

impl Act for Router {
    const KIND: &'static str = "router";
    type State = RouterState;

    fn name(&self) -> String {
        self.id.0.to_string()
    }

    fn observe(&self) -> RouterState {
        let (subscriptions, cached, cache_hits, cache_misses) = self.directory.numbers();
        RouterState {
            destinations: self.directory.destinations.len(),
            subscriptions,
            watches: self.directory.watches.len(),
            in_msgs: self.round.messages_in,
            out_msgs: self.round.messages_out,
            cached,
            cache_hits,
            cache_misses,
            stalled: self.parking.waiting(),
            stalls: self.parking.parked,
        }
    }

    /// The end of a round: deliveries first, then the permits, so that a publisher that is also a subscriber has its
    /// own messages before it goes on.
    fn wake(&mut self, _: &mut Ctx<Self>, _: &mut task::Context<'_>) {
        self.round.flush(&mut self.directory);
        for Pending { permit, congested } in std::mem::take(&mut self.pending) {
            let stall = matches!(permit, Permit::Receipt { .. }) || !self.options.stall_time.is_zero();
            let above = self.options.stall_above;
            let holder =
                congested.filter(|&id| stall && self.directory.destination(id).is_some_and(|d| d.unacked > above));
            match holder {
                None => permit.grant(),
                Some(id) => {
                    self.parking.park(id, permit, self.options.stall_time);
                    self.set_alarm();
                }
            }
        }
    }

    /// The message is lost. Its publisher gets a new buffer, so that it can go on.
    fn panicked(&mut self, _: &str) -> AfterPanic {
        if let Some(id) = self.publisher.take()
            && let Some(destination) = self.directory.destination(id)
        {
            destination.tell(FromRouter::Ack(Ack { buffer: Vec::new(), ops: Vec::new() }));
        }
        AfterPanic::Continue
    }
}

impl Receive<Alarm> for Router {
    fn receive(&mut self, _: Alarm, _: &mut Ctx<Self>) {
        self.alarm_set = false;
        if self.parking.release_overdue(Instant::now()) {
            self.set_alarm();
        }
    }
}

/// All replicas, by number.
#[derive(Clone, Debug)]
pub struct Routers(Arc<[Mailbox<Router>]>);

impl Routers {
    /// What concerns every replica goes to each of these.
    pub fn everyone(&self) -> impl Iterator<Item = &Mailbox<Router>> {
        self.0.iter()
    }

    /// The replica of an arbiter. Unknown numbers reach the first.
    pub fn at(&self, id: RouterId) -> &Mailbox<Router> {
        self.0.get(usize::from(id.0)).unwrap_or(&self.0[0])
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// How services see them.
    pub fn switchboard(&self) -> Switchboard {
        Switchboard::new(self.0.iter().map(Line::to).collect())
    }
}

/// Starts a replica on each arbiter. `timers` are the clocks of the same arbiters, in the same order.
pub fn launch_routers(on: &[(ArbiterHandle, Mailbox<Timers>)], house: &House, options: Options) -> Routers {
    let replicas = on.len();
    let start = |(number, (arbiter, timers)): (usize, &(ArbiterHandle, Mailbox<Timers>))| {
        let (id, timers) = (RouterId(number as u16), timers.clone());
        launch(arbiter, house, move |own| Router::new(&own, id, replicas, timers, options))
    };
    Routers(on.iter().enumerate().map(start).collect())
}
