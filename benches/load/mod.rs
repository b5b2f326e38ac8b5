//! A load generator of our own on plain sockets: threads and `std::net`, nothing between the figures and the server.
//!
//! `server` starts a broker and reads its CPU time, `client` speaks the protocol, `work` times a piece of work, and one
//! file per family holds the workloads: `core`, `publish` and `consume` (JetStream). `growth` asks what more of everything costs,
//! with a `meter`. `report` prints what came out.

// Each benchmark is a crate of its own and uses a part of this folder only.
#![allow(dead_code)]

pub mod client;
pub mod consume;
pub mod core;
pub mod growth;
pub mod meter;
pub mod options;
pub mod publish;
pub mod report;
pub mod server;
pub mod work;
