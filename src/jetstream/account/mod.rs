//! The JetStream actor: one per account.

mod actor;
mod audit;
mod catalogue;
mod counters;
mod door;
mod listing;
mod revival;

#[cfg(test)]
mod tests;

pub use actor::{JetStream, JetStreamState};
pub use catalogue::{Catalogue, Entry, Standing, StreamPort};
pub use counters::ApiCounters;
pub use listing::{Listing, Listings};

pub(in crate::jetstream) use door::Unreachable;
