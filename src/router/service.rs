//! What services ask of a replica.

use super::client::{Changes, Drained, Enter, FromRouter, Leave};
use super::destination::{Destination, Kind};
use super::messages::{AskInterest, Dismiss, Enlist, Interest, Listen, Release, Unlisten, Unwatch, Watch};
use super::replica::Router;
use super::subscription::{Sid, Subscription, UNLIMITED};
use crate::actor::{Ctx, Outlet, Receive};

/// Services are held back by their publishers' credit alone: nothing for them is ever dropped.
const NO_LIMIT: usize = usize::MAX / 2;

impl Receive<Enter> for Router {
    fn receive(&mut self, enter: Enter, _: &mut Ctx<Self>) {
        let Enter { id, account, port, traits, max_pending } = enter;
        // One that starts afresh owes nothing: whoever waited for it goes on.
        self.parking.release(id);
        self.directory.enter(Destination::new(id, account, Kind::Connection { port, traits }, max_pending));
    }
}

impl Receive<Leave> for Router {
    fn receive(&mut self, leave: Leave, _: &mut Ctx<Self>) {
        self.part_with(leave.id);
    }
}

impl Receive<Changes> for Router {
    fn receive(&mut self, changes: Changes, _: &mut Ctx<Self>) {
        for change in changes.list.iter() {
            self.directory.change(changes.id, change, self.round.counted_here);
        }
        if let Some(destination) = self.directory.destination(changes.id) {
            destination.flush(self.id);
            destination.tell(FromRouter::Settled);
        }
    }
}

impl Receive<Drained> for Router {
    fn receive(&mut self, drained: Drained, _: &mut Ctx<Self>) {
        self.worked_off(drained.id, drained.bytes);
    }
}

impl Receive<Enlist> for Router {
    fn receive(&mut self, enlist: Enlist, _: &mut Ctx<Self>) {
        let Enlist { id, account, port } = enlist;
        let kind = Kind::Service { port, incoming: Vec::new() };
        self.parking.release(id.0);
        self.directory.enter(Destination::new(id.0, account, kind, NO_LIMIT));
    }
}

impl Receive<Dismiss> for Router {
    fn receive(&mut self, dismiss: Dismiss, _: &mut Ctx<Self>) {
        self.part_with(dismiss.id.0);
    }
}

impl Receive<Listen> for Router {
    fn receive(&mut self, listen: Listen, _: &mut Ctx<Self>) {
        let Listen { id, tag, subject, except } = listen;
        let Some(slot) = self.directory.slot(id.0) else { return };
        let account = self.directory.destinations[slot].account;
        let sub = Subscription {
            slot,
            key: tag,
            account,
            subject,
            queue: None,
            sid: Sid::new(),
            except: except.into(),
            delivered: 0,
            max: UNLIMITED,
        };
        self.directory.subscribe(id.0, sub);
    }
}

impl Receive<Unlisten> for Router {
    fn receive(&mut self, unlisten: Unlisten, _: &mut Ctx<Self>) {
        self.directory.unsubscribe(unlisten.id.0, unlisten.tag);
    }
}

impl Receive<Release> for Router {
    fn receive(&mut self, release: Release, _: &mut Ctx<Self>) {
        self.worked_off(release.id.0, release.bytes);
    }
}

impl Receive<Watch> for Router {
    fn receive(&mut self, watch: Watch, _: &mut Ctx<Self>) {
        let Some((account, to)) = self.interest_of(watch.id.0) else { return };
        let present = self.directory.is_present(account, &watch.subject, watch.queue.as_deref());
        self.directory.watches.add(account, watch, to, present);
    }
}

impl Receive<Unwatch> for Router {
    fn receive(&mut self, unwatch: Unwatch, _: &mut Ctx<Self>) {
        self.directory.watches.drop_one(unwatch.id, unwatch.tag);
    }
}

impl Receive<AskInterest> for Router {
    fn receive(&mut self, ask: AskInterest, _: &mut Ctx<Self>) {
        let Some((account, to)) = self.interest_of(ask.id.0) else { return };
        let present = ask.subjects.iter().map(|subject| self.directory.reaches_anybody(account, subject)).collect();
        to.send(Interest { tag: ask.tag, present });
    }
}

impl Router {
    fn interest_of(&self, id: u64) -> Option<(crate::account::AccountId, Outlet<Interest>)> {
        let destination = self.directory.destinations.get(self.directory.slot(id)?)?;
        match &destination.kind {
            Kind::Service { port, .. } => Some((destination.account, port.interest.clone()?)),
            Kind::Connection { .. } => None,
        }
    }

    /// A destination leaves. What it held back goes on.
    fn part_with(&mut self, id: u64) {
        self.directory.leave(id);
        self.parking.release(id);
    }

    /// A destination has worked off something; its publishers may go on.
    fn worked_off(&mut self, id: u64, bytes: usize) {
        let Some(destination) = self.directory.destination(id) else { return };
        destination.unacked = destination.unacked.saturating_sub(bytes);
        if destination.unacked <= self.options.stall_below {
            self.parking.release(id);
        }
    }
}
