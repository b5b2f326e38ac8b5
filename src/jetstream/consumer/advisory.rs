//! What a consumer tells whoever wants to know (consumers reference, section 9).

use crate::jetstream::time;
use crate::protocol::nuid;
use crate::router::Outbox;
use serde::Serialize;

/// Events of one consumer, gathered until they leave.
#[derive(Default)]
pub struct Advisories {
    pub outbox: Outbox,
    domain: Option<String>,
    stream: String,
    consumer: String,
}

#[derive(Serialize)]
struct Envelope<'a, T> {
    r#type: String,
    id: String,
    timestamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<&'a str>,
    stream: &'a str,
    consumer: &'a str,
    #[serde(flatten)]
    event: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<&'a str>,
}

#[derive(Serialize)]
struct Action {
    action: &'static str,
}

#[derive(Serialize)]
struct Pause {
    paused: bool,
    pause_until: String,
}

#[derive(Serialize)]
struct Nak {
    consumer_seq: u64,
    stream_seq: u64,
    deliveries: u64,
}

#[derive(Serialize)]
struct Terminated<'a> {
    consumer_seq: u64,
    stream_seq: u64,
    deliveries: u64,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
}

#[derive(Serialize)]
struct MaxDeliveries {
    stream_seq: u64,
    deliveries: u64,
}

#[derive(Serialize)]
struct Acked {
    consumer_seq: u64,
    stream_seq: u64,
    ack_time: i64,
    deliveries: u64,
}

#[derive(Serialize)]
struct Pinned<'a> {
    group: &'a str,
    pinned_id: &'a str,
}

#[derive(Serialize)]
struct Unpinned<'a> {
    group: &'a str,
    reason: &'a str,
}

const ADVISORY: &str = "io.nats.jetstream.advisory.v1.";
const METRIC: &str = "io.nats.jetstream.metric.v1.";

impl Advisories {
    pub fn new(stream: &str, consumer: &str, domain: Option<String>) -> Self {
        Self { outbox: Outbox::default(), domain, stream: stream.into(), consumer: consumer.into() }
    }

    pub fn created(&mut self, now: i64) {
        self.advise("CREATED", "consumer_action", None, Action { action: "create" }, now);
    }

    pub fn deleted(&mut self, now: i64) {
        self.advise("DELETED", "consumer_action", None, Action { action: "delete" }, now);
    }

    /// `until`: [`time::NEVER`] when resumed.
    pub fn paused(&mut self, paused: bool, until: i64, now: i64) {
        self.advise("PAUSE", "consumer_pause", None, Pause { paused, pause_until: time::rfc3339(until) }, now);
    }

    pub fn naked(&mut self, consumer_seq: u64, stream_seq: u64, deliveries: u64, now: i64) {
        self.advise("MSG_NAKED", "nak", None, Nak { consumer_seq, stream_seq, deliveries }, now);
    }

    pub fn terminated(&mut self, consumer_seq: u64, stream_seq: u64, deliveries: u64, reason: &str, now: i64) {
        let event = Terminated { consumer_seq, stream_seq, deliveries, reason };
        self.advise("MSG_TERMINATED", "terminated", None, event, now);
    }

    pub fn max_deliveries(&mut self, stream_seq: u64, deliveries: u64, now: i64) {
        self.advise("MAX_DELIVERIES", "max_deliver", None, MaxDeliveries { stream_seq, deliveries }, now);
    }

    pub fn pinned(&mut self, account: &str, group: &str, pinned_id: &str, now: i64) {
        self.advise("PINNED", "consumer_group_pinned", Some(account), Pinned { group, pinned_id }, now);
    }

    /// `reason`: `timeout` or `admin`.
    pub fn unpinned(&mut self, account: &str, group: &str, reason: &str, now: i64) {
        self.advise("UNPINNED", "consumer_group_unpinned", Some(account), Unpinned { group, reason }, now);
    }

    /// A sampled acknowledgement. `ack_time`: nanoseconds since the last delivery.
    pub fn acked(&mut self, consumer_seq: u64, stream_seq: u64, ack_time: i64, deliveries: u64, now: i64) {
        let event = Acked { consumer_seq, stream_seq, ack_time, deliveries };
        self.publish("METRIC.CONSUMER.ACK", format!("{METRIC}consumer_ack"), None, event, now);
    }

    fn advise(&mut self, name: &str, kind: &str, account: Option<&str>, event: impl Serialize, now: i64) {
        self.publish(&format!("ADVISORY.CONSUMER.{name}"), format!("{ADVISORY}{kind}"), account, event, now);
    }

    fn publish(&mut self, name: &str, r#type: String, account: Option<&str>, event: impl Serialize, now: i64) {
        let subject = format!("$JS.EVENT.{name}.{}.{}", self.stream, self.consumer);
        let envelope = Envelope {
            r#type,
            id: nuid(),
            timestamp: time::rfc3339(now),
            account,
            stream: &self.stream,
            consumer: &self.consumer,
            event,
            domain: self.domain.as_deref(),
        };
        // Plain data: writing it cannot fail.
        if let Ok(body) = serde_json::to_vec(&envelope) {
            self.outbox.message(subject.as_bytes(), b"", b"", &body);
        }
    }
}
