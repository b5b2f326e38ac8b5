//! What stands in a configuration where a request said nothing or too little (consumers reference, section 2.2).

use super::config::{AckPolicy, PriorityPolicy};
use super::{ConsumerConfig, StreamContext};
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::time;

const SECOND: i64 = 1_000_000_000;

const ACK_WAIT: i64 = 30 * SECOND;
const MAX_WAITING: i64 = 512;
const MAX_ACK_PENDING: i64 = 1000;
const PRIORITY_TIMEOUT: i64 = 120 * SECOND;

/// How long a consumer without a durable name outlives the last who used it, if it does not say itself.
pub const EPHEMERAL_INACTIVE_THRESHOLD: i64 = 5 * SECOND;

/// The heartbeat of consumers that are acknowledged by flow control.
pub const FLOW_CONTROL_HEARTBEAT: i64 = SECOND;

/// The member of the metadata that says which API level a configuration needs.
pub const REQUIRED_LEVEL: &str = "_nats.req.level";

/// Fills in defaults and corrects what is out of range; with `pedantic`, a correction is an error (10157).
///
/// The 5 s of ephemerals come later, when the consumer is made: see [`stamp_ephemeral`].
pub fn apply(config: &mut ConsumerConfig, stream: &StreamContext<'_>, pedantic: bool) -> Result<(), ApiError> {
    stamp_metadata(config);
    let correct = |text: &str| match pedantic {
        true => Err(ErrCode::Pedantic.text(text)),
        false => Ok(()),
    };
    if config.ack_policy == AckPolicy::FlowControl && !pedantic {
        config.flow_control = true;
        config.idle_heartbeat = FLOW_CONTROL_HEARTBEAT;
    }
    let acked = matches!(config.ack_policy, AckPolicy::Explicit | AckPolicy::All);
    if config.ack_wait == 0 && acked {
        config.ack_wait = ACK_WAIT;
    }
    if config.max_deliver < -1 {
        correct("max_deliver must be set to -1")?;
    }
    if config.max_deliver == 0 || config.max_deliver < -1 {
        config.max_deliver = -1;
    }
    if let Some(&first) = config.backoff.first() {
        if config.ack_wait != first {
            correct("first backoff value has to equal batch AckWait")?;
        }
        config.ack_wait = first;
    }
    if config.max_waiting < 0 {
        correct("max_waiting must not be negative")?;
        config.max_waiting = 0;
    }
    if !config.is_push() && config.max_waiting == 0 {
        config.max_waiting = MAX_WAITING;
    }
    max_ack_pending(config, stream, &correct)?;
    for (value, text) in [
        (&mut config.max_batch, "max_batch must not be negative"),
        (&mut config.max_expires, "max_expires must not be negative"),
        (&mut config.max_bytes, "max_bytes must not be negative"),
        (&mut config.idle_heartbeat, "idle_heartbeat must not be negative"),
        (&mut config.inactive_threshold, "inactive_threshold must not be negative"),
        (&mut config.priority_timeout, "priority_timeout must not be negative"),
    ] {
        if *value < 0 {
            correct(text)?;
            *value = 0;
        }
    }
    let limit = stream.config.consumer_limits.inactive_threshold;
    if config.inactive_threshold == 0 && limit > 0 {
        correct("inactive_threshold must be set if it's configured in stream limits")?;
        config.inactive_threshold = limit;
    }
    if let Some(limit) = stream.limits.max_request_batch.filter(|&limit| limit > 0)
        && !config.is_push()
        && config.max_batch == 0
    {
        correct("max_request_batch must be set if it's JetStream limits are set")?;
        config.max_batch = limit;
    }
    if config.priority_policy == PriorityPolicy::PinnedClient && config.priority_timeout == 0 {
        config.priority_timeout = PRIORITY_TIMEOUT;
    }
    Ok(())
}

/// A consumer without a durable name that says nothing of inactivity: it gets 5 s, when it is made and only then.
pub fn stamp_ephemeral(config: &mut ConsumerConfig) {
    if !config.is_durable() && config.inactive_threshold == 0 {
        config.inactive_threshold = EPHEMERAL_INACTIVE_THRESHOLD;
    }
}

fn max_ack_pending(
    config: &mut ConsumerConfig,
    stream: &StreamContext<'_>,
    correct: &impl Fn(&str) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    if config.max_ack_pending < -1 {
        correct("max_ack_pending must be set to -1")?;
        config.max_ack_pending = -1;
    }
    // The limit would make push consumers without acks impossible, and with them ordered ones.
    let has_acks = config.ack_policy != AckPolicy::None;
    if config.max_ack_pending != 0 || (config.is_push() && !has_acks) {
        return Ok(());
    }
    let limit = stream.config.consumer_limits.max_ack_pending;
    if limit > 0 {
        correct("max_ack_pending must be set if it's configured in stream limits")?;
        config.max_ack_pending = limit;
        return Ok(());
    }
    if !has_acks {
        return Ok(());
    }
    let server = stream.limits.max_ack_pending.filter(|&limit| limit > 0).unwrap_or(MAX_ACK_PENDING);
    config.max_ack_pending = server.min(MAX_ACK_PENDING);
    Ok(())
}

/// What clients say of the server's own members is dropped; the level is what the configuration needs.
pub(super) fn stamp_metadata(config: &mut ConsumerConfig) {
    for own in ["_nats.ver", "_nats.level", REQUIRED_LEVEL] {
        config.metadata.remove(own);
    }
    let prioritized = config.priority_policy != PriorityPolicy::None
        || config.priority_timeout != 0
        || !config.priority_groups.is_empty();
    let paused = config.pause_until.as_deref().is_some_and(|time| time::parse(time) != Ok(time::NEVER));
    let level = match config.ack_policy {
        AckPolicy::FlowControl => "4",
        _ if paused || prioritized => "1",
        _ => "0",
    };
    config.metadata.insert(REQUIRED_LEVEL.to_string(), level.to_string());
}
