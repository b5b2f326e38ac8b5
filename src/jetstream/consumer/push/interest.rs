use crate::jetstream::consumer::Consumer;
use crate::jetstream::consumer::agenda::Matter;
use crate::jetstream::consumer::config::AckPolicy;
use crate::jetstream::consumer::delivery::PUSH_VIA;
use crate::jetstream::consumer::pull::status;
use crate::protocol::headers;
use crate::router::messages::{Incoming, Ingest};
use crate::router::part;

impl Consumer {
    /// Somebody listens on the deliver subject, or nobody does any more.
    pub(in crate::jetstream::consumer) fn deliver_interest(&mut self, present: bool) {
        let now = self.now();
        let before = std::mem::replace(&mut self.push.is_active, present);
        self.push.is_known = true;
        for request in std::mem::take(&mut self.push.unanswered) {
            self.answer_created(request);
        }
        if before == present {
            return;
        }
        if present {
            self.agenda.set(Matter::Inactivity, None);
            self.restart_heartbeat(now);
        } else {
            self.agenda.set(Matter::Heartbeat, None);
            self.restart_inactivity(now);
        }
    }

    pub(in crate::jetstream::consumer) fn restart_heartbeat(&mut self, now: i64) {
        let every = self.config.idle_heartbeat;
        if self.config.is_push() && every > 0 && self.push.is_active {
            self.agenda.set(Matter::Heartbeat, Some(now.saturating_add(every)));
        }
    }

    pub(in crate::jetstream::consumer) fn push_heartbeat(&mut self, now: i64) {
        if !self.push.is_active {
            return;
        }
        let last_consumer = self.ledger.state().delivered_consumer;
        let subject = self.config.deliver_subject.as_bytes();
        let outbox = self.posts.via(PUSH_VIA);
        status::heartbeat(outbox, subject, last_consumer, self.next_seq - 1, self.push.flow.asked());
        let is_acked_by_flow = self.config.ack_policy == AckPolicy::FlowControl;
        if is_acked_by_flow && !self.ledger.state().pending.is_empty() && self.push.flow.asked().is_none() {
            self.ask_flow();
        }
        self.restart_heartbeat(now);
    }

    /// A message was pushed.
    pub(in crate::jetstream::consumer) fn after_push(&mut self, bytes: usize, now: i64) {
        self.restart_heartbeat(now);
        let limit = self.config.max_ack_pending;
        let is_full = self.config.ack_policy == AckPolicy::FlowControl
            && self.push.flow.asked().is_none()
            && self.ledger.state().pending.len() as i64 >= limit;
        if self.push.flow.sent(bytes) || is_full {
            self.ask_flow();
        }
    }

    fn ask_flow(&mut self) {
        let reply = self.push.flow.ask(self.subjects.sent_flow());
        let subject = self.config.deliver_subject.as_bytes();
        let block = b"NATS/1.0 100 FlowControl Request\r\n\r\n";
        self.posts.via(PUSH_VIA).message(subject, reply, block, b"");
    }

    /// The client answers that it has kept up; with headers, up to where it has got everything.
    pub(in crate::jetstream::consumer) fn flow_answer(&mut self, ingest: &Ingest, message: &Incoming) {
        if !self.push.flow.answered(part(&ingest.buffer, &message.subject)) {
            return;
        }
        if self.config.ack_policy != AckPolicy::FlowControl {
            return;
        }
        let block = part(&ingest.buffer, &message.headers);
        let (stream, consumer) = (number(block, "Nats-Last-Stream"), number(block, "Nats-Last-Consumer"));
        if stream > self.ledger.state().floor_stream && stream < self.next_seq {
            self.ledger.settle_up_to(stream, consumer);
            self.last_acked = Some(self.now());
        }
    }
}

/// The number in a header, 0 if there is none.
fn number(block: &[u8], name: &str) -> u64 {
    let value = headers::get(block, name).and_then(|value| std::str::from_utf8(value.trim_ascii()).ok());
    value.and_then(|value| value.parse().ok()).unwrap_or(0)
}
