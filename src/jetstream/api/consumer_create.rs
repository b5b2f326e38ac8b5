//! `CONSUMER.CREATE.<stream>[.<name>[.<filter>]]` and `CONSUMER.DURABLE.CREATE.<stream>.<name>` (consumers reference,
//! sections 1.2 and 1.3): what a request says, and the checks that need nothing but the request.

use super::endpoint::Endpoint;
use super::json::{self, Choice, Decode, Kind, Member, Refusal, Schema};
use crate::jetstream::consumer::ConsumerConfig;
use crate::jetstream::consumer::schema::CONFIG;
use crate::jetstream::error::{ApiError, ErrCode};
use crate::protocol::fresh_name;
use serde::Deserialize;

/// What a request does when the consumer is there, or is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Action {
    #[default]
    #[serde(rename = "")]
    CreateOrUpdate,
    #[serde(rename = "create")]
    Create,
    #[serde(rename = "update")]
    Update,
}

/// The body of a create request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CreateRequest {
    pub stream_name: String,
    pub config: ConsumerConfig,
    pub action: Action,
    pub pedantic: bool,
}

/// A create request whose names have been checked.
#[derive(Clone, Debug)]
pub struct Named {
    /// The consumer's name: from the subject, the configuration, or made up.
    pub name: String,
    /// The name was made up: `config.name` stays empty.
    pub made_up: bool,
    /// With the name of the subject.
    pub config: ConsumerConfig,
    pub action: Action,
    pub pedantic: bool,
}

/// Decodes the body. An empty one is decoded as well: it names no stream, which [`check_names`] refuses.
pub fn decode(body: &[u8], strict: bool) -> Result<CreateRequest, ApiError> {
    json::request(body, strict)
}

/// Checks names and filter of the subject against the body (1.3, steps 4 to 11). The API level and the account's
/// right to JetStream come between decoding and this.
pub fn check_names(endpoint: &Endpoint, request: CreateRequest) -> Result<Named, ApiError> {
    let (stream, name, filter, durable_form) = match endpoint {
        Endpoint::ConsumerCreate { stream, consumer, filter } => (stream, consumer.as_ref(), filter.as_ref(), false),
        Endpoint::ConsumerDurableCreate { stream, consumer } => (stream, Some(consumer), None, true),
        _ => return Err(ErrCode::BadRequest.api()),
    };
    let CreateRequest { stream_name, mut config, action, pedantic } = request;
    if stream_name.as_bytes() != &stream[..] {
        return Err(ErrCode::StreamMismatch.api());
    }
    let wanted = match name {
        Some(name) => String::from_utf8_lossy(name).into_owned(),
        None => config.name.clone(),
    };
    if wanted.contains(['/', '\\']) {
        return Err(ErrCode::ConsumerNameContainsPathSeparators.api());
    }
    if durable_form && config.durable_name.is_empty() {
        return Err(ErrCode::ConsumerDurableNameNotSet.api());
    }
    if name.is_some() && !config.durable_name.is_empty() && config.durable_name != wanted {
        return Err(ErrCode::ConsumerDurableNameNotMatchSubject.api());
    }
    if name.is_none() && !config.durable_name.is_empty() {
        return Err(ErrCode::ConsumerEphemeralWithDurableName.api());
    }
    if let Some(filter) = filter {
        if !config.filter_subjects.is_empty() {
            return Err(ErrCode::ConsumerMultipleFiltersNotAllowed.api());
        }
        if config.filter_subject.as_bytes() != &filter[..] {
            return Err(ErrCode::ConsumerCreateFilterSubjectMismatch.api());
        }
    }
    if config.num_replicas > 1 {
        return Err(ErrCode::StreamReplicasNotSupported.api());
    }
    let made_up = wanted.is_empty();
    config.name.clone_from(&wanted);
    let name = if made_up { fresh_name() } else { wanted };
    Ok(Named { name, made_up, config, action, pedantic })
}

impl Decode for CreateRequest {
    const SCHEMA: &'static Schema = &Schema {
        name: "CreateConsumerRequest",
        members: &[&[
            Member::new("stream_name", Kind::String),
            Member::new("config", Kind::Object(&CONFIG)),
            Member::new("action", Kind::Choice(&ACTION)),
            Member::new("pedantic", Kind::Bool),
        ]],
    };
}

static ACTION: Choice = Choice {
    texts: &[("", ""), ("create", "create"), ("update", "update")],
    any_case: false,
    refusal: Refusal::With("unknown consumer action: "),
};
