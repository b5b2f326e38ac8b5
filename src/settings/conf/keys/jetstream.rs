//! The `jetstream` block.

use super::rules::{INT32, Key, Rule, key};
use super::{Field, Reading};
use crate::settings::conf::Value;
use crate::settings::error::Mistake;

/// Reference section 8.3, "jetstream".
#[rustfmt::skip]
const KEYS: &[Key] = &[
    key(&["enabled", "enable"], Rule::Bool("jetstream.enabled")),
    key(&["disabled", "disable"], Rule::Special(disabled)),
    key(&["store_dir", "storedir", "store"], Rule::Text("jetstream.store_dir")),
    key(&["max_memory_store", "max_mem_store", "max_mem"], Rule::Special(max_memory)),
    key(&["max_file_store", "max_file"], Rule::Special(max_file)),
    key(&["domain"], Rule::Text("jetstream.domain")),
    key(&["sync_interval", "sync"], Rule::Special(sync)),
    key(&["strict"], Rule::Bool("jetstream.strict")),
    key(&["limits"], Rule::Special(limits)),
    key(&["request_queue_limit"], Rule::Positive { path: "jetstream.request_queue_limit", max: INT32 }),
    key(&["info_queue_limit"], Rule::Positive { path: "jetstream.info_queue_limit", max: INT32 }),
    key(&["max_buffered_size"], Rule::Special(max_buffered_size)),
    key(&["max_buffered_msgs"], Rule::Positive { path: "jetstream.max_buffered_msgs", max: INT32 }),

    key(&["unique_tag", "max_outstanding_catchup", "extension_hint", "max_concurrent_io"], Rule::Ignored),
    key(&["meta_compact", "meta_compact_size", "meta_compact_sync"], Rule::Ignored),

    key(&["key", "ek", "encryption_key", "prev_key", "prev_ek", "prev_encryption_key", "cipher", "tpm"], Rule::NotYet),
];

const LIMITS: &[Key] = &[
    key(&["max_ack_pending"], Rule::Count { path: "jetstream.limits.max_ack_pending", max: INT32 }),
    key(&["max_request_batch"], Rule::Special(max_request_batch)),
    key(&["duplicate_window"], Rule::Duration("jetstream.limits.duplicate_window")),
    key(&["default_max_consumers"], Rule::Special(default_max_consumers)),
    key(&["batch"], Rule::Special(batch)),
    // Copies of a stream in a cluster.
    key(&["max_ha_assets"], Rule::Ignored),
];

const BATCH: &[Key] = &[
    key(&["max_msgs"], Rule::Positive { path: "jetstream.limits.batch.max_msgs", max: INT32 }),
    key(
        &["max_inflight_per_stream"],
        Rule::Positive { path: "jetstream.limits.batch.max_inflight_per_stream", max: INT32 },
    ),
    key(&["max_inflight_total"], Rule::Positive { path: "jetstream.limits.batch.max_inflight_total", max: INT32 }),
    key(&["timeout"], Rule::Duration("jetstream.limits.batch.timeout")),
];

/// `true`, `enabled`, or a block, which enables it too unless it says otherwise.
pub(super) fn jetstream(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    let enabled = match &field.item.value {
        Value::Bool(enabled) => *enabled,
        Value::Text(text) => match text.to_lowercase().as_str() {
            "enabled" | "enable" => true,
            "disabled" | "disable" => false,
            _ => return Err(field.mistake(format!("Expected 'enabled' or 'disabled' for string value, got '{text}'"))),
        },
        Value::Map(map) => {
            reading.set("jetstream.enabled", true, field.item);
            reading.block(map, KEYS);
            return Ok(());
        }
        _ => return Err(field.expected("a map, a boolean, \"enabled\" or \"disabled\"")),
    };
    reading.set("jetstream.enabled", enabled, field.item);
    Ok(())
}

fn disabled(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    reading.set("jetstream.enabled", !field.bool()?, field.item);
    Ok(())
}

fn limits(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    reading.block(field.map()?, LIMITS);
    Ok(())
}

fn batch(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    reading.block(field.map()?, BATCH);
    Ok(())
}

/// A number of bytes, or a string that ends in K, M, G or T.
fn size(field: &Field<'_>) -> Result<i64, Mistake> {
    match &field.item.value {
        Value::Integer(n) => Ok(*n),
        Value::Text(text) => {
            let wrong = || field.mistake(format!("{} sizes defined as strings must end in K, M, G, T", field.name));
            let digits = text.strip_suffix(['K', 'k', 'M', 'm', 'G', 'g', 'T', 't']).ok_or_else(wrong)?;
            digits.parse::<i64>().ok().and_then(|_| crate::settings::units::parse_size(text)).ok_or_else(wrong)
        }
        _ => Err(field.expected("an integer or a size such as \"10G\"")),
    }
}

fn max_memory(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    let bytes = size(field)?;
    reading.set("jetstream.max_memory", bytes.max(-1), field.item);
    Ok(())
}

fn max_file(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    let bytes = size(field)?;
    reading.set("jetstream.max_file", bytes.max(-1), field.item);
    Ok(())
}

fn max_buffered_size(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    reading.set("jetstream.max_buffered_size", size(field)?.max(0), field.item);
    Ok(())
}

/// `always`, or how long a sync may be put off.
fn sync(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    if matches!(&field.item.value, Value::Text(text) if text.eq_ignore_ascii_case("always")) {
        reading.set("jetstream.sync", "always", field.item);
        return Ok(());
    }
    let interval = reading.duration(field)?;
    reading.set("jetstream.sync", "interval", field.item);
    reading.set("jetstream.sync_interval", crate::settings::units::format_duration(interval), field.item);
    Ok(())
}

/// Nothing but a positive number is a limit.
fn max_request_batch(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    reading.set("jetstream.limits.max_request_batch", field.integer()?.clamp(0, INT32), field.item);
    Ok(())
}

/// 0 leaves the default; a negative number is no limit.
fn default_max_consumers(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    match field.integer()? {
        0 => {}
        n => reading.set("jetstream.limits.max_consumers_per_stream", n.clamp(-1, INT32), field.item),
    }
    Ok(())
}
