//! What a configuration may ask for by the reference, and this server does not do yet. Refused, so that nobody relies
//! on it; who builds one of these takes its row away.

use super::config::StreamConfig;
use super::validate::invalid;
use crate::jetstream::error::ApiError;

/// A feature, and whether a configuration asks for it.
type Row = (&'static str, fn(&StreamConfig) -> bool);

const ROWS: &[Row] = &[
    ("mirrors", |config| config.mirror.is_some()),
    ("sources", |config| !config.sources.is_empty()),
    ("message counters", |config| config.allow_msg_counter),
    ("message schedules", |config| config.allow_msg_schedules),
    ("atomic batch publish", |config| config.allow_atomic),
    ("fast batch publish", |config| config.allow_batched),
];

pub fn check(config: &StreamConfig) -> Result<(), ApiError> {
    match ROWS.iter().find(|(_, asked)| asked(config)) {
        Some((feature, _)) => Err(invalid(format_args!("this server does not support {feature} yet"))),
        None => Ok(()),
    }
}
