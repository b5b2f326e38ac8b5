//! `CONSUMER.CREATE.<stream>[.<name>[.<filter>]]` and `CONSUMER.DURABLE.CREATE.<stream>.<name>` (consumers reference,
//! sections 1.2 and 1.3): what a request says, and the checks that need nothing but the request.

use super::endpoint::Endpoint;
use super::json::{self, Choice, Decode, Kind, Member, Refusal, Schema};
use crate::jetstream::consumer::ConsumerConfig;
use crate::jetstream::error::{ApiError, ErrCode};
use rand::Rng;
use serde::Deserialize;

/// Length of a name the server makes up.
const RANDOM_NAME_LENGTH: usize = 8;

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
    let name = if made_up { random_name() } else { wanted };
    Ok(Named { name, made_up, config, action, pedantic })
}

/// A name for a consumer that was given none.
pub fn random_name() -> String {
    let mut random = rand::rng();
    (0..RANDOM_NAME_LENGTH).map(|_| char::from(random.sample(rand::distr::Alphanumeric))).collect()
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

/// A consumer's configuration.
pub static CONFIG: Schema = Schema { name: "ConsumerConfig", members: &[CONFIG_MEMBERS] };

const CONFIG_MEMBERS: &[Member] = &[
    Member::new("durable_name", Kind::String),
    Member::new("name", Kind::String),
    Member::new("description", Kind::String),
    Member::new("deliver_policy", Kind::Choice(&DELIVER_POLICY)),
    Member::new("opt_start_seq", Kind::Uint64),
    Member::new("opt_start_time", Kind::Time),
    Member::new("ack_policy", Kind::Choice(&ACK_POLICY)),
    Member::new("ack_wait", Kind::Duration),
    Member::new("max_deliver", Kind::Int),
    Member::new("backoff", Kind::List(&Kind::Duration)),
    Member::new("filter_subject", Kind::String),
    Member::new("filter_subjects", Kind::List(&Kind::String)),
    Member::new("replay_policy", Kind::Choice(&REPLAY_POLICY)),
    Member::new("rate_limit_bps", Kind::Uint64),
    Member::new("sample_freq", Kind::String),
    Member::new("max_waiting", Kind::Int),
    Member::new("max_ack_pending", Kind::Int),
    Member::new("flow_control", Kind::Bool),
    Member::new("headers_only", Kind::Bool),
    Member::new("max_batch", Kind::Int),
    Member::new("max_expires", Kind::Duration),
    Member::new("max_bytes", Kind::Int),
    Member::new("deliver_subject", Kind::String),
    Member::new("deliver_group", Kind::String),
    Member::new("idle_heartbeat", Kind::Duration),
    Member::new("inactive_threshold", Kind::Duration),
    Member::new("num_replicas", Kind::Int),
    Member::new("mem_storage", Kind::Bool),
    Member::new("direct", Kind::Bool),
    Member::new("sourcing", Kind::Bool),
    Member::new("metadata", Kind::Texts),
    Member::new("pause_until", Kind::Time),
    Member::new("priority_groups", Kind::List(&Kind::String)),
    Member::new("priority_policy", Kind::Choice(&PRIORITY_POLICY)),
    Member::new("priority_timeout", Kind::Duration),
];

static ACTION: Choice = Choice {
    texts: &[("", ""), ("create", "create"), ("update", "update")],
    any_case: false,
    refusal: Refusal::With("unknown consumer action: "),
};

static DELIVER_POLICY: Choice = Choice {
    texts: &[
        ("all", "all"),
        ("undefined", "all"),
        ("last", "last"),
        ("new", "new"),
        ("by_start_sequence", "by_start_sequence"),
        ("by_start_time", "by_start_time"),
        ("last_per_subject", "last_per_subject"),
    ],
    any_case: false,
    refusal: Refusal::CanNotUnmarshal,
};

static ACK_POLICY: Choice = Choice {
    texts: &[("none", "none"), ("all", "all"), ("explicit", "explicit"), ("flow_control", "flow_control")],
    any_case: false,
    refusal: Refusal::CanNotUnmarshal,
};

static REPLAY_POLICY: Choice = Choice {
    texts: &[("instant", "instant"), ("original", "original")],
    any_case: false,
    refusal: Refusal::CanNotUnmarshal,
};

static PRIORITY_POLICY: Choice = Choice {
    texts: &[
        ("none", "none"),
        ("overflow", "overflow"),
        ("pinned_client", "pinned_client"),
        ("prioritized", "prioritized"),
    ],
    any_case: false,
    refusal: Refusal::With("unknown priority policy: "),
};
