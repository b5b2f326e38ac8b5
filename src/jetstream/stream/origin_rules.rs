//! What a mirror, and each source, may say about the stream it copies (streams reference, section 2.7), as far as the
//! configuration alone tells.

use super::config::{StreamConfig, StreamSource};
use super::validate::{invalid, is_valid_name};
use crate::jetstream::api::endpoint::PREFIX;
use crate::jetstream::error::{ApiError, ErrCode};
use crate::subject::{collides, is_literal, is_subset, is_valid_config_subject};

/// The errors that mirrors and sources have in common under different codes.
struct Codes {
    name: ErrCode,
    filter_and_transforms: ErrCode,
    transform_source: ErrCode,
    transforms_overlap: ErrCode,
    consumer: ErrCode,
}

const MIRROR: Codes = Codes {
    name: ErrCode::MirrorInvalidStreamName,
    filter_and_transforms: ErrCode::MirrorMultipleFiltersNotAllowed,
    transform_source: ErrCode::MirrorInvalidSubjectFilter,
    transforms_overlap: ErrCode::MirrorOverlappingSubjectFilters,
    consumer: ErrCode::MirrorConsumerInvalid,
};

const SOURCE: Codes = Codes {
    name: ErrCode::SourceInvalidStreamName,
    filter_and_transforms: ErrCode::SourceMultipleFiltersNotAllowed,
    transform_source: ErrCode::SourceInvalidSubjectFilter,
    transforms_overlap: ErrCode::SourceOverlappingSubjectFilters,
    consumer: ErrCode::SourceConsumerInvalid,
};

pub fn check(config: &StreamConfig) -> Result<(), ApiError> {
    if let Some(mirror) = &config.mirror {
        beside_a_mirror(config)?;
        one(mirror, &MIRROR, collides)?;
    }
    if !config.sources.is_empty() && config.allow_msg_schedules {
        return Err(ErrCode::SourceWithMessageSchedules.api());
    }
    for (place, source) in config.sources.iter().enumerate() {
        one(source, &SOURCE, |a, b| is_subset(a, b) || is_subset(b, a))?;
        if config.sources[..place].iter().any(|other| is_same(other, source)) {
            return Err(ErrCode::SourceDuplicateDetected.api());
        }
        let shares = |other: &StreamSource| other.name == source.name && other.consumer == source.consumer;
        if source.consumer.is_some() && config.sources[..place].iter().any(shares) {
            return Err(ErrCode::SourceConsumerDuplicate.api());
        }
    }
    config.mirror.iter().chain(&config.sources).try_for_each(external)?;
    let itself = |origin: &StreamSource| origin.external.is_none() && origin.name == config.name;
    if config.mirror.iter().any(itself) || config.sources.iter().any(|source| itself(source) && feeds(source, config)) {
        return Err(invalid("detected cycle"));
    }
    Ok(())
}

/// What a mirror can not have beside it. Subjects are looked at later.
fn beside_a_mirror(config: &StreamConfig) -> Result<(), ApiError> {
    let refused = [
        (!config.sources.is_empty(), ErrCode::MirrorWithSources),
        (config.first_seq > 0, ErrCode::MirrorWithFirstSequence),
        (config.allow_msg_counter, ErrCode::MirrorWithCounters),
        (config.allow_atomic, ErrCode::MirrorWithAtomicPublish),
        (config.allow_batched, ErrCode::MirrorWithBatchPublish),
        (config.allow_msg_schedules, ErrCode::MirrorWithMessageSchedules),
    ];
    if let Some((_, code)) = refused.iter().find(|(broken, _)| *broken) {
        return Err(code.api());
    }
    if config.subject_delete_marker_ttl > 0 {
        return Err(invalid("subject delete markers forbidden on mirrors"));
    }
    Ok(())
}

fn one(origin: &StreamSource, codes: &Codes, overlap: fn(&[u8], &[u8]) -> bool) -> Result<(), ApiError> {
    if !is_valid_name(&origin.name) {
        return Err(codes.name.api());
    }
    let transforms = &origin.subject_transforms;
    if !transforms.is_empty() && !origin.filter_subject.is_empty() {
        return Err(codes.filter_and_transforms.api());
    }
    for (place, transform) in transforms.iter().enumerate() {
        if !transform.src.is_empty() && !is_valid_config_subject(transform.src.as_bytes()) {
            return Err(codes.transform_source.text(format_args!("invalid subject {}", transform.src)));
        }
        let source = |src: &str| if src.is_empty() { ">".to_string() } else { src.to_string() };
        let own = source(&transform.src);
        if transforms[..place].iter().any(|other| overlap(own.as_bytes(), source(&other.src).as_bytes())) {
            return Err(codes.transforms_overlap.api());
        }
    }
    if let Some(consumer) = &origin.consumer {
        let is_subject = |subject: &str| is_valid_config_subject(subject.as_bytes()) && is_literal(subject.as_bytes());
        let starts = origin.opt_start_seq > 0 || origin.opt_start_time.is_some();
        let filters = !origin.filter_subject.is_empty();
        if !is_valid_name(&consumer.name) || !is_subject(&consumer.deliver_subject) || starts || filters {
            return Err(codes.consumer.api());
        }
    }
    Ok(())
}

fn is_same(a: &StreamSource, b: &StreamSource) -> bool {
    let key = |source: &StreamSource| {
        (source.name.clone(), source.filter_subject.clone(), source.subject_transforms.clone(), source.external.clone())
    };
    key(a) == key(b)
}

fn external(origin: &StreamSource) -> Result<(), ApiError> {
    let Some(external) = &origin.external else { return Ok(()) };
    let is_prefix = |prefix: &str| is_valid_config_subject(prefix.as_bytes()) && is_literal(prefix.as_bytes());
    if !external.deliver.is_empty() && !is_prefix(&external.deliver) {
        return Err(ErrCode::StreamExternalDeliverInvalid.text(&external.deliver));
    }
    if external.api.is_empty() {
        return Ok(());
    }
    if !is_prefix(&external.api) {
        let api = &external.api;
        return Err(invalid(format_args!(
            "stream external api prefix {api:?} must be a valid subject without wildcards"
        )));
    }
    let ours = PREFIX.trim_end_matches('.');
    if collides(external.api.as_bytes(), ours.as_bytes()) {
        let values = [("prefix", external.api.as_str()), ("subject", ours)];
        return Err(ErrCode::StreamExternalApiOverlap.with(&values));
    }
    Ok(())
}

/// Whether what a stream copies from itself would be stored again.
fn feeds(source: &StreamSource, config: &StreamConfig) -> bool {
    let filter = if source.filter_subject.is_empty() { ">" } else { &source.filter_subject };
    config.subjects.is_empty() || config.subjects.iter().any(|subject| collides(subject.as_bytes(), filter.as_bytes()))
}
