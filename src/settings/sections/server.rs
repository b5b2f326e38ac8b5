//! `[server]`: who this server is, where it listens, and what one client may do.

use super::super::units;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// `[server]`. The limits of one connection are those of the reference, section 1.3 (core server).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSettings {
    /// Shown in INFO and everywhere else; the server's id if not given. No blanks.
    #[serde(with = "units::optional")]
    pub name: Option<String>,
    /// Address the client listener binds to.
    pub host: String,
    /// Port of the client listener; 0 (or -1) takes any free one.
    #[serde(deserialize_with = "units::port")]
    pub port: u16,
    /// `host:port` that INFO gives to clients in `connect_urls`.
    #[serde(with = "units::optional")]
    pub client_advertise: Option<String>,
    /// Tags of this server, in lower case.
    pub tags: Vec<String>,
    /// Free text about this server, shown in `/varz`.
    pub metadata: BTreeMap<String, String>,
    /// Switches for features that are not everybody's yet; unknown names are only logged.
    pub feature_flags: BTreeMap<String, bool>,
    /// Client connections at one time; a negative number refuses all.
    pub max_connections: i64,
    /// Bytes of the arguments after the verb of one protocol line, CONNECT included.
    #[serde(with = "units::size")]
    pub max_control_line: usize,
    /// Bytes of headers and payload of one message; -1 has no limit, any other negative number refuses every message.
    #[serde(with = "units::signed_size")]
    pub max_payload: i64,
    /// Bytes that may wait to be written to one connection before it counts as a slow consumer.
    #[serde(with = "units::size")]
    pub max_pending: usize,
    /// Subscriptions of one connection; 0 has no limit.
    pub max_subscriptions: usize,
    /// Tokens of a subject to subscribe to, at most 255; 0 has no limit.
    pub max_sub_tokens: usize,
    /// Closed connections that are remembered for `/connz?state=closed`.
    pub max_closed_clients: usize,
    /// How often a quiet client is sent a PING.
    #[serde(with = "units::duration")]
    pub ping_interval: Duration,
    /// PINGs without an answer before a connection is stale.
    pub ping_max: u32,
    /// How long one write to a client may take.
    #[serde(with = "units::duration")]
    pub write_deadline: Duration,
    /// What happens when `write_deadline` passes.
    pub write_timeout: WriteTimeout,
    /// Over what time the clients are closed in lame duck mode; 30 s at least.
    #[serde(with = "units::duration")]
    pub lame_duck_duration: Duration,
    /// How long lame duck mode waits before it closes the first client; less than the duration.
    #[serde(with = "units::duration")]
    pub lame_duck_grace_period: Duration,
    /// No headers: HPUB is refused and INFO says so.
    pub no_header_support: bool,
    /// A publisher is not slowed for readers that are slow.
    pub no_fast_producer_stall: bool,
    /// Where to write the process id at start; it is left there at exit.
    #[serde(with = "units::optional")]
    pub pid_file: Option<PathBuf>,
    /// Folder for `postroom_<pid>.ports`, which lists the listeners and is removed at exit.
    #[serde(with = "units::optional")]
    pub ports_file_dir: Option<PathBuf>,
}

/// What happens to a connection whose write took longer than `write_deadline`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteTimeout {
    /// As suits the kind of connection: clients are closed.
    #[default]
    Default,
    /// The connection is closed.
    Close,
    /// The write is tried again.
    Retry,
}

/// The port of a NATS server.
pub const DEFAULT_PORT: u16 = 4222;
/// `max_payload` where nothing else is said.
pub const DEFAULT_MAX_PAYLOAD: i64 = 1024 * 1024;
/// A larger `max_payload` than this is worth a warning at start-up.
pub const MAX_PAYLOAD_WARNING: i64 = 8 * 1024 * 1024;
/// The shortest `lame_duck_duration`.
pub const MIN_LAME_DUCK_DURATION: Duration = Duration::from_secs(30);
/// The most that `max_sub_tokens` can be.
pub const MAX_SUB_TOKENS: usize = 255;

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            name: None,
            host: "0.0.0.0".into(),
            port: DEFAULT_PORT,
            client_advertise: None,
            tags: Vec::new(),
            metadata: BTreeMap::new(),
            feature_flags: BTreeMap::new(),
            max_connections: 65_536,
            max_control_line: 4096,
            max_payload: DEFAULT_MAX_PAYLOAD,
            max_pending: 64 * units::MIB,
            max_subscriptions: 0,
            max_sub_tokens: 0,
            max_closed_clients: 10_000,
            ping_interval: Duration::from_secs(120),
            ping_max: 2,
            write_deadline: Duration::from_secs(10),
            write_timeout: WriteTimeout::Default,
            lame_duck_duration: Duration::from_secs(120),
            lame_duck_grace_period: Duration::from_secs(10),
            no_header_support: false,
            no_fast_producer_stall: false,
            pid_file: None,
            ports_file_dir: None,
        }
    }
}
