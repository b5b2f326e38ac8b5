//! The Stream actor: owns its messages through a `StreamStore`, and everything that is known about them.

pub mod birth;
pub mod config;
pub mod schema;

pub use birth::Birth;
pub use config::StreamConfig;
