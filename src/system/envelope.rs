use crate::protocol::{ServerInfo, Timestamp};
use serde::Serialize;

/// Who answers, in every answer (core reference 6.1).
#[derive(Clone, Debug, Serialize)]
pub struct ServerStamp {
    name: String,
    host: String,
    id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    domain: String,
    ver: String,
    jetstream: bool,
    flags: u64,
    /// Counts what this server has said.
    seq: u64,
    time: Timestamp,
}

/// Of `flags`: this server has JetStream, and snapshots in the binary form.
const HAS_JETSTREAM: u64 = 1;
const BINARY_SNAPSHOTS: u64 = 2;

impl ServerStamp {
    pub fn new(info: &ServerInfo) -> Self {
        Self {
            name: info.server_name.clone(),
            host: info.host.clone(),
            id: info.server_id.clone(),
            domain: info.domain.clone(),
            ver: info.version.clone(),
            jetstream: info.jetstream,
            flags: if info.jetstream { HAS_JETSTREAM | BINARY_SNAPSHOTS } else { BINARY_SNAPSHOTS },
            seq: 0,
            time: Timestamp(0),
        }
    }

    /// The answer with `data`, said at `now` (ns since 1970).
    pub fn answer<T: Serialize>(&mut self, data: &T, now: i64) -> Vec<u8> {
        #[derive(Serialize)]
        struct Answer<'a, T> {
            server: &'a ServerStamp,
            data: &'a T,
        }
        self.seq += 1;
        self.time = Timestamp(now);
        serde_json::to_vec(&Answer { server: self, data }).unwrap_or_default()
    }
}
