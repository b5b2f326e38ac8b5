//! The Consumer actor: what was delivered, what is pending, and the ack floor.
//!
//! A configuration goes through [`defaults`], [`validate`] and, if the consumer is there, [`equality`] and
//! [`update_rules`]: functions of what they are given, which the Stream calls too.
//!
//! [`Consumer`] is the actor; its work is in files by verb: `delivery` hands messages out, `acks/` takes what comes
//! back, `pull/` and `push/` know who gets them, `on_time` what the clock does, `saving` what must be durable first.

mod acks;
mod actor;
mod advisory;
mod agenda;
mod asking;
pub mod birth;
mod calls;
pub mod config;
pub mod schema;

pub use actor::{Consumer, ConsumerStats};
pub use birth::{ConsumerBirth, Start};
pub use config::ConsumerConfig;
pub use context::StreamContext;
