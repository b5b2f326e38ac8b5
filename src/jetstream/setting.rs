use crate::account::{AccountId, WhoIs};
use crate::actor::{House, Mailbox, Outlet, SharedClock, Timers};
use crate::router::Switchboard;
use crate::router::messages::ServiceId;
use crate::store::{ConsumerId, StreamId, StreamStores};
use std::sync::Arc;

/// What the actors of one account's JetStream share: addresses, and facts that do not change.
#[derive(Clone)]
pub struct Setting {
    pub house: House,
    pub account: AccountId,
    pub account_name: Arc<str>,
    pub server_name: Arc<str>,
    pub switchboard: Switchboard,
    /// Knows who the clients are; without it nobody does.
    pub registry: Option<Outlet<WhoIs>>,
    pub store: Arc<dyn StreamStores>,
    pub timers: Mailbox<Timers>,
    pub clock: SharedClock,
    pub limits: Arc<super::Limits>,
    pub account_limits: super::AccountLimits,
}

/// The kinds of services, in the upper four bits of a [`ServiceId`]. Connections, whose numbers count from one, are 0.
mod kind {
    pub const JETSTREAM: u64 = 1;
    pub const STREAM: u64 = 2;
    pub const CONSUMER: u64 = 3;
}

/// Bits of a [`ServiceId`] below its kind: 12 for the account, 20 for the stream, 28 for the consumer. Numbers are
/// given out in order and wrap around here, so two services would share an id only if they lived at the same time and
/// a million streams of one account, or 268 million consumers of one stream, had been created in between.
const ACCOUNT_BITS: u32 = 12;
const STREAM_BITS: u32 = 20;
const CONSUMER_BITS: u32 = 28;

impl Setting {
    /// The JetStream actor's place among the services.
    pub fn jetstream_service(&self) -> ServiceId {
        self.service(kind::JETSTREAM, 0, 0)
    }

    pub fn stream_service(&self, stream: StreamId) -> ServiceId {
        self.service(kind::STREAM, stream.0, 0)
    }

    pub fn consumer_service(&self, stream: StreamId, consumer: ConsumerId) -> ServiceId {
        self.service(kind::CONSUMER, stream.0, consumer.0)
    }

    fn service(&self, kind: u64, stream: u64, consumer: u64) -> ServiceId {
        let low = |value: u64, bits: u32| value & ((1 << bits) - 1);
        let mut id = kind << ACCOUNT_BITS | low(self.account.0.into(), ACCOUNT_BITS);
        id = id << STREAM_BITS | low(stream, STREAM_BITS);
        ServiceId(id << CONSUMER_BITS | low(consumer, CONSUMER_BITS))
    }
}
