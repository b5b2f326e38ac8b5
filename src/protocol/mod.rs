//! The wire: parser, encoder, INFO, CONNECT, headers, error texts. No I/O, no actors.

mod message;

pub use message::StoredMessage;
