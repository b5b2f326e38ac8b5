//! The Consumer actor: what was delivered, what is pending, and the ack floor.
//!
//! A configuration goes through [`defaults`], [`validate`] and, if the consumer is there, [`equality`] or
//! [`update_rules`]. All of these are functions of what they are given: the Stream calls them.

pub mod birth;
pub mod config;
mod context;
pub mod defaults;
mod duration;
pub mod equality;
mod sample;
pub mod update_rules;
pub mod validate;

pub use birth::{ConsumerBirth, Start};
pub use config::ConsumerConfig;
pub use context::StreamContext;
