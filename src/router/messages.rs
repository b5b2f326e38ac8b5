//! What services and routers tell each other.
//!
//! A *service* is an actor that takes part in messaging without a socket: a Stream, a Consumer, the JetStream API, the
//! Stats actor. It enlists at every replica, listens to subjects, gets what matches in batches, and publishes batches.
//!
//! No answer is needed for most of these: a message sent to a replica is in its queue when the sender goes on, so
//! whatever happens because of it, anywhere, finds it applied.

use crate::account::AccountId;
use crate::actor::Outlet;
use crate::protocol::StoredMessage;
use bytes::Bytes;
use std::ops::Range;

/// A destination in the house: unique among all connections and services of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServiceId(pub u64);

/// A replica of the router; an index into [`Routers`](super::Routers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RouterId(pub u16);

/// A part of a buffer.
pub type Span = Range<u32>;

/// Where a service gets its messages. What it does not use may be left out.
#[derive(Clone, Debug)]
pub struct ServicePort {
    pub ingest: Outlet<Ingest>,
    pub receipt: Option<Outlet<Receipt>>,
    pub interest: Option<Outlet<Interest>>,
}

/// A service begins to take part, in one account.
#[derive(Clone, Debug)]
pub struct Enlist {
    pub id: ServiceId,
    pub account: AccountId,
    pub port: ServicePort,
}

/// A service leaves; all it listened to and watched goes with it.
#[derive(Clone, Copy, Debug)]
pub struct Dismiss {
    pub id: ServiceId,
}

/// The service wants what is published on `subject` (wildcards allowed), except what one of `except` matches.
#[derive(Clone, Debug)]
pub struct Listen {
    pub id: ServiceId,
    /// Comes back with each message, so that a service knows which of its subscriptions it matched. Unique per service.
    pub tag: u32,
    pub subject: Bytes,
    pub except: Vec<Bytes>,
}

#[derive(Clone, Copy, Debug)]
pub struct Unlisten {
    pub id: ServiceId,
    pub tag: u32,
}

/// The messages of one batch that matched subscriptions of a service. Counts against the publisher's credit until the
/// service has sent [`Release`] for its `bytes`.
#[derive(Debug)]
pub struct Ingest {
    /// The replica that routed it: answers go back through it.
    pub via: RouterId,
    pub account: AccountId,
    /// What to release.
    pub bytes: usize,
    /// Holds all spans of `messages`. Whoever keeps a slice for long keeps all of it.
    pub buffer: Bytes,
    pub messages: Vec<Incoming>,
}

/// One message for a service. A span is empty where there is nothing.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// The `tag` of the subscription that matched. A message that matches two subscriptions comes twice.
    pub tag: u32,
    /// The connection or service that published it.
    pub client: u64,
    pub subject: Span,
    pub reply: Span,
    /// The whole header block, from `NATS/1.0` to the empty line.
    pub headers: Span,
    pub payload: Span,
}

/// A service has worked off this many bytes of [`Ingest`]: for a stream, when they are on the disk.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    pub id: ServiceId,
    pub bytes: usize,
}

/// A service publishes: routed like messages of a client, in order.
#[derive(Debug)]
pub struct Publish {
    pub id: ServiceId,
    pub account: AccountId,
    /// Holds all spans of `messages`.
    pub buffer: Bytes,
    pub messages: Vec<Outgoing>,
    /// If given, a [`Receipt`] with this number follows when everything is delivered and no destination is congested.
    /// Until then a service that can send without end waits: this is its credit.
    pub receipt: Option<u64>,
}

/// One message of a service.
#[derive(Debug)]
pub struct Outgoing {
    /// The subject by which subscribers are found.
    pub route: Span,
    /// The subject that subscribers see; the same span as `route` for ordinary messages. Ignored with `stored`.
    pub subject: Span,
    pub reply: Span,
    /// Without `stored`: the header block. With `stored`: lines to append to its headers (a block is made if it has none).
    pub headers: Span,
    /// Ignored with `stored`.
    pub payload: Span,
    /// A message out of a stream: subject, headers and payload are taken from it.
    pub stored: Option<StoredMessage>,
    /// With `stored`: leave the payload out (`headers_only`).
    pub headers_only: bool,
}

/// A [`Publish`] has been delivered as far as anybody listened.
#[derive(Debug)]
pub struct Receipt {
    pub number: u64,
    /// Indices of the messages that found nobody.
    pub undelivered: Vec<u32>,
}

/// Tell the service whether somebody listens on exactly this subject (not through a wildcard), in exactly this queue
/// group or, with none, plainly. Answered at once with [`Interest`], and again at every change. Sent to one replica.
#[derive(Clone, Debug)]
pub struct Watch {
    pub id: ServiceId,
    pub tag: u32,
    pub subject: Bytes,
    pub queue: Option<Bytes>,
}

#[derive(Clone, Copy, Debug)]
pub struct Unwatch {
    pub id: ServiceId,
    pub tag: u32,
}

/// Ask which of these subjects would reach anybody if published now, wildcards counted. Answered with [`Interest`]
/// carrying `tag` and one entry per subject. Sent to one replica.
#[derive(Clone, Debug)]
pub struct AskInterest {
    pub id: ServiceId,
    pub tag: u32,
    pub subjects: Vec<Bytes>,
}

/// The answer to a [`Watch`] (one entry) or an [`AskInterest`].
#[derive(Debug)]
pub struct Interest {
    pub tag: u32,
    pub present: Vec<bool>,
}
