//! postroom: a NATS server with JetStream, built as a house of actors.
//!
//! # Layout
//!
//! Dependencies point downwards. `protocol`, `subject` and `settings` know nobody; `actor` knows actix only;
//! `store` knows no client; `jetstream` knows no socket; `connection` knows no stream. See `docs/architecture.md`.

pub mod account;
pub mod actor;
pub mod auth;
pub mod broker;
pub mod connection;
pub mod jetstream;
pub mod logging;
pub mod protocol;
pub mod router;
pub mod settings;
pub mod signals;
pub mod stats;
pub mod store;
pub mod subject;
pub mod system;

pub use broker::{Broker, BrokerHandle, StartError};
pub use settings::Settings;
