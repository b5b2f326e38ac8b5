use super::{Act, Ctx, Mailbox, Outlet, Receive};
use actix_rt::ArbiterHandle;
use serde::Serialize;
use std::task;
use std::time::Duration;
use tokio_util::time::DelayQueue;

/// One alarm for whoever asked: the token it gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alarm(pub u64);

/// Asks for an [`Alarm`] after a time. Alarms cannot be taken back: whoever no longer cares ignores the token.
pub struct SetAlarm {
    pub after: Duration,
    pub token: u64,
    pub to: Outlet<Alarm>,
}

/// Where actors can live: an arbiter and its clock.
pub type Place = (ArbiterHandle, Mailbox<Timers>);

/// The clock of an arbiter: one timer wheel for all its actors, so that ten thousand pings are one timer of the runtime.
#[derive(Default)]
pub struct Timers {
    name: String,
    queue: DelayQueue<(u64, Outlet<Alarm>)>,
    rung: u64,
}

/// What the `Timers` actor shows.
#[derive(Serialize)]
pub struct TimersState {
    /// Alarms set and not yet rung.
    pub armed: usize,
    /// Alarms rung since the start.
    pub rung: u64,
}

impl Timers {
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

impl Act for Timers {
    const KIND: &'static str = "timers";
    type State = TimersState;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn observe(&self) -> TimersState {
        TimersState { armed: self.queue.len(), rung: self.rung }
    }

    fn wake(&mut self, _: &mut Ctx<Self>, task: &mut task::Context<'_>) {
        while let task::Poll::Ready(Some(expired)) = self.queue.poll_expired(task) {
            let (token, to) = expired.into_inner();
            self.rung += 1;
            to.send(Alarm(token));
        }
    }
}

impl Receive<SetAlarm> for Timers {
    fn receive(&mut self, alarm: SetAlarm, _: &mut Ctx<Self>) {
        // The wheel reaches about two years; who asks for more asks again.
        const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
        self.queue.insert((alarm.token, alarm.to), alarm.after.min(LONGEST));
    }
}
