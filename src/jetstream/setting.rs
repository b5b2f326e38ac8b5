use crate::account::AccountId;
use crate::actor::{House, Mailbox, SharedClock, Timers};
use crate::router::Switchboard;
use crate::store::StreamStores;
use std::sync::Arc;

/// What the actors of one account's JetStream share: addresses, and facts that do not change.
#[derive(Clone)]
pub struct Setting {
    pub house: House,
    pub account: AccountId,
    pub account_name: Arc<str>,
    pub server_name: Arc<str>,
    pub switchboard: Switchboard,
    pub store: Arc<dyn StreamStores>,
    pub timers: Mailbox<Timers>,
    pub clock: SharedClock,
    pub limits: Arc<super::Limits>,
}
