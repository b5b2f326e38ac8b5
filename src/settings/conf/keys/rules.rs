//! What a table of keys can say about a key.

use super::{Field, Reading};
use crate::settings::error::Mistake;

/// A key: its names, the usual one first, and what to do with its value.
pub(super) struct Key {
    pub(super) names: &'static [&'static str],
    pub(super) rule: Rule,
}

/// What to do with a value. `path` is the setting it becomes.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    Bool(&'static str),
    Text(&'static str),
    /// An integer up to `max`, which may be negative.
    Count {
        path: &'static str,
        max: i64,
    },
    /// An integer from 0 to `max`.
    Positive {
        path: &'static str,
        max: i64,
    },
    Duration(&'static str),
    /// Something of its own.
    Special(fn(&mut Reading, &Field<'_>) -> Result<(), Mistake>),
    /// Means nothing here and does no harm: matters of Go, of clusters' upkeep, of speed alone.
    Ignored,
    /// A feature that this server does not have yet: told, since to go on without it could be unsafe.
    NotYet,
}

pub(super) const fn key(names: &'static [&'static str], rule: Rule) -> Key {
    Key { names, rule }
}

/// The most of a number that the reference keeps in 32 bits.
pub(super) const INT32: i64 = i32::MAX as i64;
