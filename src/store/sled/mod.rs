//! Durable streams: a handle per stream, volumes of sealed messages, and generations of `meta`.

pub mod handle;
pub mod model;
pub mod replay;

pub use handle::DurableStream;
pub use model::{Block, ConsumerModel, Model, StreamModel};
pub use replay::Replay;
