//! A secret, plain or hashed, and its comparison.

use std::fmt;
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// Said once at startup if any secret stands in the configuration as it is.
pub const PLAINTEXT_WARNING: &str = "Plaintext passwords detected, use nkeys or bcrypt";

/// A password or token as configured. Cloning shares; it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub enum Password {
    Plain(Arc<str>),
    /// Tens of milliseconds and more to compare, by design.
    Bcrypt(Arc<str>),
}

impl Password {
    /// Takes a text for a bcrypt hash if it looks like one.
    pub fn new(text: &str) -> Self {
        if is_bcrypt_hash(text) { Self::Bcrypt(text.into()) } else { Self::Plain(text.into()) }
    }

    pub fn is_bcrypt(&self) -> bool {
        matches!(self, Self::Bcrypt(_))
    }

    /// Whether a client gave the right one. A hash that cannot be read is never right.
    pub fn is(&self, given: &str) -> bool {
        match self {
            Self::Plain(known) => known.as_bytes().ct_eq(given.as_bytes()).into(),
            Self::Bcrypt(hash) => bcrypt::verify(given, hash).unwrap_or(false),
        }
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_bcrypt() { "Bcrypt([REDACTED])" } else { "Plain([REDACTED])" })
    }
}

/// Whether it begins like a bcrypt hash: `$2a$`, `$2b$`, `$2x$` or `$2y$`, two digits, `$`.
pub fn is_bcrypt_hash(text: &str) -> bool {
    match text.as_bytes() {
        [b'$', b'2', b'a' | b'b' | b'x' | b'y', b'$', tens, ones, b'$', ..] => {
            tens.is_ascii_digit() && ones.is_ascii_digit()
        }
        _ => false,
    }
}
