//! What a consumer's configuration may look like in a request.

use super::config::ConsumerConfig;
use crate::jetstream::api::json::{Choice, Decode, Kind, Member, Refusal, Schema};

const fn m(name: &'static str, kind: Kind) -> Member {
    Member::new(name, kind)
}

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

/// The members of a configuration.
pub const MEMBERS: &[Member] = &[
    m("durable_name", Kind::String),
    m("name", Kind::String),
    m("description", Kind::String),
    m("deliver_policy", Kind::Choice(&DELIVER_POLICY)),
    m("opt_start_seq", Kind::Uint64),
    m("opt_start_time", Kind::Time),
    m("ack_policy", Kind::Choice(&ACK_POLICY)),
    m("ack_wait", Kind::Duration),
    m("max_deliver", Kind::Int),
    m("backoff", Kind::List(&Kind::Duration)),
    m("filter_subject", Kind::String),
    m("filter_subjects", Kind::List(&Kind::String)),
    m("replay_policy", Kind::Choice(&REPLAY_POLICY)),
    m("rate_limit_bps", Kind::Uint64),
    m("sample_freq", Kind::String),
    m("max_waiting", Kind::Int),
    m("max_ack_pending", Kind::Int),
    m("flow_control", Kind::Bool),
    m("headers_only", Kind::Bool),
    m("max_batch", Kind::Int),
    m("max_expires", Kind::Duration),
    m("max_bytes", Kind::Int),
    m("deliver_subject", Kind::String),
    m("deliver_group", Kind::String),
    m("idle_heartbeat", Kind::Duration),
    m("inactive_threshold", Kind::Duration),
    m("num_replicas", Kind::Int),
    m("mem_storage", Kind::Bool),
    m("direct", Kind::Bool),
    m("sourcing", Kind::Bool),
    m("metadata", Kind::Texts),
    m("pause_until", Kind::Time),
    m("priority_groups", Kind::List(&Kind::String)),
    m("priority_policy", Kind::Choice(&PRIORITY_POLICY)),
    m("priority_timeout", Kind::Duration),
];

/// A configuration, as it stands in a create request and in the store.
pub static CONFIG: Schema = Schema { name: "ConsumerConfig", members: &[MEMBERS] };

impl Decode for ConsumerConfig {
    const SCHEMA: &'static Schema = &CONFIG;
}
