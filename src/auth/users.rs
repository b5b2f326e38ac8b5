//! Who is known.

use super::attempt::Attempt;
use super::identity::{Denied, Identity, Method};
use super::password::Password;
use crate::protocol::Connect;
use std::collections::HashMap;
use std::sync::Arc;

/// What a configuration says of authentication; empty texts mean not given.
#[derive(Clone, Debug, Default)]
pub struct AuthSettings {
    pub user: String,
    pub password: String,
    pub token: String,
    pub users: Vec<UserSettings>,
    /// Who is meant by somebody who gives no credentials.
    pub no_auth_user: String,
}

/// One of the users list.
#[derive(Clone, Debug, Default)]
pub struct UserSettings {
    pub user: String,
    pub password: String,
}

/// Settings that contradict each other, in the reference's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthConflict {
    #[error("Cannot have a user/pass and token")]
    UserAndToken,
    #[error("Can not have a single user/pass and a users array")]
    SingleAndUsers,
    #[error("Can not have a token and a users array")]
    TokenAndUsers,
    #[error("Duplicate user {0:?} detected")]
    DuplicateUser(String),
    #[error("no_auth_user: {0:?} not present as user or nkey in authorization block or account configuration")]
    UnknownNoAuthUser(String),
    #[error("no_auth_user: {0:?} present, but users/nkeys are not defined")]
    NoAuthUserWithoutUsers(String),
    /// The reference ignores such a password and is open to everybody; we would rather not start.
    #[error("a password without a user would let everybody in")]
    PasswordWithoutUser,
}

/// Who is known, ready to judge. Cloning shares.
#[derive(Clone, Debug, Default)]
pub struct Users {
    known: Arc<Credentials>,
}

/// The ways in; a configuration has one of them.
#[derive(Debug, Default)]
enum Credentials {
    /// Nobody is asked.
    #[default]
    Open,
    Token(Password),
    Single {
        user: Arc<str>,
        password: Password,
    },
    List {
        users: HashMap<Arc<str>, Password>,
        no_auth_user: Option<Arc<str>>,
    },
}

impl Users {
    /// Nobody is asked.
    pub fn open() -> Self {
        Self::default()
    }

    /// Checks settings for what contradicts itself.
    pub fn new(settings: &AuthSettings) -> Result<Self, AuthConflict> {
        let AuthSettings { user, password, token, users, no_auth_user } = settings;
        let single = !user.is_empty();
        if (single || !password.is_empty()) && !token.is_empty() {
            return Err(AuthConflict::UserAndToken);
        }
        if single && !users.is_empty() {
            return Err(AuthConflict::SingleAndUsers);
        }
        if !token.is_empty() && !users.is_empty() {
            return Err(AuthConflict::TokenAndUsers);
        }
        if !no_auth_user.is_empty() && users.is_empty() {
            return Err(AuthConflict::NoAuthUserWithoutUsers(no_auth_user.clone()));
        }
        if !single && !password.is_empty() && users.is_empty() {
            return Err(AuthConflict::PasswordWithoutUser);
        }
        let known = if !token.is_empty() {
            Credentials::Token(Password::new(token))
        } else if single {
            Credentials::Single { user: user.as_str().into(), password: Password::new(password) }
        } else if users.is_empty() {
            Credentials::Open
        } else {
            list(users, no_auth_user)?
        };
        Ok(Self { known: Arc::new(known) })
    }

    /// Whether anybody is asked: what INFO says as `auth_required`.
    pub fn is_required(&self) -> bool {
        !matches!(*self.known, Credentials::Open | Credentials::List { no_auth_user: Some(_), .. })
    }

    /// Whether a secret stands in the configuration as it is; see [`PLAINTEXT_WARNING`](super::PLAINTEXT_WARNING).
    pub fn has_plaintext(&self) -> bool {
        match &*self.known {
            Credentials::Open => false,
            Credentials::Token(password) | Credentials::Single { password, .. } => !password.is_bcrypt(),
            Credentials::List { users, .. } => users.values().any(|password| !password.is_bcrypt()),
        }
    }

    /// Who somebody is that has not said CONNECT: operations before it are for them only.
    pub fn without_connect(&self) -> Option<Identity> {
        match &*self.known {
            Credentials::Open => Some(Identity { method: Method::Open, user: None }),
            Credentials::List { no_auth_user, .. } => {
                let user = no_auth_user.clone()?;
                Some(Identity { method: Method::NoAuthUser, user: Some(user) })
            }
            Credentials::Token(_) | Credentials::Single { .. } => None,
        }
    }

    /// What there is to judge in a CONNECT.
    pub fn attempt(&self, connect: &Connect) -> Attempt {
        if matches!(*self.known, Credentials::Open) || connect.is_anonymous() {
            return Attempt::decided(self.without_connect().ok_or(Denied::Anonymous));
        }
        let wrong = Denied::of(connect);
        match &*self.known {
            Credentials::Token(token) => {
                let right = Identity { method: Method::Token, user: None };
                Attempt::compare(token, &connect.auth_token, right, wrong)
            }
            Credentials::Single { user, password } if **user == *connect.user => {
                let right = Identity { method: Method::Single, user: Some(user.clone()) };
                Attempt::compare(password, &connect.pass, right, wrong)
            }
            Credentials::List { users, .. } => match users.get_key_value(connect.user.as_str()) {
                Some((user, password)) => {
                    let right = Identity { method: Method::User, user: Some(user.clone()) };
                    Attempt::compare(password, &connect.pass, right, wrong)
                }
                None => Attempt::decided(Err(wrong)),
            },
            Credentials::Open | Credentials::Single { .. } => Attempt::decided(Err(wrong)),
        }
    }

    /// Judges at once; see [`Attempt::is_bcrypt`] for when that is a bad idea.
    pub fn check(&self, connect: &Connect) -> Result<Identity, Denied> {
        self.attempt(connect).run()
    }
}

fn list(users: &[UserSettings], no_auth_user: &str) -> Result<Credentials, AuthConflict> {
    let mut known: HashMap<Arc<str>, Password> = HashMap::with_capacity(users.len());
    for UserSettings { user, password } in users {
        if known.insert(user.as_str().into(), Password::new(password)).is_some() {
            return Err(AuthConflict::DuplicateUser(user.clone()));
        }
    }
    let no_auth_user = match known.get_key_value(no_auth_user) {
        Some((user, _)) => Some(user.clone()),
        None if no_auth_user.is_empty() => None,
        None => return Err(AuthConflict::UnknownNoAuthUser(no_auth_user.to_owned())),
    };
    Ok(Credentials::List { users: known, no_auth_user })
}
