//! A consumer's info (consumers reference, section 7).

use super::config::PriorityPolicy;
use super::{Consumer, ConsumerConfig};
use crate::jetstream::api::answer::kinds;
use crate::jetstream::messages::{ApiAnswer, ApiRequest, Described};
use crate::jetstream::stream::metadata::{API_LEVEL, SERVER_VERSION};
use crate::jetstream::time;
use serde::Serialize;

/// Who wants to know.
#[derive(Debug)]
pub enum Inquiry {
    Info(ApiRequest),
    /// For a list, under this ticket.
    List(u64),
}

/// What INFO, LIST, CREATE and RESET tell of a consumer.
#[derive(Debug, Serialize)]
pub struct ConsumerInfo {
    stream_name: String,
    name: String,
    created: String,
    config: ConsumerConfig,
    delivered: Position,
    ack_floor: Position,
    num_ack_pending: usize,
    num_redelivered: usize,
    num_waiting: usize,
    num_pending: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    push_bound: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    paused: bool,
    #[serde(skip_serializing_if = "is_zero")]
    pause_remaining: i64,
    ts: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    priority_groups: Vec<GroupInfo>,
}

#[derive(Debug, Serialize)]
struct Position {
    consumer_seq: u64,
    stream_seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_active: Option<String>,
}

#[derive(Debug, Serialize)]
struct GroupInfo {
    group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pinned_client_id: String,
    pinned_ts: String,
}

fn is_zero(n: &i64) -> bool {
    *n == 0
}

impl Consumer {
    /// What it tells of itself now. `lists`: as LIST shows it, without what the server adds to the metadata.
    pub(super) fn info(&self, now: i64, lists: bool) -> ConsumerInfo {
        let mut config = self.config.clone();
        if !lists {
            config.metadata.insert("_nats.ver".into(), SERVER_VERSION.into());
            config.metadata.insert("_nats.level".into(), API_LEVEL.to_string());
        }
        let state = self.ledger.state();
        let remaining = self.paused_until.map_or(0, |until| until.saturating_sub(now).max(0));
        ConsumerInfo {
            stream_name: self.stream_name.to_string(),
            name: self.name.to_string(),
            created: time::rfc3339(self.created),
            config,
            delivered: Position {
                consumer_seq: state.delivered_consumer,
                stream_seq: state.delivered_stream,
                last_active: self.last_delivered.map(time::rfc3339),
            },
            ack_floor: Position {
                consumer_seq: state.floor_consumer,
                stream_seq: state.floor_stream,
                last_active: self.last_acked.map(time::rfc3339),
            },
            num_ack_pending: state.pending.len(),
            num_redelivered: if self.config.max_deliver == 1 { 0 } else { state.redelivered.len() },
            num_waiting: self.pulls.len(),
            num_pending: self.pending_messages(),
            push_bound: self.push.is_active(),
            paused: remaining > 0,
            pause_remaining: remaining,
            ts: time::rfc3339(now),
            priority_groups: self.groups(),
        }
    }

    fn groups(&self) -> Vec<GroupInfo> {
        let named = self.config.priority_groups.first().filter(|_| self.config.priority_policy != PriorityPolicy::None);
        let tell = |group: &String| GroupInfo {
            group: group.clone(),
            pinned_client_id: self.pin.id.clone(),
            pinned_ts: time::rfc3339(if self.pin.is_set() { self.pin.since } else { time::NEVER }),
        };
        named.map(tell).into_iter().collect()
    }

    /// Answers who wants to know, once that can be said: requests of people who left are gone, and a recount is done.
    pub(super) fn answer_inquiries(&mut self, now: i64) {
        if self.inquiries.is_empty() || self.tally.is_recounting() || self.asking.is_open() || !self.is_born {
            return;
        }
        for inquiry in std::mem::take(&mut self.inquiries) {
            match inquiry {
                Inquiry::Info(request) => {
                    let info = self.info(now, false);
                    self.jetstream.send(ApiAnswer::success(request, kinds::CONSUMER_INFO, &info));
                }
                Inquiry::List(ticket) => {
                    if let Ok(info) = serde_json::value::to_raw_value(&self.info(now, true)) {
                        self.stream.described.send(Described { ticket, name: self.name.to_string(), info });
                    }
                }
            }
        }
    }

    /// Answers a create or update request.
    pub(super) fn answer_created(&mut self, request: ApiRequest) {
        let request = match self.config.is_push() {
            true => self.push.hold(request),
            false => Some(request),
        };
        let Some(request) = request else { return };
        let info = self.info(self.now(), false);
        let answer = ApiAnswer::success(request, kinds::CONSUMER_CREATE, &info);
        self.jetstream.send(match self.config.direct || self.config.sourcing {
            true => answer.with_identity(&self.stream_identity),
            false => answer,
        });
    }
}
