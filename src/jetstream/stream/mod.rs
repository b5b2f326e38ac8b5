//! The Stream actor: owns its messages through a `StreamStore`, and everything that is known about them.

mod actor;
pub mod birth;
pub mod config;
pub mod defaults;
pub mod equality;
pub mod metadata;
pub mod origin_rules;
pub mod schema;
pub mod subject_rules;
pub mod unsupported;
pub mod update_rules;
pub mod validate;

#[cfg(test)]
mod rules_tests;

pub use actor::Stream;
pub use birth::Birth;
pub use config::StreamConfig;
