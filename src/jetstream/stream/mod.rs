//! The Stream actor: owns its messages through a `StreamStore`, and everything that is known about them.

pub mod config;

pub use config::StreamConfig;
