//! A pull request arrives: what is refused at once, in the reference's order (consumers reference, section 4.2).

use super::body::PullBody;
use super::{PullRequest, status};
use crate::jetstream::api::level;
use crate::jetstream::consumer::Consumer;
use crate::jetstream::consumer::config::PriorityPolicy;
use crate::router::messages::RouterId;

/// The highest priority number.
const MAX_PRIORITY: i64 = 9;

impl Consumer {
    /// A request without a reply is dropped.
    pub(in crate::jetstream::consumer) fn next(&mut self, via: RouterId, reply: &[u8], headers: &[u8], body: &[u8]) {
        if reply.is_empty() {
            return;
        }
        let now = self.now();
        let body = match self.admit(headers, body) {
            Ok(body) => body,
            Err(refusal) => return status::plain(self.posts.via(via), reply, &refusal),
        };
        self.pulled += 1;
        let request = PullRequest::new(self.pulled, via, reply, body, now);
        if self.pin.is_held_by(&request.pin) {
            self.renew_pin(now);
        }
        if request.no_wait {
            let available = self.available();
            let refusal = match available {
                0 => request.expires.is_none().then_some(status::NO_MESSAGES),
                _ if available < self.pulls.wanted() => Some(status::REQUESTS_PENDING),
                _ => None,
            };
            if let Some(refusal) = refusal {
                self.active = now;
                return status::plain(self.posts.via(via), reply, refusal);
            }
        }
        if self.pulls.len() as i64 >= self.config.max_waiting {
            return match self.asking.may_park(now) {
                true => self.asking.park(request, now),
                false => self.refuse_full(&request),
            };
        }
        self.enqueue(request, now);
    }

    /// Messages that could be delivered, acknowledgements permitting.
    fn available(&self) -> i64 {
        let all = self.pending_messages().saturating_add(self.redeliveries.len() as u64);
        i64::try_from(all).unwrap_or(i64::MAX)
    }

    fn admit(&self, headers: &[u8], body: &[u8]) -> Result<PullBody, String> {
        let config = &self.config;
        if config.is_push() {
            return Err(status::PUSH_BASED.into());
        }
        if !level::is_met(headers) {
            return Err(status::REQUIRED_API_LEVEL.into());
        }
        let body = PullBody::parse(body).map_err(|error| status::bad_request(&error))?;
        if body.idle_heartbeat > 0 && body.idle_heartbeat.saturating_mul(2) > body.expires {
            return Err(status::HEARTBEAT_TOO_LARGE.into());
        }
        if config.max_batch > 0 && body.batch > config.max_batch {
            return Err(status::exceeded_batch(config.max_batch));
        }
        if config.max_expires > 0 && body.expires > config.max_expires {
            return Err(status::exceeded_expires(config.max_expires));
        }
        if config.max_bytes > 0 && body.max_bytes > config.max_bytes {
            return Err(status::exceeded_bytes(config.max_bytes));
        }
        if body.is_json {
            self.admit_group(&body)?;
        }
        Ok(body)
    }

    fn admit_group(&self, body: &PullBody) -> Result<(), String> {
        let policy = self.config.priority_policy;
        if (body.min_pending != 0 || body.min_ack_pending != 0) && policy != PriorityPolicy::Overflow {
            return Err(status::NOT_OVERFLOW.into());
        }
        if !body.id.is_empty() && policy != PriorityPolicy::PinnedClient {
            return Err(status::NOT_PINNED.into());
        }
        if !(0..=MAX_PRIORITY).contains(&body.priority) {
            return Err(status::BAD_PRIORITY.into());
        }
        if policy == PriorityPolicy::None {
            return Ok(());
        }
        if body.group.is_empty() {
            return Err(status::GROUP_MISSING.into());
        }
        if !self.config.priority_groups.contains(&body.group) {
            return Err(status::INVALID_GROUP.into());
        }
        if self.pin.refuses(&body.id) {
            return Err(status::PIN_MISMATCH.into());
        }
        Ok(())
    }
}
