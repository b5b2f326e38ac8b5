//! What a server tells of itself at start. Scripts read some of these lines.

use crate::settings::units::{format_duration, format_size};
use crate::settings::{ConfigSource, JetStreamSettings, Manner, Settings, Sync};
use std::time::Duration;
use tracing::{info, warn};

/// The level of the protocol we speak: the version of nats-server that clients take us for.
pub const PROTOCOL_VERSION: &str = "2.15.1";

/// Who starts, under which name and id, with what configuration.
pub fn banner(settings: &Settings, source: &ConfigSource, server_id: &str) {
    let own = env!("CARGO_PKG_VERSION");
    info!("Starting postroom {own}, in place of nats-server");
    info!("  Version:  {PROTOCOL_VERSION}");
    info!("  Postroom: {own}");
    info!("  Name:     {}", settings.server.name.as_deref().unwrap_or(server_id));
    info!("  ID:       {server_id}");
    if let Some(file) = source.file() {
        info!("Using configuration file: {} ({})", file.display(), source.digest().unwrap_or("not read"));
    }
    if has_plain_passwords(settings) {
        warn!("Plaintext passwords detected, use nkeys or bcrypt");
    }
    if !settings.jetstream.enabled && source.manner() == Manner::Reference {
        info!("JetStream is off, as nats-server starts: -js switches it on");
    }
}

/// What streams are kept under, once they are; `max_memory` and `max_file` are bytes as settled for this machine.
pub fn jetstream_banner(settings: &JetStreamSettings, max_memory: u64, max_file: u64, took: Duration) {
    let size = |bytes: u64| format_size(i64::try_from(bytes).unwrap_or(i64::MAX));
    info!("---------------- JETSTREAM ----------------");
    info!("  Strict:          {}", settings.strict);
    info!("  Max Memory:      {}", size(max_memory));
    info!("  Max Storage:     {}", size(max_file));
    info!("  Store Directory: \"{}\"", settings.store_dir.display());
    if let Some(domain) = &settings.domain {
        info!("  Domain:          {domain}");
    }
    info!("  Sync:            {}", if settings.sync == Sync::Always { "always" } else { "interval" });
    info!("-------------------------------------------");
    if settings.sync == Sync::Interval {
        let interval = format_duration(settings.sync_interval);
        warn!("sync is \"interval\": a power cut can lose what was acknowledged in the last {interval}");
    }
    info!("Took {} to start JetStream", format_duration(took));
}

/// Whether a password or token stands in the configuration as it is typed.
fn has_plain_passwords(settings: &Settings) -> bool {
    let auth = &settings.auth;
    let single = auth.password.iter().chain(&auth.token);
    let users = auth.users.iter().filter_map(|user| user.password.as_ref());
    single.chain(users).any(|secret| !is_bcrypt(secret.expose()))
}

/// `$2a$`, `$2b$`, `$2x$` or `$2y$`, two digits, `$`.
fn is_bcrypt(text: &str) -> bool {
    matches!(text.as_bytes(), [b'$', b'2', b'a' | b'b' | b'x' | b'y', b'$', a, b, b'$', ..]
        if a.is_ascii_digit() && b.is_ascii_digit())
}
