//! `[network]`: the arbiters that sockets live on, their buffers, and when a fast publisher is slowed.

use super::super::units;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// `[network]`. Sizes are bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkSettings {
    /// Threads that serve connections, each with a replica of the subscription index; 0 takes one on one or two
    /// cores, else one less than there are cores. See [`NetworkSettings::arbiters`].
    #[serde(rename = "arbiters")]
    pub arbiters_wanted: usize,
    /// What a connection reads into at first.
    #[serde(with = "units::size")]
    pub read_buffer: usize,
    /// How far that buffer grows for a busy connection, messages larger than it aside.
    #[serde(with = "units::size")]
    pub read_buffer_max: usize,
    /// A publisher waits while a destination of its batch has more than this unwritten.
    #[serde(with = "units::size")]
    pub stall_above: usize,
    /// It goes on once the destination is down to this.
    #[serde(with = "units::size")]
    pub stall_below: usize,
    /// It waits no longer than this for one batch.
    #[serde(with = "units::duration")]
    pub stall_time: Duration,
    /// A connection tells its Router what it has written each time it is this much.
    #[serde(with = "units::size")]
    pub drained_every: usize,
    /// Connections that the system may hold for us until they are accepted.
    pub backlog: u32,
}

impl NetworkSettings {
    /// How many network arbiters to start: the number asked for, or what suits this machine.
    pub fn arbiters(&self) -> usize {
        match self.arbiters_wanted {
            0 => arbiters_for(std::thread::available_parallelism().map_or(1, |n| n.get())),
            n => n,
        }
    }
}

/// One core is left to storage and the rest of the house where there are enough.
fn arbiters_for(cores: usize) -> usize {
    if cores <= 2 { 1 } else { cores - 1 }
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self {
            arbiters_wanted: 0,
            read_buffer: 4 * units::KIB,
            read_buffer_max: 128 * units::KIB,
            stall_above: units::MIB,
            stall_below: 512 * units::KIB,
            stall_time: Duration::from_millis(10),
            drained_every: 256 * units::KIB,
            backlog: 1024,
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_core_is_left_over_where_there_are_three() {
        assert_eq!([1, 2, 3, 8].map(super::arbiters_for), [1, 1, 2, 7]);
    }
}
