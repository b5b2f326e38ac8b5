//! The Consumer actor: what was delivered, what is pending, and the ack floor.

pub mod birth;
pub mod config;

pub use birth::{ConsumerBirth, Start};
pub use config::ConsumerConfig;
