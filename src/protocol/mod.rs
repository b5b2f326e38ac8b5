//! The wire: what clients and servers say to each other, and how it is written. No I/O, no actors.

mod connect;
mod duration;
mod encode;
mod error;
pub mod headers;
mod info;
mod message;
mod nuid;
mod op;
mod parse;
mod scan;
mod time;
mod violation;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod wire_tests;

pub use connect::{BadConnect, Connect};
pub use duration::{BadDuration, GoDuration};
pub use encode::{Letter, encode, encode_no_responders, encode_one, encode_run};
pub use error::{CloseReason, ProtocolError, quote};
pub use info::ServerInfo;
pub use message::StoredMessage;
pub use nuid::{NUID_LENGTH, fresh_name, nuid, short_hash};
pub use op::{LONGEST_CONTROL_LINE, Op, PubOp};
pub use parse::{Limits, Parsed, parse, take_pubs};
pub use time::{BadTime, OffsetTime, Timestamp};
pub use violation::Violation;
