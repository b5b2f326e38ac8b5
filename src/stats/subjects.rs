use crate::account::AccountId;

/// Requests for a report, in every account.
pub const REQUEST: &str = "$SYS.REQ.ACTORS";

/// Where reports go in the system account.
pub const SYSTEM_PREFIX: &str = "$SYS.ACTORS";

/// The last token of the roll-up's subject.
pub const SUMMARY: &str = "SUMMARY";

/// An account in which reports are published, and before which tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audience {
    pub account: AccountId,
    /// Without the dot before `<kind>.<name>`. Empty: nothing is published here, only requests are answered.
    pub prefix: String,
}

impl Audience {
    pub fn subject(&self, kind: &str, name: &str) -> String {
        format!("{}.{kind}.{name}", self.prefix)
    }

    pub fn summary(&self) -> String {
        format!("{}.{SUMMARY}", self.prefix)
    }

    /// From the setting `stats.subject`, a subject ending in `.>`.
    pub fn from_setting(account: AccountId, subject: &str) -> Self {
        Self { account, prefix: subject.trim_end_matches('>').trim_end_matches('.').to_string() }
    }
}

/// A name as a subject token: what a token cannot hold becomes `_`.
pub fn token(name: &str) -> String {
    let name: String =
        name.chars().map(|c| if c.is_whitespace() || c.is_control() || ".*>".contains(c) { '_' } else { c }).collect();
    if name.is_empty() { "_".to_string() } else { name }
}
