use super::{Measures, Outlet};
use actix::prelude::{Message, Recipient};

/// An actor has begun: the `Stats` actor may probe it from now on. Its address dies with it.
pub struct Hello {
    pub kind: &'static str,
    pub name: String,
    pub probe: Recipient<Probe>,
}

/// Asks an actor's shell for a [`Snapshot`]. Not counted among the messages it handled.
#[derive(Clone)]
pub struct Probe {
    pub round: u64,
    pub to: Outlet<Snapshot>,
}

impl Message for Probe {
    type Result = ();
}

/// An actor as it was when the probe reached the head of its mailbox.
#[derive(Debug)]
pub struct Snapshot {
    pub round: u64,
    pub kind: &'static str,
    pub name: String,
    pub measures: Measures,
    /// The actor's own state, as JSON.
    pub state: serde_json::Value,
}
