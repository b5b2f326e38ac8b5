//! The Stream actor: owns its messages through a `StreamStore`, and everything that is known about them.
//!
//! * What it holds: [`contents`], made of [`index`] (by sequence) and [`subjects`] (by subject), asked by [`lookup`].
//! * What comes in: [`ingest`], with [`publish_headers`], [`dedupe`], [`limits`], [`rollup`], [`ack`].
//! * What becomes durable: [`batch`], [`commit`]; what was: [`recovery`].
//! * What a configuration may be: [`validate`], [`subject_rules`], [`origin_rules`], [`unsupported`], [`defaults`],
//!   [`metadata`]; [`equality`], [`update_rules`]; how a request spells it: [`schema`].
//! * What goes: [`expiry`], [`retention`] with [`need`], [`lost`].
//! * Who reads: [`reads`], [`consumers`], [`members`], [`start`], [`audience`].
//! * Its own life: [`actor`], [`info`], [`update`], [`delete`].

pub mod ack;
pub mod actor;
pub mod audience;
pub mod batch;
pub mod birth;
pub mod commit;
pub mod config;
pub mod consumers;
pub mod contents;
pub mod dedupe;
pub mod defaults;
pub mod delete;
pub mod desk;
pub mod equality;
pub mod expiry;
pub mod index;
pub mod info;
pub mod ingest;
pub mod lifetimes;
pub mod limits;
pub mod lookup;
pub mod lost;
pub mod members;
pub mod metadata;
pub mod need;
mod new;
pub mod origin_rules;
pub mod publish_headers;
pub mod reads;
pub mod recovery;
pub mod republish;
pub mod retention;
pub mod rollup;
pub mod schema;
pub mod seqs;
pub mod start;
pub mod subject_rules;
pub mod subjects;
pub mod transform;
pub mod ttl;
pub mod unsupported;
pub mod update;
pub mod update_rules;
pub mod validate;

#[cfg(test)]
mod rules_tests;
#[cfg(test)]
mod tests;

pub use actor::{Stream, StreamState};
pub use birth::Birth;
pub use config::StreamConfig;
