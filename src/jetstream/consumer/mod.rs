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
mod context;
mod deadlines;
pub mod defaults;
mod delivery;
mod endings;
pub mod equality;
mod info;
mod ledger;
mod on_time;
mod pace;
mod pin;
mod ports;
mod posts;
mod pull;
mod purge;
mod push;
mod read_ahead;
mod reading;
mod receipts;
mod redelivery;
mod sample;
mod saving;
pub mod schema;
mod stream_events;
mod subjects;
mod tally;
mod update;
pub mod update_rules;
pub mod validate;

#[cfg(test)]
mod tests;

pub use actor::{Consumer, ConsumerStats};
pub use birth::{ConsumerBirth, Start};
pub use config::ConsumerConfig;
pub use context::StreamContext;
