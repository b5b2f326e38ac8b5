//! JetStream: streams and consumers.
//!
//! * [`JetStream`](account::JetStream), one per account: the catalogue of streams, and the door of `$JS.API`.
//! * `Stream`, one per stream: what is stored, and its limits.
//! * `Consumer`, one per consumer, beside its stream: what was delivered, and what was acknowledged.
//! * `api/`: one file per API subject.
//! * `error.rs`: one table of error codes.

pub mod account;
pub mod advisory;
pub mod api;
pub mod consumer;
pub mod error;
pub mod limits;
pub mod messages;
pub mod setting;
pub mod stream;
pub mod time;

pub use limits::{AccountLimits, Limits};
pub use setting::Setting;
