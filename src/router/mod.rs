//! The Subject-Router: one replica per network arbiter, each with the whole subscription index.

pub mod messages;
mod outbox;
mod switchboard;

pub use outbox::{Outbox, Outboxes, Presentation, part};
pub use switchboard::{Line, Switchboard};
