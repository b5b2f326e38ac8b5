//! Typed settings: what they are, their defaults, and where they come from.
//!
//! [`Settings`] is plain data: build it in code, or let a [`ConfigSource`] read it in layers, each over the one
//! before: defaults, a file (our TOML or a nats-server `.conf`), the environment (`POSTROOM_SECTION__KEY`), flags.

mod check;
pub mod conf;
pub mod environment;
pub mod error;
pub mod flags;
mod layer;
mod sections;
mod source;
#[cfg(test)]
mod tests;
mod toml_file;
pub mod units;

pub use error::{Mistake, SettingsError};
pub use layer::Layer;
pub use sections::*;
pub use source::{ConfigSource, Loaded, Manner};
pub use units::Secret;

use serde::{Deserialize, Serialize};

/// Everything that can be set, by section. `Default` is what a server without any configuration uses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Who this server is, where it listens, what one client may do.
    pub server: ServerSettings,
    /// Threads, buffers and credits of connections.
    pub network: NetworkSettings,
    /// Who may connect.
    pub auth: AuthSettings,
    /// What is told, where, in what form.
    pub log: LogSettings,
    /// Streams and consumers.
    pub jetstream: JetStreamSettings,
    /// How they get to the disk.
    pub store: StoreSettings,
    /// What the house tells about its actors.
    pub stats: StatsSettings,
}

impl Settings {
    /// Everything that keeps a server with these settings from starting; empty if nothing does. Settings that a
    /// [`ConfigSource`] read have passed this.
    pub fn mistakes(&self) -> Vec<Mistake> {
        check::mistakes(self)
    }
}
