//! Which subjects a stream may have (streams reference, section 2.3 rows 42 to 48, and section 2.5).

use super::config::StreamConfig;
use super::validate::invalid;
use crate::jetstream::error::{ApiError, ErrCode};
use crate::subject::{SubjectIndex, collides, is_literal, is_subset, is_valid_config_subject};

/// What belongs to JetStream itself.
const API: &[&str] = &["$JS.>", "$JSC.>", "$NRG.>"];
/// Except this, which streams may record.
const EVENTS: &str = "$JS.EVENT.>";
const SYSTEM: &str = "$SYS.>";
const SYSTEM_ACCOUNT: &str = "$SYS.ACCOUNT.>";

pub fn check(config: &StreamConfig) -> Result<(), ApiError> {
    if config.mirror.is_some() && !config.subjects.is_empty() {
        return Err(ErrCode::MirrorWithSubjects.api());
    }
    for subject in &config.subjects {
        one(subject, config)?;
    }
    among_themselves(&config.subjects)
}

fn one(subject: &str, config: &StreamConfig) -> Result<(), ApiError> {
    let bytes = subject.as_bytes();
    if !is_valid_config_subject(bytes) {
        return Err(invalid("invalid subject"));
    }
    if subject == ">" && !config.no_ack {
        return Err(invalid("capturing all subjects requires no-ack to be true"));
    }
    if subject == ">" && config.num_replicas != 1 {
        return Err(invalid("capturing all subjects requires replicas of 1"));
    }
    if config.no_ack {
        return Ok(());
    }
    let reserved = |of: &str, except: &str| collides(bytes, of.as_bytes()) && !is_subset(bytes, except.as_bytes());
    if API.iter().any(|api| reserved(api, EVENTS)) {
        return Err(invalid("subjects that overlap with jetstream api require no-ack to be true"));
    }
    if reserved(SYSTEM, SYSTEM_ACCOUNT) {
        return Err(invalid("subjects that overlap with system api require no-ack to be true"));
    }
    Ok(())
}

/// No two of a stream's subjects may collide. Literals are looked up in an index, so that many of them, the usual way
/// to have many subjects, cost little.
fn among_themselves(subjects: &[String]) -> Result<(), ApiError> {
    let mut seen = SubjectIndex::new();
    for (place, subject) in subjects.iter().enumerate() {
        let overlap = match is_literal(subject.as_bytes()) {
            true => first_match(&seen, subject),
            false => subjects[..place].iter().position(|other| collides(other.as_bytes(), subject.as_bytes())),
        };
        if let Some(other) = overlap {
            let earlier = &subjects[other];
            return Err(invalid(format_args!("subject {earlier:?} overlaps with {subject:?}")));
        }
        seen.insert(subject.as_bytes(), place);
    }
    Ok(())
}

fn first_match(seen: &SubjectIndex<usize>, literal: &str) -> Option<usize> {
    let mut first = None;
    seen.find(literal.as_bytes(), &mut |place| {
        first = Some(first.map_or(*place, |first: usize| first.min(*place)));
    });
    first
}
