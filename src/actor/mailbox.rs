use super::{Act, Hosted, Receive};
use actix::prelude::{Addr, Message, Recipient};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A message on its way, counted by the mailbox it was put into.
pub struct Parcel<M>(pub(super) M);

impl<M: Send + 'static> Message for Parcel<M> {
    type Result = ();
}

/// How many messages were ever put into a mailbox. Part of the mailbox, like its queue: senders add, the owner reads.
#[derive(Default, Debug)]
pub(super) struct Meter(AtomicU64);

impl Meter {
    pub(super) fn sent(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The address of an actor. Sending never blocks and never fails: a message to an actor that has ended is dropped.
///
/// Queues are bounded by the credits of the protocols on top (see `docs/architecture.md`), not by the mailbox.
/// Messages of one sender arrive in order; so do messages of different senders of which one caused the other.
pub struct Mailbox<A: Act> {
    pub(super) addr: Addr<Hosted<A>>,
    pub(super) meter: Arc<Meter>,
}

impl<A: Act> Clone for Mailbox<A> {
    fn clone(&self) -> Self {
        Self { addr: self.addr.clone(), meter: self.meter.clone() }
    }
}

impl<A: Act> Mailbox<A> {
    pub fn send<M: Send + 'static>(&self, message: M)
    where
        A: Receive<M>,
    {
        self.meter.add();
        self.addr.do_send(Parcel(message));
    }

    /// The part of the mailbox that takes messages of kind `M`.
    pub fn outlet<M: Send + 'static>(&self) -> Outlet<M>
    where
        A: Receive<M>,
    {
        Outlet { recipient: self.addr.clone().recipient(), meter: self.meter.clone() }
    }

    /// Whether the actor still lives. It may end right after the answer.
    pub fn is_alive(&self) -> bool {
        self.addr.connected()
    }
}

/// A mailbox seen through one kind of message: the holder need not know who reads it.
pub struct Outlet<M: Send + 'static> {
    recipient: Recipient<Parcel<M>>,
    meter: Arc<Meter>,
}

impl<M: Send + 'static> Clone for Outlet<M> {
    fn clone(&self) -> Self {
        Self { recipient: self.recipient.clone(), meter: self.meter.clone() }
    }
}

impl<M: Send + 'static> Outlet<M> {
    pub fn send(&self, message: M) {
        self.meter.add();
        self.recipient.do_send(Parcel(message));
    }

    /// Whether the actor still lives. It may end right after the answer.
    pub fn is_alive(&self) -> bool {
        self.recipient.connected()
    }
}

impl<M: Send + 'static> std::fmt::Debug for Outlet<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outlet").finish_non_exhaustive()
    }
}

impl<A: Act> std::fmt::Debug for Mailbox<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mailbox").field("kind", &A::KIND).finish_non_exhaustive()
    }
}
