//! The wire: what clients and servers say to each other, and how it is written. No I/O, no actors.

mod connect;
mod duration;
mod error;
pub mod headers;
mod info;
mod message;
mod nuid;
mod time;

#[cfg(test)]
mod tests;

pub use connect::{BadConnect, Connect};
pub use duration::{BadDuration, GoDuration};
pub use error::{CloseReason, ProtocolError, quote};
pub use info::ServerInfo;
pub use message::StoredMessage;
pub use nuid::{NUID_LENGTH, fresh_name, nuid, short_hash};
pub use time::{BadTime, OffsetTime, Timestamp};
