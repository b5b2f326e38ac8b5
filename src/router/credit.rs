use super::client::{Ack, FromRouter};
use super::messages::Receipt;
use crate::actor::Outlet;
use ahash::RandomState;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// What a publisher waits for: the answer that lets it go on.
pub(super) enum Permit {
    /// A connection's read buffer.
    Batch { to: Outlet<FromRouter>, ack: Ack },
    /// A service's receipt.
    Receipt { to: Outlet<Receipt>, receipt: Receipt },
}

impl Permit {
    pub(super) fn grant(self) {
        match self {
            Self::Batch { to, ack } => to.send(FromRouter::Ack(ack)),
            Self::Receipt { to, receipt } => to.send(receipt),
        }
    }
}

/// Permits held back because of a destination that has too much before it. Connections wait for a while at most, so that
/// one dead reader does not stop its publishers; services wait until there is room or the reader is gone.
#[derive(Default)]
pub(super) struct Parking {
    by_destination: HashMap<u64, Vec<Parked>, RandomState>,
    /// Permits ever held back.
    pub(super) parked: u64,
}

struct Parked {
    permit: Permit,
    until: Option<Instant>,
}

impl Parking {
    pub(super) fn park(&mut self, destination: u64, permit: Permit, patience: Duration) {
        let until = matches!(permit, Permit::Batch { .. }).then(|| Instant::now() + patience);
        self.parked += 1;
        self.by_destination.entry(destination).or_default().push(Parked { permit, until });
    }

    /// The destination has room again, or is gone.
    pub(super) fn release(&mut self, destination: u64) {
        if self.by_destination.is_empty() {
            return;
        }
        for parked in self.by_destination.remove(&destination).unwrap_or_default() {
            parked.permit.grant();
        }
    }

    /// Grants what has waited long enough. Answers whether anything still waits for its time.
    pub(super) fn release_overdue(&mut self, now: Instant) -> bool {
        let mut timed = false;
        self.by_destination.retain(|_, parked| {
            let (overdue, rest): (Vec<_>, Vec<_>) =
                parked.drain(..).partition(|parked| parked.until.is_some_and(|until| until <= now));
            overdue.into_iter().for_each(|parked| parked.permit.grant());
            timed |= rest.iter().any(|parked| parked.until.is_some());
            *parked = rest;
            !parked.is_empty()
        });
        timed
    }

    /// Permits held back now.
    pub(super) fn waiting(&self) -> usize {
        self.by_destination.values().map(Vec::len).sum()
    }
}
