//! Accounts: separate subject spaces. One server starts with two, [`AccountId::GLOBAL`] and [`AccountId::SYSTEM`].

mod who;

pub use who::{ThisIs, Who, WhoIs};

use serde::{Deserialize, Serialize};

/// The number of an account on this server. Names are for people; messages carry this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AccountId(pub u32);

impl AccountId {
    /// `$SYS`, where the server speaks about itself.
    pub const SYSTEM: Self = Self(0);
    /// `$G`, where clients land when no accounts are configured.
    pub const GLOBAL: Self = Self(1);
}
