//! What a configuration must not say, in the order in which the reference complains (consumers reference, 2.3).

use super::config::{AckPolicy, DeliverPolicy, PriorityPolicy};
use super::defaults::FLOW_CONTROL_HEARTBEAT;
use super::{ConsumerConfig, StreamContext, sample};
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::stream::config::Retention;
use crate::protocol::GoDuration;
use crate::subject::{is_literal, is_subset, is_valid_config_subject};

const MAX_DESCRIPTION: usize = 4096;
const MAX_METADATA: usize = 128 * 1024;
const MAX_NAME: usize = 255;
const MAX_GROUP: usize = 16;
const MIN_HEARTBEAT: i64 = 100_000_000;
const MIN_EXPIRES: i64 = 1_000_000;

/// Checks a configuration that has its defaults. The first complaint wins.
pub fn validate(config: &ConsumerConfig, stream: &StreamContext<'_>) -> Result<(), ApiError> {
    names(config)?;
    replicas(config, stream)?;
    waits(config)?;
    if config.description.len() > MAX_DESCRIPTION {
        return Err(ErrCode::ConsumerDescriptionTooLong.text(MAX_DESCRIPTION));
    }
    match config.is_push() {
        true => push(config, stream)?,
        false => pull(config, stream)?,
    }
    limits(config, stream)?;
    if config.direct && !config.is_push() {
        return Err(ErrCode::ConsumerDirectRequiresPush.api());
    }
    if config.direct && config.is_durable() {
        return Err(ErrCode::ConsumerDirectRequiresEphemeral.api());
    }
    filters(config)?;
    start(config)?;
    sample::parse(&config.sample_freq).map_err(|reason| ErrCode::ConsumerInvalidSampling.text(reason))?;
    if config.flow_control && config.idle_heartbeat == 0 {
        return Err(ErrCode::ConsumerFlowControlNeedsHeartbeats.api());
    }
    if config.is_durable() && !config.name.is_empty() && config.name != config.durable_name {
        return Err(ErrCode::ConsumerCreateDurableAndNameMismatch.api());
    }
    let metadata: usize = config.metadata.iter().map(|(key, value)| key.len() + value.len()).sum();
    if metadata > MAX_METADATA {
        return Err(ErrCode::ConsumerMetadataLength.text("128KB"));
    }
    priorities(config)
}

/// The last check before a consumer is made (1.3, step 23).
pub fn name_length(config: &ConsumerConfig) -> Result<(), ApiError> {
    match config.durable_name.len() > MAX_NAME {
        true => Err(ErrCode::ConsumerNameTooLong.text(MAX_NAME)),
        false => Ok(()),
    }
}

/// Whether a text may name a priority group.
pub fn is_valid_group(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"/_=-".contains(&byte);
    (1..=MAX_GROUP).contains(&name.len()) && name.bytes().all(allowed)
}

fn names(config: &ConsumerConfig) -> Result<(), ApiError> {
    const FORBIDDEN: [char; 10] = [' ', '\t', '\r', '\n', '\x0c', '.', '*', '>', '\\', '/'];
    const TEXT: &str = r"name can not contain '.', '*', '>', '\', '/'";
    if config.name.contains(FORBIDDEN) {
        return Err(ErrCode::StreamInvalidConfig.text(format_args!("consumer {TEXT}")));
    }
    if config.durable_name.contains(FORBIDDEN) {
        return Err(ErrCode::StreamInvalidConfig.text(format_args!("consumer durable {TEXT}")));
    }
    Ok(())
}

fn replicas(config: &ConsumerConfig, stream: &StreamContext<'_>) -> Result<(), ApiError> {
    let wanted = config.num_replicas;
    let given = stream.config.num_replicas.max(1);
    if wanted > given {
        return Err(ErrCode::ConsumerReplicasExceedsStream.api());
    }
    if wanted < 0 {
        return Err(ErrCode::ReplicasCountNegative.api());
    }
    if stream.config.retention != Retention::Limits && wanted != 0 && wanted != given {
        return Err(ErrCode::ConsumerReplicasShouldMatchStream.api());
    }
    Ok(())
}

