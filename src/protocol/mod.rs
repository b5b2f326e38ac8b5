//! The wire: parser, encoder, INFO, CONNECT, headers, error texts. No I/O, no actors.

mod encode;
mod message;
mod op;
mod parse;
mod scan;
mod violation;

#[cfg(test)]
mod wire_tests;

pub use encode::{Letter, encode, encode_no_responders, encode_one, encode_run};
pub use message::StoredMessage;
pub use op::{LONGEST_CONTROL_LINE, Op, PubOp};
pub use parse::{Limits, Parsed, parse, take_pubs};
pub use violation::Violation;
