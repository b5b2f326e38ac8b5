use super::Connection;
use crate::account::Who;
use crate::actor::{Clock, SystemClock};
use crate::protocol::PubOp;
use serde::Serialize;

/// What a connection shows.
#[derive(Clone, Debug, Serialize)]
pub struct ConnectionState {
    pub cid: u64,
    pub ip: String,
    pub port: u16,
    pub name: String,
    pub lang: String,
    pub version: String,
    /// The account's name.
    pub account: String,
    /// As `/connz` shows it; empty if nobody was asked.
    pub authorized_user: String,
    pub in_msgs: u64,
    pub out_msgs: u64,
    /// Headers and payload.
    pub in_bytes: u64,
    pub out_bytes: u64,
    pub subscriptions: usize,
    /// Bytes that wait to be written.
    pub pending_bytes: usize,
    /// Nanoseconds of the last round trip measured.
    pub rtt_ns: u64,
    /// Seconds since it came.
    pub uptime: u64,
}

/// Messages and bytes so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub in_msgs: u64,
    pub in_bytes: u64,
    pub out_msgs: u64,
    pub out_bytes: u64,
}

impl Counts {
    pub(super) fn published(&mut self, ops: &[PubOp]) {
        self.in_msgs += ops.len() as u64;
        self.in_bytes += ops.iter().map(|op| op.size() as u64).sum::<u64>();
    }
}

impl Connection {
    pub(super) fn who(&self) -> Who {
        let said = |text: fn(&crate::protocol::Connect) -> &String| {
            self.connect.as_deref().map(|connect| text(connect).clone()).unwrap_or_default()
        };
        let age = i64::try_from(self.started.elapsed().as_nanos()).unwrap_or(i64::MAX);
        Who {
            user: self.identity.as_ref().map(|i| i.authorized_user().to_owned()).unwrap_or_default(),
            account: self.options.account_name.clone(),
            host: self.peer.ip().to_string(),
            name: said(|c| &c.name),
            lang: said(|c| &c.lang),
            version: said(|c| &c.version),
            start: SystemClock.now().saturating_sub(age),
            rtt: self.heartbeat.rtt().map_or(0, |rtt| rtt.as_nanos() as u64),
        }
    }

    pub(super) fn state(&self) -> ConnectionState {
        let who = self.who();
        ConnectionState {
            cid: self.id,
            ip: who.host,
            port: self.peer.port(),
            name: who.name,
            lang: who.lang,
            version: who.version,
            account: who.account,
            authorized_user: who.user,
            in_msgs: self.counts.in_msgs,
            out_msgs: self.counts.out_msgs,
            in_bytes: self.counts.in_bytes,
            out_bytes: self.counts.out_bytes,
            subscriptions: self.subs.len(),
            pending_bytes: self.outbound.pending(),
            rtt_ns: who.rtt,
            uptime: self.started.elapsed().as_secs(),
        }
    }
}
