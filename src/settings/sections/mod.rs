//! The sections of [`Settings`](super::Settings), one file each, with their defaults.

mod auth;
mod jetstream;
mod log;
mod network;
mod server;
mod stats;
mod store;

pub use auth::{AuthSettings, LONG_AUTH_TIMEOUT, Permissions, ResponsePermission, SubjectPermission, UserSettings};
pub use jetstream::{BatchLimits, JetStreamLimits, JetStreamSettings, Sync};
pub use log::{LogFormat, LogSettings};
pub use network::NetworkSettings;
pub use server::{
    DEFAULT_MAX_PAYLOAD, DEFAULT_PORT, MAX_PAYLOAD_WARNING, MAX_SUB_TOKENS, MIN_LAME_DUCK_DURATION, ServerSettings,
    WriteTimeout,
};
pub use stats::StatsSettings;
pub use store::StoreSettings;
