//! What a stream's configuration may look like in a request.

use super::config::*;
use crate::jetstream::api::json::{Choice, Decode, Kind, Member, Refusal, Schema};

const fn m(name: &'static str, kind: Kind) -> Member {
    Member::new(name, kind)
}

static RETENTION: Choice = Choice {
    texts: &[("limits", "limits"), ("interest", "interest"), ("workqueue", "workqueue")],
    any_case: false,
    refusal: Refusal::CanNotUnmarshal,
};
static DISCARD: Choice =
    Choice { texts: &[("old", "old"), ("new", "new")], any_case: true, refusal: Refusal::CanNotUnmarshal };
static STORAGE: Choice =
    Choice { texts: &[("file", "file"), ("memory", "memory")], any_case: false, refusal: Refusal::CanNotUnmarshal };
static COMPRESSION: Choice = Choice {
    texts: &[("none", "none"), ("s2", "s2")],
    any_case: false,
    refusal: Refusal::Plain("unknown compression algorithm"),
};
static PERSIST_MODE: Choice = Choice {
    texts: &[("default", "default"), ("", "default"), ("async", "async")],
    any_case: false,
    refusal: Refusal::CanNotUnmarshal,
};

static PLACEMENT: Schema = Schema {
    name: "Placement",
    members: &[&[m("cluster", Kind::String), m("tags", Kind::List(&Kind::String)), m("preferred", Kind::String)]],
};
static TRANSFORM: Schema =
    Schema { name: "SubjectTransformConfig", members: &[&[m("src", Kind::String), m("dest", Kind::String)]] };
static TRANSFORMS: Kind = Kind::Object(&TRANSFORM);
static REPUBLISH: Schema = Schema {
    name: "RePublish",
    members: &[&[m("src", Kind::String), m("dest", Kind::String), m("headers_only", Kind::Bool)]],
};
static EXTERNAL: Schema =
    Schema { name: "ExternalStream", members: &[&[m("api", Kind::String), m("deliver", Kind::String)]] };
static SOURCE_CONSUMER: Schema =
    Schema { name: "StreamConsumerSource", members: &[&[m("name", Kind::String), m("deliver_subject", Kind::String)]] };
static SOURCE: Schema = Schema {
    name: "StreamSource",
    members: &[&[
        m("name", Kind::String),
        m("opt_start_seq", Kind::Uint64),
        m("opt_start_time", Kind::Time),
        m("filter_subject", Kind::String),
        m("subject_transforms", Kind::List(&TRANSFORMS)),
        m("external", Kind::Object(&EXTERNAL)),
        m("consumer", Kind::Object(&SOURCE_CONSUMER)),
    ]],
};
static SOURCES: Kind = Kind::Object(&SOURCE);
static CONSUMER_LIMITS: Schema = Schema {
    name: "StreamConsumerLimits",
    members: &[&[m("inactive_threshold", Kind::Duration), m("max_ack_pending", Kind::Int)]],
};

/// The members of a configuration, for requests that have more beside them.
pub const MEMBERS: &[Member] = &[
    m("name", Kind::String),
    m("description", Kind::String),
    m("subjects", Kind::List(&Kind::String)),
    m("retention", Kind::Choice(&RETENTION)),
    m("max_consumers", Kind::Int),
    m("max_msgs", Kind::Int64),
    m("max_bytes", Kind::Int64),
    m("max_age", Kind::Duration),
    m("max_msgs_per_subject", Kind::Int64),
    m("max_msg_size", Kind::Int32),
    m("discard", Kind::Choice(&DISCARD)),
    m("storage", Kind::Choice(&STORAGE)),
    m("num_replicas", Kind::Int),
    m("no_ack", Kind::Bool),
    m("duplicate_window", Kind::Duration),
    m("placement", Kind::Object(&PLACEMENT)),
    m("mirror", Kind::Object(&SOURCE)),
    m("sources", Kind::List(&SOURCES)),
    m("compression", Kind::Choice(&COMPRESSION)),
    m("first_seq", Kind::Uint64),
    m("subject_transform", Kind::Object(&TRANSFORM)),
    m("republish", Kind::Object(&REPUBLISH)),
    m("allow_direct", Kind::Bool),
    m("mirror_direct", Kind::Bool),
    m("discard_new_per_subject", Kind::Bool),
    m("sealed", Kind::Bool),
    m("deny_delete", Kind::Bool),
    m("deny_purge", Kind::Bool),
    m("allow_rollup_hdrs", Kind::Bool),
    m("consumer_limits", Kind::Object(&CONSUMER_LIMITS)),
    m("allow_msg_ttl", Kind::Bool),
    m("subject_delete_marker_ttl", Kind::Duration),
    m("allow_msg_counter", Kind::Bool),
    m("allow_atomic", Kind::Bool),
    m("allow_msg_schedules", Kind::Bool),
    m("persist_mode", Kind::Choice(&PERSIST_MODE)),
    m("allow_batched", Kind::Bool),
    m("metadata", Kind::Texts),
];

/// A configuration alone, as it stands in a restore request and in the store.
pub static CONFIG: Schema = Schema { name: "StreamConfig", members: &[MEMBERS] };

impl Decode for StreamConfig {
    const SCHEMA: &'static Schema = &CONFIG;
}
