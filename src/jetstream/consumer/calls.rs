//! Requests of the API that the consumer answers itself: INFO, PAUSE, UNPIN, RESET.

use super::agenda::Matter;
use super::config::DeliverPolicy;
use super::info::{ConsumerInfo, Inquiry};
use super::saving::Change;
use super::{Consumer, actor};
use crate::jetstream::api::answer::kinds;
use crate::jetstream::api::endpoint::Endpoint;
use crate::jetstream::api::{consumer_pause, consumer_reset, consumer_unpin};
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::{ApiAnswer, ApiCall, ApiRequest};
use crate::jetstream::time;
use serde::Serialize;

#[derive(Serialize)]
struct Reset {
    #[serde(flatten)]
    info: ConsumerInfo,
    reset_seq: u64,
}

#[derive(Serialize)]
struct Nothing {}

impl Consumer {
    pub(super) fn call(&mut self, call: ApiCall) {
        let ApiCall { endpoint, request } = call;
        match endpoint {
            Endpoint::ConsumerInfo { .. } => {
                if !self.pulls.is_empty() {
                    self.asking.want();
                }
                self.inquiries.push(Inquiry::Info(request));
            }
            Endpoint::ConsumerPause { .. } => self.pause(request),
            Endpoint::ConsumerUnpin { .. } => self.unpin_call(request),
            Endpoint::ConsumerReset { .. } => self.reset(request),
            other => tracing::error!(consumer = %self.name, "a call that is not for a consumer: {other:?}"),
        }
    }

    /// A future time pauses, none resumes, a past one is only kept (consumers reference, section 1.6).
    fn pause(&mut self, request: ApiRequest) {
        let strict = self.setting.limits.strict;
        let until = match consumer_pause::decode(&request.body, strict) {
            Ok(until) => until,
            Err(error) => return self.refuse(request, kinds::CONSUMER_PAUSE, &error),
        };
        let now = self.now();
        let before = self.paused_until;
        self.config.pause_until = until.map(time::rfc3339);
        super::defaults::stamp_metadata(&mut self.config);
        self.paused_until = actor::pause_of(&self.config);
        self.agenda.set(Matter::Pause, self.paused_until.filter(|&until| until > now));
        if before != self.paused_until {
            let paused = self.is_paused(now);
            self.news.paused(paused, self.paused_until.unwrap_or(time::NEVER), now);
        }
        self.save_config(Change::Pause, request);
    }

    pub(super) fn answer_paused(&mut self, request: ApiRequest) {
        let answer = consumer_pause::Answer::new(self.paused_until, self.now());
        self.jetstream.send(ApiAnswer::success(request, kinds::CONSUMER_PAUSE, &answer));
    }

    fn unpin_call(&mut self, request: ApiRequest) {
        let group = match consumer_unpin::decode(&request.body) {
            Ok(group) => group,
            Err(error) => return self.refuse(request, kinds::CONSUMER_UNPIN, &error),
        };
        if !self.config.priority_groups.contains(&group) {
            return self.refuse(request, kinds::CONSUMER_UNPIN, &ErrCode::ConsumerInvalidPriorityGroup.api());
        }
        let now = self.now();
        self.unpin("admin", now);
        self.jetstream.send(ApiAnswer::success(request, kinds::CONSUMER_UNPIN, &Nothing {}));
    }

    /// Delivery begins anew (consumers reference, section 1.8).
    fn reset(&mut self, request: ApiRequest) {
        let seq = match consumer_reset::decode(&request.body).and_then(|seq| self.reset_to(seq)) {
            Ok(seq) => seq,
            Err(error) => {
                let answer = ApiAnswer::failure(request, kinds::CONSUMER_RESET, &error);
                return self.jetstream.send(answer.uncounted());
            }
        };
        self.begin_anew(seq);
        self.save_reset(request, seq);
    }

    /// Delivers as if nothing had been delivered yet, from `seq` on.
    pub(super) fn begin_anew(&mut self, seq: u64) {
        self.ledger.reset(seq);
        self.redeliveries.clear();
        self.deadlines.clear();
        self.reading.forget();
        self.read_ahead.rewind(seq);
        self.next_seq = seq;
        (self.last_delivered, self.last_acked) = (None, None);
        self.recount();
    }

    /// Where a reset may go.
    fn reset_to(&self, seq: u64) -> Result<u64, ApiError> {
        let refuse = |text: &str| Err(ErrCode::ConsumerInvalidReset.text(text));
        if seq == 0 {
            return Ok(self.ledger.state().floor_stream + 1);
        }
        match self.config.deliver_policy {
            DeliverPolicy::All => Ok(seq),
            DeliverPolicy::ByStartSequence if seq < self.config.opt_start_seq => refuse("below start seq"),
            DeliverPolicy::ByStartTime if seq < self.earliest => refuse("below start time"),
            DeliverPolicy::ByStartSequence | DeliverPolicy::ByStartTime => Ok(seq),
            DeliverPolicy::New | DeliverPolicy::Last | DeliverPolicy::LastPerSubject => refuse("not allowed"),
        }
    }

    pub(super) fn answer_reset(&mut self, request: ApiRequest, reset_seq: u64) {
        let info = self.info(self.now(), false);
        let answer = ApiAnswer::success(request, kinds::CONSUMER_RESET, &Reset { info, reset_seq });
        self.jetstream.send(answer.uncounted());
    }
}
