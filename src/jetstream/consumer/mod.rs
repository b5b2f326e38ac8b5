//! The Consumer actor: what was delivered, what is pending, and the ack floor.

pub mod config;
pub mod schema;

pub use config::ConsumerConfig;
