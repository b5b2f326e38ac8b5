//! What connections and routers tell each other.

use super::messages::RouterId;
use crate::account::AccountId;
use crate::actor::Outlet;
use crate::protocol::PubOp;
use bytes::Bytes;
use smallvec::SmallVec;

/// A connection begins to take part, in one account. Sent to every replica; sent again, it starts afresh: without
/// subscriptions, and with what has changed.
#[derive(Clone, Debug)]
pub struct Enter {
    /// The client id: unique among all connections and services of this process.
    pub id: u64,
    pub account: AccountId,
    pub port: Outlet<FromRouter>,
    pub traits: Traits,
    /// Bytes that may wait for this connection; beyond, deliveries are dropped, as it is about to be cut.
    pub max_pending: usize,
}

/// What a client said about itself, as far as it matters to routing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Its own messages come back to its own subscriptions.
    pub echo: bool,
    /// It takes `HMSG`.
    pub headers: bool,
    /// It wants to be told when a request reached nobody.
    pub no_responders: bool,
}

/// A connection leaves, and its subscriptions with it. Sent to every replica.
#[derive(Clone, Copy, Debug)]
pub struct Leave {
    pub id: u64,
}

/// What a connection subscribed and unsubscribed, in order. Sent to every replica; each answers [`FromRouter::Settled`]
/// behind everything it delivered before.
#[derive(Clone, Debug)]
pub struct Changes {
    pub id: u64,
    pub list: std::sync::Arc<[Change]>,
}

/// One change of a connection's subscriptions. `key` is the connection's own small number for the subscription.
#[derive(Clone, Debug)]
pub enum Change {
    Subscribe {
        key: u32,
        subject: Bytes,
        queue: Option<Bytes>,
        sid: Bytes,
        /// Subjects that are not delivered although `subject` matches them.
        except: std::sync::Arc<[Bytes]>,
    },
    Unsubscribe {
        key: u32,
    },
    /// The subscription ends with its `max`th message, counted from its beginning.
    Limit {
        key: u32,
        max: u64,
    },
}

/// The publishes of one read. The buffer is lent: the connection reads on when [`Ack`] has brought it back.
#[derive(Debug)]
pub struct PubBatch {
    pub id: u64,
    pub buffer: Vec<u8>,
    pub ops: Vec<PubOp>,
}

/// The connection has written this many bytes of deliveries of this replica to its socket.
#[derive(Clone, Copy, Debug)]
pub struct Drained {
    pub id: u64,
    pub bytes: usize,
}

/// What a connection hears from a router.
#[derive(Debug)]
pub enum FromRouter {
    Deliver(Deliver),
    Ack(Ack),
    /// A [`Changes`] is in effect here, and nothing that was routed before it follows.
    Settled,
    /// A [`Change::Limit`] is in effect here; so many messages had gone to the subscription before, from here.
    Limited {
        key: u32,
        delivered: u64,
    },
    /// A subscription got its last message, and is gone.
    Spent {
        key: u32,
    },
}

/// Messages for a connection, encoded for the wire.
#[derive(Debug)]
pub struct Deliver {
    /// Where to send [`Drained`].
    pub from: RouterId,
    pub segments: SmallVec<[Segment; 1]>,
    /// Bytes in all segments.
    pub bytes: usize,
    /// Messages in all segments.
    pub messages: u64,
    /// Bytes of headers and payload in all segments.
    pub payload: u64,
}

/// A part of what is to be written.
#[derive(Clone, Debug)]
pub struct Segment {
    pub bytes: Bytes,
    /// It is exactly one message of this subscription, whose limit the connection watches over.
    pub counted: Option<u32>,
}

/// A [`PubBatch`] has been routed: the buffers come back, and with them the right to read on.
#[derive(Debug)]
pub struct Ack {
    pub buffer: Vec<u8>,
    pub ops: Vec<PubOp>,
}
