use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A consumer's configuration, in the order of the wire (consumers reference, section 2.1). Durations in nanoseconds.
///
/// Serializing gives what responses show. Decoding from a request goes through `api::json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConsumerConfig {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub durable_name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    pub deliver_policy: DeliverPolicy,
    #[serde(skip_serializing_if = "is_default")]
    pub opt_start_seq: u64,
    /// As sent, RFC 3339 with its offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opt_start_time: Option<String>,
    pub ack_policy: AckPolicy,
    #[serde(skip_serializing_if = "is_default")]
    pub ack_wait: i64,
    #[serde(skip_serializing_if = "is_default")]
    pub max_deliver: i64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub backoff: Vec<i64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub filter_subject: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filter_subjects: Vec<String>,
    pub replay_policy: ReplayPolicy,
    /// Bits per second.
    #[serde(skip_serializing_if = "is_default")]
    pub rate_limit_bps: u64,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sample_freq: String,
    #[serde(skip_serializing_if = "is_default")]
    pub max_waiting: i64,
    #[serde(skip_serializing_if = "is_default")]
    pub max_ack_pending: i64,
    #[serde(skip_serializing_if = "is_default")]
    pub flow_control: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub headers_only: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub max_batch: i64,
    #[serde(skip_serializing_if = "is_default")]
    pub max_expires: i64,
    #[serde(skip_serializing_if = "is_default")]
    pub max_bytes: i64,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub deliver_subject: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub deliver_group: String,
    #[serde(skip_serializing_if = "is_default")]
    pub idle_heartbeat: i64,
    #[serde(skip_serializing_if = "is_default")]
    pub inactive_threshold: i64,
    pub num_replicas: i64,
    #[serde(skip_serializing_if = "is_default")]
    pub mem_storage: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub direct: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub sourcing: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_until: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub priority_groups: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub priority_policy: PriorityPolicy,
    #[serde(skip_serializing_if = "is_default")]
    pub priority_timeout: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliverPolicy {
    #[default]
    All,
    Last,
    New,
    ByStartSequence,
    ByStartTime,
    LastPerSubject,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AckPolicy {
    #[default]
    None,
    All,
    Explicit,
    FlowControl,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayPolicy {
    #[default]
    Instant,
    Original,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriorityPolicy {
    #[default]
    None,
    Overflow,
    PinnedClient,
    Prioritized,
}

impl ConsumerConfig {
    /// Durable consumers outlive inactivity; the others are ephemeral, also if they have a name.
    pub fn is_durable(&self) -> bool {
        !self.durable_name.is_empty()
    }

    pub fn is_push(&self) -> bool {
        !self.deliver_subject.is_empty()
    }

    /// The filters given, in either of the two members.
    pub fn filters(&self) -> &[String] {
        match self.filter_subject.is_empty() {
            true => &self.filter_subjects,
            false => std::slice::from_ref(&self.filter_subject),
        }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
