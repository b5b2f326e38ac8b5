//! Seeing inside: every actor's state, mailbox and handling times, on a stats subject.
//!
//! The [`Stats`] actor knows every actor of the house by the address that takes probes. Once an interval it asks the
//! router who is listening, and probes only those actors that somebody wants to see: an unobserved house does no work.
//! Fields and subjects: `docs/stats.md`.

mod actor;
mod gather;
mod registry;
mod report;
mod request;
mod subjects;

#[cfg(test)]
mod tests;

pub use actor::{Open, Options, Panicked, Stats};
pub use report::VERSION;
pub use subjects::{Audience, SYSTEM_PREFIX};
