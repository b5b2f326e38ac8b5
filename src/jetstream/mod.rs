//! JetStream.

pub mod error;
