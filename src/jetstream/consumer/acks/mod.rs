//! Acknowledgements: what they say, and what they do.

pub mod parse;
mod settle;
pub mod waits;

pub use parse::{AckNumbers, AckVerb};
pub use waits::AckWaits;
