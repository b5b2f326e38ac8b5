//! The Subject-Router: one replica per network arbiter, each with the whole subscription index.
//!
//! A replica takes the batches of the connections on its arbiter, finds who is to have each message, and gathers for
//! every destination what it is to get; when its mailbox is empty, each destination gets one delivery and each publisher
//! its buffer back. See `docs/architecture.md` for why that is all there is to it.

mod cache;
mod client;
mod credit;
mod destination;
mod directory;
mod matchset;
pub mod messages;
mod outbox;
mod publish;
mod replica;
mod routing;
mod service;
mod subscription;
mod switchboard;
mod watch;

#[cfg(test)]
mod tests;

pub use client::{Ack, Change, Changes, Deliver, Drained, Enter, FromRouter, Leave, PubBatch, Segment, Traits};
pub use outbox::{Outbox, Outboxes, Presentation, part};
pub use replica::{Options, Router, RouterState, Routers, launch_routers};
pub use switchboard::{Line, Switchboard};