fn waits(config: &ConsumerConfig) -> Result<(), ApiError> {
    if config.backoff.iter().any(|&wait| wait < 0) {
        return Err(ErrCode::ConsumerBackoffNegative.api());
    }
    if config.ack_wait < 0 {
        return Err(ErrCode::ConsumerAckWaitNegative.api());
    }
    if config.ack_policy == AckPolicy::FlowControl {
        flow_control_ack(config)?;
    }
    if config.max_deliver != -1 && config.backoff.len() as i64 > config.max_deliver {
        return Err(ErrCode::ConsumerMaxDeliverBackoff.api());
    }
    Ok(())
}

fn flow_control_ack(config: &ConsumerConfig) -> Result<(), ApiError> {
    if !config.is_push() {
        return Err(ErrCode::ConsumerFlowControlAckRequiresPush.api());
    }
    if !config.flow_control {
        return Err(ErrCode::ConsumerFlowControlAckRequiresFlowControl.api());
    }
    if config.idle_heartbeat != FLOW_CONTROL_HEARTBEAT {
        return Err(ErrCode::StreamInvalidConfig.text("flow control ack policy heartbeat needs to be 1s"));
    }
    if config.max_ack_pending <= 0 {
        return Err(ErrCode::ConsumerFlowControlAckRequiresMaxAckPending.api());
    }
    if config.ack_wait != 0 || !config.backoff.is_empty() {
        return Err(ErrCode::ConsumerFlowControlAckRequiresNoAckWait.api());
    }
    if config.max_deliver > 0 {
        return Err(ErrCode::ConsumerFlowControlAckRequiresNoMaxDeliver.api());
    }
    Ok(())
}

fn push(config: &ConsumerConfig, stream: &StreamContext<'_>) -> Result<(), ApiError> {
    let subject = config.deliver_subject.as_bytes();
    if !is_literal(subject) {
        return Err(ErrCode::ConsumerDeliverToWildcards.api());
    }
    if !is_valid_config_subject(subject) {
        return Err(ErrCode::ConsumerInvalidDeliverSubject.api());
    }
    if stream.config.subjects.iter().any(|own| is_subset(subject, own.as_bytes())) {
        return Err(ErrCode::ConsumerDeliverCycle.api());
    }
    if config.max_waiting != 0 {
        return Err(ErrCode::ConsumerPushMaxWaiting.api());
    }
    if config.max_ack_pending > 0 && config.ack_policy == AckPolicy::None {
        return Err(ErrCode::ConsumerMaxAckPendingRequiresAckPolicy.api());
    }
    if config.idle_heartbeat > 0 && config.idle_heartbeat < MIN_HEARTBEAT {
        return Err(ErrCode::ConsumerSmallHeartbeat.api());
    }
    Ok(())
}

fn pull(config: &ConsumerConfig, stream: &StreamContext<'_>) -> Result<(), ApiError> {
    if stream.config.retention == Retention::WorkQueue && config.ack_policy == AckPolicy::None {
        return Err(ErrCode::ConsumerPullRequiresAck.api());
    }
    if config.rate_limit_bps > 0 {
        return Err(ErrCode::ConsumerPullWithRateLimit.api());
    }
    if config.idle_heartbeat > 0 {
        return Err(ErrCode::ConsumerHeartbeatRequiresPush.api());
    }
    if config.flow_control {
        return Err(ErrCode::ConsumerFlowControlRequiresPush.api());
    }
    if config.max_expires > 0 && config.max_expires < MIN_EXPIRES {
        return Err(ErrCode::ConsumerMaxRequestExpiresTooSmall.api());
    }
    if let Some(limit) = stream.limits.max_request_batch.filter(|&limit| limit > 0 && config.max_batch > limit) {
        return Err(ErrCode::ConsumerMaxRequestBatchExceeded.text(limit));
    }
    Ok(())
}

