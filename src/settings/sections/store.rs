//! `[store]`: journal, volumes, and the memory before them.

use super::super::units;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// `[store]`: how what is kept gets to the disk. Sizes are bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreSettings {
    /// Threads that streams and consumers live on; 0 takes a quarter of the cores, one at least.
    #[serde(rename = "arbiters")]
    pub arbiters_wanted: usize,
    /// Messages kept in memory until they are sealed in a volume, for the whole server.
    #[serde(with = "units::size")]
    pub hot_bytes: usize,
    /// What has been quiet so long is sealed.
    #[serde(with = "units::duration")]
    pub seal_after: Duration,
    /// A full-grown slot of the journal.
    #[serde(with = "units::size")]
    pub journal_slot_bytes: u64,
    /// The slots of a fresh journal, so that a new server need not write zeroes for long.
    #[serde(with = "units::size")]
    pub journal_first_slot_bytes: u64,
}

impl StoreSettings {
    /// How many storage arbiters to start: the number asked for, or what suits this machine.
    pub fn arbiters(&self) -> usize {
        match self.arbiters_wanted {
            0 => (std::thread::available_parallelism().map_or(1, |n| n.get()) / 4).max(1),
            n => n,
        }
    }
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self {
            arbiters_wanted: 0,
            hot_bytes: 96 * units::MIB,
            seal_after: Duration::from_secs(30),
            journal_slot_bytes: 64 * units::MIB as u64,
            journal_first_slot_bytes: 4 * units::MIB as u64,
        }
    }
}
