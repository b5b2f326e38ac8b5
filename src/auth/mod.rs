//! Who may come in: tokens, users and their passwords (core reference 3.1). No I/O, no actors.
//!
//! [`AuthSettings`] is what a configuration says; [`Users`] is that, checked, ready to judge a CONNECT. Judging can
//! take tens of milliseconds (bcrypt), so it is a value of its own, an [`Attempt`], that can run on any thread.

mod attempt;
mod identity;
mod password;
mod users;

#[cfg(test)]
mod tests;

pub use attempt::Attempt;
pub use identity::{Denied, Identity, Method};
pub use password::{PLAINTEXT_WARNING, Password, is_bcrypt_hash};
pub use users::{AuthConflict, AuthSettings, UserSettings, Users};