fn limits(config: &ConsumerConfig, stream: &StreamContext<'_>) -> Result<(), ApiError> {
    let of_stream = &stream.config.consumer_limits;
    let pending = [stream.limits.max_ack_pending.unwrap_or(0), of_stream.max_ack_pending];
    if let Some(&limit) = pending.iter().find(|&&limit| limit > 0 && config.max_ack_pending > limit) {
        return Err(ErrCode::ConsumerMaxAckPendingExcess.text(limit));
    }
    let limit = of_stream.inactive_threshold;
    if limit > 0 && config.inactive_threshold > limit {
        return Err(ErrCode::ConsumerInactiveThresholdExcess.text(GoDuration(limit)));
    }
    Ok(())
}

fn filters(config: &ConsumerConfig) -> Result<(), ApiError> {
    let invalid = || ErrCode::StreamInvalidConfig.text("invalid subject");
    if !config.filter_subject.is_empty() && !config.filter_subjects.is_empty() {
        return Err(ErrCode::ConsumerDuplicateFilterSubjects.api());
    }
    if !config.filter_subject.is_empty() && !is_valid_config_subject(config.filter_subject.as_bytes()) {
        return Err(invalid());
    }
    for (at, filter) in config.filter_subjects.iter().enumerate() {
        if filter.is_empty() {
            return Err(ErrCode::ConsumerEmptyFilter.api());
        }
        if !is_valid_config_subject(filter.as_bytes()) {
            return Err(invalid());
        }
        let overlaps = |other: &String| {
            is_subset(filter.as_bytes(), other.as_bytes()) || is_subset(other.as_bytes(), filter.as_bytes())
        };
        if config.filter_subjects[..at].iter().any(overlaps) {
            return Err(ErrCode::ConsumerOverlappingSubjectFilters.api());
        }
    }
    Ok(())
}

fn start(config: &ConsumerConfig) -> Result<(), ApiError> {
    let wrong = |text: &str| {
        Err(ErrCode::ConsumerInvalidPolicy.text(format_args!("consumer delivery policy is deliver {text}")))
    };
    let (sequence, time) = (config.opt_start_seq > 0, config.opt_start_time.is_some());
    let name = match config.deliver_policy {
        DeliverPolicy::ByStartSequence if !sequence => {
            return wrong("by start sequence, but optional start sequence is not set");
        }
        DeliverPolicy::ByStartSequence if time => {
            return wrong("by start sequence, but optional start time is also set");
        }
        DeliverPolicy::ByStartTime if !time => return wrong("by start time, but optional start time is not set"),
        DeliverPolicy::ByStartTime if sequence => {
            return wrong("by start time, but optional start start sequence is also set");
        }
        DeliverPolicy::ByStartSequence | DeliverPolicy::ByStartTime => return Ok(()),
        DeliverPolicy::All => "all",
        DeliverPolicy::Last => "last",
        DeliverPolicy::New => "new",
        DeliverPolicy::LastPerSubject => "last per subject",
    };
    if sequence {
        return wrong(&format!("{name}, but optional start sequence is also set"));
    }
    if time {
        return wrong(&format!("{name}, but optional start time is also set"));
    }
    if config.deliver_policy == DeliverPolicy::LastPerSubject && config.filters().is_empty() {
        return wrong("last per subject, but optional filter subject is not set");
    }
    Ok(())
}

fn priorities(config: &ConsumerConfig) -> Result<(), ApiError> {
    if config.priority_policy == PriorityPolicy::None {
        if !config.priority_groups.is_empty() {
            return Err(ErrCode::ConsumerPriorityGroupWithPolicyNone.api());
        }
        if config.priority_timeout > 0 {
            return Err(ErrCode::ConsumerPinnedTtlWithPolicyNone.api());
        }
        return Ok(());
    }
    if config.is_push() {
        return Err(ErrCode::ConsumerPushWithPriorityGroup.api());
    }
    if config.priority_groups.is_empty() {
        return Err(ErrCode::ConsumerPriorityPolicyWithoutGroup.api());
    }
    for group in &config.priority_groups {
        if group.is_empty() {
            return Err(ErrCode::ConsumerEmptyGroupName.api());
        }
        if !is_valid_group(group) {
            return Err(ErrCode::ConsumerInvalidGroupName.api());
        }
    }
    Ok(())
}
