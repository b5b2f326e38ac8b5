use super::messages::*;
use crate::actor::{Act, Mailbox, Outlet, Receive};
use std::sync::Arc;

/// One replica, as services see it.
#[derive(Clone, Debug)]
pub struct Line {
    pub enlist: Outlet<Enlist>,
    pub dismiss: Outlet<Dismiss>,
    pub listen: Outlet<Listen>,
    pub unlisten: Outlet<Unlisten>,
    pub release: Outlet<Release>,
    pub publish: Outlet<Publish>,
    pub watch: Outlet<Watch>,
    pub unwatch: Outlet<Unwatch>,
    pub ask: Outlet<AskInterest>,
}

impl Line {
    pub fn to<R>(router: &Mailbox<R>) -> Self
    where
        R: Act
            + Receive<Enlist>
            + Receive<Dismiss>
            + Receive<Listen>
            + Receive<Unlisten>
            + Receive<Release>
            + Receive<Publish>
            + Receive<Watch>
            + Receive<Unwatch>
            + Receive<AskInterest>,
    {
        Self {
            enlist: router.outlet(),
            dismiss: router.outlet(),
            listen: router.outlet(),
            unlisten: router.outlet(),
            release: router.outlet(),
            publish: router.outlet(),
            watch: router.outlet(),
            unwatch: router.outlet(),
            ask: router.outlet(),
        }
    }
}

/// All replicas of the router, as services see them. What concerns everybody goes to each; what is published goes
/// through one.
#[derive(Clone, Debug)]
pub struct Switchboard(Arc<[Line]>);

impl Switchboard {
    /// Panics without a line: a house has at least one router.
    pub fn new(lines: Vec<Line>) -> Self {
        assert!(!lines.is_empty(), "a house has at least one router");
        Self(lines.into())
    }

    pub fn enlist(&self, enlist: &Enlist) {
        self.0.iter().for_each(|line| line.enlist.send(enlist.clone()));
    }

    pub fn dismiss(&self, id: ServiceId) {
        self.0.iter().for_each(|line| line.dismiss.send(Dismiss { id }));
    }

    pub fn listen(&self, listen: &Listen) {
        self.0.iter().for_each(|line| line.listen.send(listen.clone()));
    }

    pub fn unlisten(&self, id: ServiceId, tag: u32) {
        self.0.iter().for_each(|line| line.unlisten.send(Unlisten { id, tag }));
    }

    /// One replica: the one that brought a question takes its answer. Unknown numbers reach the first.
    pub fn line(&self, router: RouterId) -> &Line {
        self.0.get(usize::from(router.0)).unwrap_or(&self.0[0])
    }

    /// For what nobody asked for: advisories, pushed messages, watches.
    pub fn any(&self) -> &Line {
        &self.0[0]
    }
}
