//! Our thin layer over actix: what every actor of this house gets without asking.
//!
//! An actor of ours implements [`Act`] and one [`Receive`] per message. It lives inside a [`Hosted`] shell, which is
//! the actix actor proper: it counts and times what is handled, answers the probes of the `Stats` actor, catches
//! panics, and calls [`Act::wake`] each time the mailbox has been emptied, so that what many messages gathered can
//! leave as one.
//!
//! Others reach it through a [`Mailbox`] (all its messages) or an [`Outlet`] (one kind of message).

mod clock;
mod hosted;
mod mailbox;
mod measure;
mod probe;
mod timers;

#[cfg(test)]
pub(crate) mod ear;
#[cfg(test)]
mod tests;

pub use clock::{Clock, SharedClock, SystemClock};
pub use hosted::{Ctx, Ended, Hosted, House, launch, launch_here};
pub use mailbox::{Mailbox, Outlet};
pub use measure::Measures;
pub use probe::{Hello, Probe, Snapshot};
pub use timers::{Alarm, Place, SetAlarm, Timers};

use serde::Serialize;
use std::task;

/// What happens to an actor after one of its handlers panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterPanic {
    /// It ends; whoever launched it hears of it through [`Ended`] and recreates it from what is stored.
    Stop,
    /// It goes on: the message is lost, the state is known to be sound.
    Continue,
}

/// An actor: private state, and a mailbox through which alone the rest of the house reaches it.
pub trait Act: Sized + Unpin + 'static {
    /// The kind, as in `$SYS.ACTORS.<kind>.<name>`: lower case, one subject token.
    const KIND: &'static str;

    /// What it shows of itself: its own numbers, not its data.
    type State: Serialize + Send + 'static;

    /// The name among those of its kind; characters that a subject token cannot hold are replaced by `_` when shown.
    fn name(&self) -> String;

    /// The numbers it shows now.
    fn observe(&self) -> Self::State;

    fn started(&mut self, _ctx: &mut Ctx<Self>) {}

    /// Called on every wake, after the mailbox has been emptied. Sends what the messages gathered; an actor with a
    /// socket polls it here.
    fn wake(&mut self, _ctx: &mut Ctx<Self>, _task: &mut task::Context<'_>) {}

    /// The last call, also after a panic. Cannot await.
    fn stopped(&mut self) {}

    /// Called after a handler panicked; `message` is the panic's text, already logged and counted.
    fn panicked(&mut self, _message: &str) -> AfterPanic {
        AfterPanic::Stop
    }
}

/// Handles one kind of message. Work is bounded: what is long is sliced, and the next slice is asked for by message.
pub trait Receive<M>: Act {
    fn receive(&mut self, message: M, ctx: &mut Ctx<Self>);
}
