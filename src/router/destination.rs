use super::client::{Deliver, FromRouter, Segment, Traits};
use super::messages::{Incoming, Ingest, RouterId, ServicePort, Span};
use super::subscription::SubKey;
use crate::account::AccountId;
use crate::actor::Outlet;
use crate::protocol::Letter;
use bytes::Bytes;
use smallvec::SmallVec;

/// Bytes gathered for one destination before they leave without waiting for the end of the round.
pub(super) const FLUSH_AT: usize = 512 * 1024;
/// The largest buffer that is set up in advance for the next round.
const LARGEST_HINT: usize = 256 * 1024;

/// Somebody messages are delivered to: what is gathered for it in this round, and what it has not worked off.
pub(super) struct Destination {
    pub id: u64,
    pub account: AccountId,
    pub kind: Kind,
    /// Where its subscriptions are, by the destination's own number for each.
    pub subs: Vec<SubKey>,
    /// Delivered, and not reported as worked off.
    pub unacked: usize,
    pub max_pending: usize,
    /// It is among those to be flushed at the end of the round.
    pub touched: bool,
    open: Vec<u8>,
    segments: SmallVec<[Segment; 1]>,
    /// Bytes in `segments`.
    closed: usize,
    messages: u64,
    payload: u64,
    hint: u32,
}

pub(super) enum Kind {
    Connection { port: Outlet<FromRouter>, traits: Traits },
    Service { port: ServicePort, incoming: Vec<Incoming> },
}

/// No subscription has this number.
pub(super) const NO_SUB: SubKey = SubKey::MAX;

impl Destination {
    pub(super) fn new(id: u64, account: AccountId, kind: Kind, max_pending: usize) -> Self {
        Self {
            id,
            account,
            kind,
            subs: Vec::new(),
            unacked: 0,
            max_pending,
            touched: false,
            open: Vec::new(),
            segments: SmallVec::new(),
            closed: 0,
            messages: 0,
            payload: 0,
            hint: 0,
        }
    }

    /// Echo, headers and 503s as agreed with a client; a service gets everything.
    #[inline]
    pub(super) fn traits(&self) -> Traits {
        match &self.kind {
            Kind::Connection { traits, .. } => *traits,
            Kind::Service { .. } => Traits { echo: true, headers: true, no_responders: false },
        }
    }

    /// The part of the next delivery that is being written.
    #[inline]
    pub(super) fn open(&mut self) -> &mut Vec<u8> {
        if self.open.capacity() == 0 {
            self.open.reserve(self.hint as usize);
        }
        &mut self.open
    }

    #[inline]
    pub(super) fn count(&mut self, messages: u64, payload: u64) {
        self.messages += messages;
        self.payload += payload;
    }

    /// A part that others get too.
    pub(super) fn push_shared(&mut self, bytes: Bytes) {
        self.close_open();
        self.closed += bytes.len();
        self.segments.push(Segment { bytes, counted: None });
    }

    /// What has just been written is one message of a subscription whose limit the connection watches over.
    pub(super) fn close_counted(&mut self, key: u32) {
        let bytes = Bytes::from(std::mem::take(&mut self.open));
        self.closed += bytes.len();
        self.segments.push(Segment { bytes, counted: Some(key) });
    }

    /// Ends the open part.
    pub(super) fn close_open(&mut self) {
        if !self.open.is_empty() {
            let bytes = Bytes::from(std::mem::take(&mut self.open));
            self.closed += bytes.len();
            self.segments.push(Segment { bytes, counted: None });
        }
    }

    /// A message for a service.
    pub(super) fn push_incoming(&mut self, tag: u32, client: u64, letter: &Letter<'_>) {
        self.open();
        let mut copy = |part: &[u8]| -> Span {
            let start = self.open.len() as u32;
            self.open.extend_from_slice(part);
            start..self.open.len() as u32
        };
        let (subject, reply) = (copy(letter.subject), copy(letter.reply));
        let (headers, payload) = (copy(letter.headers), copy(letter.payload));
        if let Kind::Service { incoming, .. } = &mut self.kind {
            incoming.push(Incoming { tag, client, subject, reply, headers, payload });
        }
    }

    /// Bytes gathered and not yet sent.
    #[inline]
    pub(super) fn gathered(&self) -> usize {
        self.closed + self.open.len()
    }

    /// Bytes on their way to it, with those gathered.
    #[inline]
    pub(super) fn owed(&self) -> usize {
        self.unacked + self.gathered()
    }

    /// Sends what is gathered. Answers how many bytes that were.
    pub(super) fn flush(&mut self, from: RouterId) -> usize {
        let bytes = self.gathered();
        if bytes == 0 && self.messages == 0 {
            return 0;
        }
        self.unacked += bytes;
        self.hint = (bytes + bytes / 8 + 64).min(LARGEST_HINT) as u32;
        let (messages, payload) = (std::mem::take(&mut self.messages), std::mem::take(&mut self.payload));
        let account = self.account;
        match &mut self.kind {
            Kind::Service { port, incoming } => {
                let (buffer, messages) = (Bytes::from(std::mem::take(&mut self.open)), std::mem::take(incoming));
                port.ingest.send(Ingest { via: from, account, bytes, buffer, messages });
            }
            Kind::Connection { .. } => {
                self.close_open();
                self.closed = 0;
                let segments = std::mem::take(&mut self.segments);
                self.tell(FromRouter::Deliver(Deliver { from, segments, bytes, messages, payload }));
            }
        }
        bytes
    }

    /// Tells a connection something; services are told otherwise.
    pub(super) fn tell(&self, what: FromRouter) {
        if let Kind::Connection { port, .. } = &self.kind {
            port.send(what);
        }
    }

    pub(super) fn sub(&self, key: u32) -> Option<SubKey> {
        self.subs.get(key as usize).copied().filter(|&sub| sub != NO_SUB)
    }
}
