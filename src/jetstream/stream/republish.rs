//! What a stream makes of subjects: its input transform, and copies of what it has stored (streams reference 2.6).

use super::actor::Stream;
use super::config::{Republish, StreamConfig};
use super::ingest::Publication;
use super::transform::Transform;
use super::validate::{invalid, pedantic};
use crate::jetstream::error::{ApiError, ErrCode};
use crate::protocol::{Timestamp, headers};
use crate::subject::{collides, is_valid_config_subject};

/// The transforms of a configuration, ready to use.
#[derive(Debug, Default)]
pub struct Transforms {
    pub input: Option<Transform>,
    pub republish: Option<Transform>,
}

impl Transforms {
    /// The configuration has been checked; a rule that cannot be read transforms nothing.
    pub fn of(config: &StreamConfig) -> Self {
        let ready = |source: &str, destination: &str| Transform::new(source, destination).ok().flatten();
        Self {
            input: config.subject_transform.as_ref().and_then(|rule| ready(&rule.src, &rule.dest)),
            republish: config.republish.as_ref().and_then(|rule| ready(&rule.src, &rule.dest)),
        }
    }
}

/// Checks both, and fills in what a republish rule leaves open.
pub fn check(config: &mut StreamConfig, is_pedantic: bool) -> Result<(), ApiError> {
    check_transform(config)?;
    let implicit = implicit_source(config);
    let Some(republish) = &mut config.republish else { return Ok(()) };
    if republish.src.is_empty() {
        if is_pedantic {
            return Err(pedantic("republish source can not be empty"));
        }
        republish.src = ">".into();
    }
    if let Some(source) = implicit {
        if is_pedantic {
            return Err(pedantic("implicit republish based on subject transform"));
        }
        (republish.src, republish.dest) = (source.clone(), source);
    }
    let Republish { src, dest, .. } = &*republish;
    if config.subjects.iter().any(|subject| collides(dest.as_bytes(), subject.as_bytes())) {
        return Err(invalid("stream configuration for republish destination forms a cycle"));
    }
    match Transform::new(src, dest) {
        Ok(_) => Ok(()),
        Err(_) => Err(invalid(format_args!(
            "stream configuration for republish with transform from '{src}' to '{dest}' not valid"
        ))),
    }
}

fn check_transform(config: &StreamConfig) -> Result<(), ApiError> {
    let Some(rule) = &config.subject_transform else { return Ok(()) };
    if !rule.src.is_empty() && !is_valid_config_subject(rule.src.as_bytes()) {
        return Err(ErrCode::StreamTransformInvalidSource.text(format_args!("invalid subject {}", rule.src)));
    }
    match Transform::new(&rule.src, &rule.dest) {
        Ok(_) => Ok(()),
        Err(error) => Err(ErrCode::StreamTransformInvalidDestination.text(error)),
    }
}

/// A stream that transforms all it takes, and copies everything to everywhere, copies what it has made.
fn implicit_source(config: &StreamConfig) -> Option<String> {
    let (republish, transform) = (config.republish.as_ref()?, config.subject_transform.as_ref()?);
    let is_everything = matches!(&*republish.src, "" | ">") && republish.dest == ">";
    let is_all = matches!(&*config.subjects, [only] if *only == transform.src);
    (is_everything && is_all).then(|| transform.dest.clone())
}

impl Stream {
    /// A copy of a message just stored, to leave when it is durable. `previous`: the sequence before it on its subject,
    /// 0 if there is none.
    pub(super) fn republish(&mut self, publication: &Publication<'_>, seq: u64, timestamp: i64, previous: u64) {
        let (Some(transform), Some(rule)) = (&self.transforms.republish, &self.config.republish) else { return };
        let Publication { subject, headers: block, payload } = publication;
        let Some(to) = transform.apply(subject) else { return };
        let block = headers::Builder::extend(block)
            .header("Nats-Stream", &*self.config.name)
            .header("Nats-Subject", subject)
            .number("Nats-Sequence", seq)
            .header("Nats-Time-Stamp", Timestamp(timestamp).to_string())
            .number("Nats-Last-Sequence", previous);
        let copies = &mut self.pipeline.open.copies;
        match rule.headers_only {
            true => copies.message(&to, b"", &block.number("Nats-Msg-Size", payload.len()).finish(), b""),
            false => copies.message(&to, b"", &block.finish(), payload),
        }
    }
}
