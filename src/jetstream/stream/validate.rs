//! Whether a configuration is one, and what it becomes with its defaults: rows 7 to 52 of the streams reference,
//! section 2.3, in their order. First failure wins.

use super::config::*;
use super::{defaults, metadata, origin_rules, republish, subject_rules, unsupported};
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::{AccountLimits, Limits};
use crate::protocol::GoDuration;

const MAX_NAME: usize = 255;
const MAX_DESCRIPTION: usize = 4096;
const MAX_METADATA: usize = 128 * 1024;
const MAX_REPLICAS: i64 = 5;
const SHORTEST: i64 = 100 * MILLISECOND;
const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1000 * MILLISECOND;

/// What a configuration is checked against.
#[derive(Clone, Copy, Debug)]
pub struct Against<'a> {
    pub limits: &'a Limits,
    pub account: &'a AccountLimits,
    /// Refuse what would have to be adjusted.
    pub pedantic: bool,
}

/// 10052, the code of most rules here.
pub fn invalid(text: impl std::fmt::Display) -> ApiError {
    ErrCode::StreamInvalidConfig.text(text)
}

/// The error of `pedantic` requests.
pub fn pedantic(text: impl std::fmt::Display) -> ApiError {
    ErrCode::Pedantic.text(text)
}

/// Checks a configuration and fills in its defaults.
pub fn check(config: &mut StreamConfig, against: &Against<'_>) -> Result<(), ApiError> {
    metadata::stamp(config);
    names(config)?;
    replicas(config)?;
    counts(config, against)?;
    times(config, against)?;
    let ttl_asked = config.allow_msg_ttl;
    rollups_and_counters(config, ttl_asked)?;
    discard(config)?;
    delete_markers(config, against)?;
    schedules(config, against)?;
    persistence(config)?;
    defaults::subjects(config);
    origin_rules::check(config)?;
    subject_rules::check(config)?;
    account(config, against)?;
    republish::check(config, against.pedantic)?;
    placement(config)?;
    unsupported::check(config)?;
    if config.num_replicas > 1 {
        return Err(ErrCode::StreamReplicasNotSupported.api());
    }
    metadata::stamp(config);
    Ok(())
}

fn ensure(holds: bool, text: &str) -> Result<(), ApiError> {
    if holds { Ok(()) } else { Err(invalid(text)) }
}

fn names(config: &StreamConfig) -> Result<(), ApiError> {
    ensure(is_valid_name(&config.name), "stream name is required and can not contain '.', '*', '>', '\\', '/'")?;
    ensure(config.name.len() <= MAX_NAME, "stream name is too long, maximum allowed is 255")?;
    ensure(config.description.len() <= MAX_DESCRIPTION, "stream description is too long, maximum allowed is 4096")?;
    let size: usize = config.metadata.iter().map(|(key, value)| key.len() + value.len()).sum();
    ensure(size <= MAX_METADATA, "stream metadata exceeds maximum size of 131072 bytes")
}

/// Whether a stream can be called so.
pub fn is_valid_name(name: &str) -> bool {
    const BAD: &[char] = &[' ', '\t', '\r', '\n', '\x0c', '.', '*', '>', '\\', '/'];
    !name.is_empty() && !name.contains(BAD)
}

fn replicas(config: &mut StreamConfig) -> Result<(), ApiError> {
    if config.num_replicas == 0 {
        config.num_replicas = 1;
    }
    ensure(config.num_replicas <= MAX_REPLICAS, "maximum replicas is 5")?;
    if config.num_replicas < 0 {
        return Err(ErrCode::ReplicasCountNegative.api());
    }
    Ok(())
}

fn counts(config: &mut StreamConfig, against: &Against<'_>) -> Result<(), ApiError> {
    let given = [
        ("max_msgs", config.max_msgs),
        ("max_msgs_per_subject", config.max_msgs_per_subject),
        ("max_bytes", config.max_bytes),
        ("max_msg_size", config.max_msg_size.into()),
        ("max_consumers", config.max_consumers),
    ];
    if let Some((name, _)) = given.iter().find(|(_, limit)| against.pedantic && *limit < -1) {
        return Err(pedantic(format_args!("{name} must be set to -1")));
    }
    defaults::limits(config);
    Ok(())
}

