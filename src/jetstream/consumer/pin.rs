//! The pinned client of a consumer with the policy `pinned_client` (consumers reference, section 4.5).

use super::Consumer;
use super::agenda::Matter;
use crate::protocol::nuid;

/// Who is pinned. One per consumer; never durable.
#[derive(Debug, Default)]
pub struct Pin {
    /// Empty: nobody.
    pub id: String,
    /// When it was pinned, in ns since 1970.
    pub since: i64,
    /// The request that was pinned: it does not know the id yet.
    pub request: u64,
}

impl Pin {
    pub fn is_set(&self) -> bool {
        !self.id.is_empty()
    }

    pub fn is_held_by(&self, id: &str) -> bool {
        self.is_set() && self.id == id
    }

    /// Somebody else is pinned.
    pub fn refuses(&self, id: &str) -> bool {
        self.is_set() && !id.is_empty() && self.id != id
    }
}

impl Consumer {
    /// Pins the client behind a request.
    pub(super) fn pin_to(&mut self, request: u64, now: i64) {
        self.pin = Pin { id: nuid(), since: now, request };
        self.renew_pin(now);
        let group = self.first_group();
        self.news.pinned(&self.setting.account_name, &group, &self.pin.id, now);
    }

    /// The pinned client was heard of.
    pub(super) fn renew_pin(&mut self, now: i64) {
        self.agenda.set(Matter::Pin, Some(now.saturating_add(self.config.priority_timeout)));
    }

    /// Nobody is pinned from here on. `reason`: `timeout` or `admin`.
    pub(super) fn unpin(&mut self, reason: &str, now: i64) {
        self.pin = Pin::default();
        self.agenda.set(Matter::Pin, None);
        let group = self.first_group();
        self.news.unpinned(&self.setting.account_name, &group, reason, now);
    }

    /// The pin was given for a message that then did not fit.
    pub(super) fn release_pin(&mut self) {
        self.pin = Pin::default();
        self.agenda.set(Matter::Pin, None);
    }

    fn first_group(&self) -> String {
        self.config.priority_groups.first().cloned().unwrap_or_default()
    }
}
