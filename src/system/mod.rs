//! The System actor: what the server answers about itself and its clients on `$SYS` subjects.
//!
//! So far the one service that every account has, `$SYS.REQ.USER.INFO` (core reference 6.4); the rest of section 6
//! finds its place here.

mod actor;
mod envelope;

pub use actor::System;
pub use envelope::ServerStamp;