fn times(config: &mut StreamConfig, against: &Against<'_>) -> Result<(), ApiError> {
    ensure(config.max_age >= 0, "max age can not be negative")?;
    ensure(config.max_age == 0 || config.max_age >= SHORTEST, "max age needs to be >= 100ms")?;
    let server_limit = against.limits.duplicate_window.filter(|limit| *limit > 0);
    if let Some((window, shortened)) = defaults::duplicate_window(config, server_limit) {
        if against.pedantic && shortened.by_server {
            return Err(pedantic("duplicate window limits are higher than current limits"));
        }
        if against.pedantic && shortened.by_age {
            return Err(pedantic("duplicate window cannot be bigger than max age"));
        }
        config.duplicate_window = window;
    }
    let window = config.duplicate_window;
    ensure(window >= 0, "duplicates window can not be negative")?;
    ensure(config.max_age == 0 || window <= config.max_age, "duplicates window can not be larger then max age")?;
    if let Some(limit) = server_limit.filter(|limit| window > *limit) {
        let limit = GoDuration(limit);
        return Err(invalid(format_args!("duplicates window can not be larger then server limit of {limit}")));
    }
    ensure(window == 0 || window >= SHORTEST, "duplicates window needs to be >= 100ms")
}

fn rollups_and_counters(config: &StreamConfig, ttl_asked: bool) -> Result<(), ApiError> {
    ensure(!(config.deny_purge && config.allow_rollup_hdrs), "roll-ups require the purge permission")?;
    if !config.allow_msg_counter {
        return Ok(());
    }
    ensure(config.discard != Discard::New, "counter stream cannot use discard new")?;
    ensure(!ttl_asked, "counter stream cannot use message TTLs")?;
    ensure(!config.allow_msg_schedules, "counter stream cannot use message schedules")?;
    ensure(config.retention == Retention::Limits, "counter stream can only use limits retention")
}

fn discard(config: &StreamConfig) -> Result<(), ApiError> {
    if !config.discard_new_per_subject {
        return Ok(());
    }
    ensure(config.discard == Discard::New, "discard new per subject requires discard new policy to be set")?;
    ensure(config.max_msgs_per_subject > 0, "discard new per subject requires max msgs per subject > 0")
}

fn delete_markers(config: &mut StreamConfig, against: &Against<'_>) -> Result<(), ApiError> {
    let ttl = config.subject_delete_marker_ttl;
    ensure(ttl <= 0 || ttl >= SECOND, "subject delete marker TTL must be at least 1 second")?;
    if ttl > 0 && against.pedantic {
        ensure(config.allow_msg_ttl, "subject delete marker cannot be set if message TTLs are disabled")?;
        ensure(config.allow_rollup_hdrs, "subject delete marker cannot be set if roll-ups are disabled")?;
    }
    ensure(ttl >= 0, "subject delete marker TTL must not be negative")?;
    defaults::delete_markers(config);
    Ok(())
}

fn schedules(config: &mut StreamConfig, against: &Against<'_>) -> Result<(), ApiError> {
    if !config.allow_msg_schedules {
        return Ok(());
    }
    ensure(config.discard != Discard::New, "message scheduling cannot use discard new")?;
    let rollups = config.allow_rollup_hdrs || !against.pedantic;
    ensure(rollups, "message scheduling cannot be set if roll-ups are disabled")?;
    defaults::schedules(config);
    Ok(())
}

fn persistence(config: &StreamConfig) -> Result<(), ApiError> {
    if config.persist_mode != PersistMode::Async {
        return Ok(());
    }
    ensure(config.storage == Storage::File, "async persist mode is only supported on file storage")?;
    ensure(config.num_replicas <= 1, "async persist mode is not supported on replicated streams")?;
    ensure(!config.allow_atomic, "async persist mode is not supported with atomic batch publish")
}

fn account(config: &StreamConfig, against: &Against<'_>) -> Result<(), ApiError> {
    if against.account.max_bytes_required && config.max_bytes <= 0 {
        return Err(ErrCode::StreamMaxBytesRequired.api());
    }
    let cap = match config.storage {
        Storage::File => against.account.storage_max_stream_bytes,
        Storage::Memory => against.account.memory_max_stream_bytes,
    };
    if cap > 0 && config.max_bytes > cap {
        return Err(ErrCode::StreamMaxStreamBytesExceeded.api());
    }
    Ok(())
}

fn placement(config: &mut StreamConfig) -> Result<(), ApiError> {
    let Some(placement) = &config.placement else { return Ok(()) };
    ensure(placement.preferred.is_empty(), "preferred server not permitted in placement")?;
    if *placement == Placement::default() {
        config.placement = None;
    }
    Ok(())
}
