//! Where streams live: behind the trait [`StreamStore`], in memory or in a journal and sled volumes.
//!
//! The store knows streams and consumers by number, keeps their configurations as bytes it does not look into, and
//! keeps the state of consumers as [`ConsumerState`]. It knows no client.
//!
//! * `journal/`: the one commit point; the [`Committer`](committer::Committer) writes a round of frames and syncs once.
//! * `recovery`: what streams are told when they begin, at start or after a panic.
//! * `sled/`: sealed volumes and generations of `meta`, the sealer that writes them and the archive that reads them.
//! * `memory/`: streams with `storage: memory`.

pub mod change;
pub mod committer;
pub mod consumer_state;
mod door;
mod error;
pub mod journal;
pub mod memory;
pub mod messages;
mod open;
mod options;
pub mod port;
pub mod record;
mod recovery;
pub mod sled;
pub mod stream_store;
mod tail;

#[cfg(test)]
mod tests;

pub use change::{Change, ConsumerDelta};
pub use consumer_state::{ConsumerState, PendingMessage};
pub use door::Store;
pub use error::OpenError;
pub use messages::*;
pub use open::open;
pub use options::{Options, SyncMode};
pub use port::StreamStores;
pub use stream_store::{Commitment, Draft, Lookup, StreamStore};

/// The number of a stream in a store. Never used again, also not after the stream is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct StreamId(pub u64);

/// The number of a consumer within its stream. Never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct ConsumerId(pub u64);
