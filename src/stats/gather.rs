use super::report::{ActorReport, Summary};
use super::request::Query;
use std::collections::HashMap;
use std::time::Instant;

use crate::account::AccountId;
use crate::router::messages::RouterId;
use bytes::Bytes;

/// Why a round of probes is on its way.
pub enum Purpose {
    /// Reports for those who listen; `summary` for whom the roll-up is wanted, by audience.
    Publish { wanted: HashMap<u64, Vec<usize>>, summary: Vec<usize> },
    /// The answer to a request.
    Answer { query: Query, account: AccountId, via: RouterId, reply: Bytes },
}

/// A round of probes that not all have answered yet.
pub struct Round {
    pub purpose: Purpose,
    pub sent: Instant,
    /// Probed and not yet heard of, by kind and name.
    pub waiting: HashMap<(&'static str, String), u64>,
    pub reports: Vec<ActorReport>,
    pub summary: Summary,
}

impl Round {
    pub fn new(server: &str, purpose: Purpose) -> Self {
        let summary = Summary::new(server);
        Self { purpose, sent: Instant::now(), waiting: HashMap::new(), reports: Vec::new(), summary }
    }

    pub fn is_complete(&self) -> bool {
        self.waiting.is_empty()
    }
}
