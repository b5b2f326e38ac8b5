//! `[auth]`: who may connect.

use super::super::units::{self, Secret};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// `[auth]`: one of user and password, token, or users. Nothing of it lets everybody in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuthSettings {
    /// The one user, with `password`.
    #[serde(with = "units::optional")]
    pub user: Option<String>,
    /// Plain or bcrypt.
    #[serde(with = "units::optional")]
    pub password: Option<Secret>,
    /// The one token, plain or bcrypt.
    #[serde(with = "units::optional")]
    pub token: Option<Secret>,
    /// How long a client may take to say who it is.
    #[serde(with = "units::duration")]
    pub timeout: Duration,
    /// The user that a client without credentials is taken for.
    #[serde(with = "units::optional")]
    pub no_auth_user: Option<String>,
    /// Permissions of users without their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_permissions: Option<Permissions>,
    /// The users, instead of the one.
    pub users: Vec<UserSettings>,
}

/// One of `[[auth.users]]`: a name and password, or an nkey.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UserSettings {
    /// The user's name.
    #[serde(with = "units::optional", skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Plain or bcrypt.
    #[serde(with = "units::optional", skip_serializing_if = "Option::is_none")]
    pub password: Option<Secret>,
    /// Public user key (`U...`); such a user has neither name nor password.
    #[serde(with = "units::optional", skip_serializing_if = "Option::is_none")]
    pub nkey: Option<String>,
    /// What the user may do; everything, if neither this nor `default_permissions` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    /// Kinds of connection the user may come by (`STANDARD`, `WEBSOCKET` ...), in upper case; empty allows all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_connection_types: Vec<String>,
}

/// What a user may publish and subscribe to. Reference section 3.3.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Permissions {
    /// Subjects to publish to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publish: Option<SubjectPermission>,
    /// Subjects to subscribe to, each with an optional queue group after a blank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscribe: Option<SubjectPermission>,
    /// Answers to what the user was sent, beside `publish`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_responses: Option<ResponsePermission>,
}

/// `allow = ["a.>"], deny = ["a.b"]`. Without `allow`, everything not denied is allowed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SubjectPermission {
    /// What is allowed; `None` allows everything, an empty list nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// What is refused all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

/// How often and how long a user may answer to a reply subject it was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResponsePermission {
    /// Answers per reply subject; negative has no limit.
    pub max: i64,
    /// How long after the request; zero has no limit.
    #[serde(with = "units::duration")]
    pub expires: Duration,
}

impl Default for ResponsePermission {
    fn default() -> Self {
        Self { max: 1, expires: Duration::from_secs(120) }
    }
}

/// A longer `auth.timeout` than this is worth a warning.
pub const LONG_AUTH_TIMEOUT: Duration = Duration::from_secs(60);

impl AuthSettings {
    /// Whether a client has to say who it is (`auth_required` in INFO).
    pub fn required(&self) -> bool {
        self.configured() && self.no_auth_user.is_none()
    }

    /// Whether anything here can let somebody in.
    pub fn configured(&self) -> bool {
        self.user.is_some() || self.token.is_some() || !self.users.is_empty()
    }
}

impl Default for AuthSettings {
    fn default() -> Self {
        Self {
            user: None,
            password: None,
            token: None,
            timeout: Duration::from_secs(2),
            no_auth_user: None,
            default_permissions: None,
            users: Vec::new(),
        }
    }
}
