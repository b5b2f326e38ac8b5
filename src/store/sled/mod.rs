//! Durable streams: a handle per stream, volumes of sealed messages, and generations of `meta`.
//!
//! * [`DurableStream`]: what a Stream actor holds.
//! * [`Replay`]: takes the journal into a [`Model`], for recovery and for sealing.
//! * [`Sealer`]: moves the journal into volumes; [`Archive`]: reads them.
//! * [`vault`]: how a sled database is written, guarded and read; [`block`]: what lies in it.

pub mod archive;
pub mod block;
pub mod handle;
mod heal;
pub mod library;
pub mod meta;
pub mod model;
mod quiet;
pub mod replay;
pub mod salvage;
pub mod sealer;
pub mod vault;

#[cfg(test)]
mod tests;

pub use archive::Archive;
pub use handle::DurableStream;
pub use library::Library;
pub use model::{Block, ConsumerModel, Model, StreamModel};
pub use quiet::hide_sync_command;
pub use replay::Replay;
pub use sealer::Sealer;
