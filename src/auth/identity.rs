//! Who somebody turned out to be, or was refused as.

use crate::protocol::Connect;
use std::fmt;
use std::sync::Arc;

/// How somebody proved who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Nothing is configured: nobody is asked.
    Open,
    Token,
    /// The one user and password of the configuration.
    Single,
    /// A user of the list.
    User,
    /// Came without credentials and is taken for the `no_auth_user`.
    NoAuthUser,
}

/// Who is on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub method: Method,
    /// The user's name; none for tokens and open servers.
    pub user: Option<Arc<str>>,
}

impl Identity {
    /// What monitoring shows as `authorized_user`; empty if nobody was asked.
    pub fn authorized_user(&self) -> &str {
        match (self.method, &self.user) {
            (Method::Token, _) => "[REDACTED]",
            (_, Some(user)) => user,
            (_, None) => "",
        }
    }

    /// How logs name it, behind the account: `user:x`, `token`. `None` if nobody was asked.
    pub fn label(&self) -> Option<String> {
        match (self.method, &self.user) {
            (Method::Token, _) => Some("token".to_owned()),
            (_, Some(user)) => Some(format!("user:{user}")),
            (_, None) => None,
        }
    }
}

/// Refused. Shows itself as the log line; the client is only told `Authorization Violation`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    Nkey(String),
    User(String),
    Token,
    Anonymous,
}

impl Denied {
    /// Refused under the name that was given.
    pub(super) fn of(connect: &Connect) -> Self {
        if !connect.nkey.is_empty() {
            Self::Nkey(connect.nkey.clone())
        } else if !connect.user.is_empty() {
            Self::User(connect.user.clone())
        } else if !connect.auth_token.is_empty() {
            Self::Token
        } else {
            Self::Anonymous
        }
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use crate::protocol::quote;
        f.write_str("authentication error")?;
        match self {
            Self::Nkey(nkey) => write!(f, " - Nkey {}", quote(nkey.as_bytes())),
            Self::User(user) => write!(f, " - User {}", quote(user.as_bytes())),
            Self::Token => f.write_str(" - Token \"[REDACTED]\""),
            Self::Anonymous => Ok(()),
        }
    }
}

impl std::error::Error for Denied {}
