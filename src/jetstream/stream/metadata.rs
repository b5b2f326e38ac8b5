//! The server's own entries in a stream's metadata (streams reference, section 10).

use super::config::{PersistMode, StreamConfig};
use std::collections::BTreeMap;

/// The level of the API that this server speaks.
pub const API_LEVEL: u32 = 5;

/// The version of the protocol that this server speaks.
pub const SERVER_VERSION: &str = "2.15.1";

/// Stored with the stream.
pub const REQUIRED_LEVEL: &str = "_nats.req.level";

/// Shown, never stored.
const VERSION: &str = "_nats.ver";
const LEVEL: &str = "_nats.level";

/// What begins so is the server's.
const RESERVED: &str = "_nats.";

/// Replaces what the request says about the server's entries by the truth.
pub fn stamp(config: &mut StreamConfig) {
    let level = required_level(config).to_string();
    for key in [VERSION, LEVEL] {
        config.metadata.remove(key);
    }
    config.metadata.insert(REQUIRED_LEVEL.to_string(), level);
}

/// The configuration as CREATE, UPDATE and INFO show it; LIST and SNAPSHOT show what is stored.
pub fn with_versions(config: &StreamConfig) -> StreamConfig {
    let mut shown = config.clone();
    shown.metadata.insert(VERSION.to_string(), SERVER_VERSION.to_string());
    shown.metadata.insert(LEVEL.to_string(), API_LEVEL.to_string());
    shown
}

/// Whether the client's entries are the same.
pub fn same(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> bool {
    let own = |map: &'_ BTreeMap<String, String>| -> Vec<(String, String)> {
        let own = map.iter().filter(|(key, _)| !key.starts_with(RESERVED));
        own.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    own(a) == own(b)
}

/// Why a stream found in the store cannot be served: it needs more than this server knows.
pub fn beyond_us(config: &StreamConfig) -> Option<String> {
    let level = config.metadata.get(REQUIRED_LEVEL)?;
    let known = level.parse::<u32>().is_ok_and(|level| level <= API_LEVEL);
    (!known).then(|| format!("unsupported - required API level: {level}, current API level: {API_LEVEL}"))
}

fn required_level(config: &StreamConfig) -> u32 {
    if config.allow_batched {
        4
    } else if config.allow_msg_counter
        || config.allow_atomic
        || config.allow_msg_schedules
        || config.persist_mode == PersistMode::Async
    {
        2
    } else if config.allow_msg_ttl || config.subject_delete_marker_ttl > 0 {
        1
    } else {
        0
    }
}
