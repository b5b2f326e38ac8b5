//! What acknowledgements do (consumers reference, sections 3.3 and 3.4).

use super::{AckNumbers, AckVerb};
use crate::jetstream::consumer::config::AckPolicy;
use crate::jetstream::consumer::subjects::tags;
use crate::jetstream::consumer::{Consumer, sample};
use crate::router::messages::{Incoming, Ingest};
use crate::router::part;

impl Consumer {
    /// Works off a batch of acknowledgements, pull requests and flow-control answers.
    pub(in crate::jetstream::consumer) fn take_in(&mut self, ingest: &Ingest) {
        let now = self.now();
        for message in &ingest.messages {
            match message.tag {
                tags::ACK => self.ack(ingest, message, self.subjects.ack.len(), now),
                tags::ACK_V2 => self.ack(ingest, message, self.subjects.ack_v2.len(), now),
                tags::NEXT | tags::DOMAIN_NEXT => {
                    let [reply, headers, body] =
                        [&message.reply, &message.headers, &message.payload].map(|span| part(&ingest.buffer, span));
                    self.next(ingest.via, reply, headers, body);
                }
                tags::FLOW | tags::FLOW_V2 => self.flow_answer(ingest, message),
                _ => {}
            }
        }
    }

    fn ack(&mut self, ingest: &Ingest, message: &Incoming, prefix: usize, now: i64) {
        let subject = part(&ingest.buffer, &message.subject);
        let (reply, body) = (part(&ingest.buffer, &message.reply), part(&ingest.buffer, &message.payload));
        let numbers = AckNumbers::parse(subject.get(prefix..).unwrap_or_default());
        self.active = now;
        let confirmed = match AckVerb::parse(body) {
            AckVerb::Ack => self.acked(numbers, true, now),
            AckVerb::Term(reason) => self.terminated(numbers, reason, now),
            AckVerb::Nak(delay) => self.naked(numbers, delay, now),
            AckVerb::Progress => self.in_progress(numbers, now),
            AckVerb::Next(body) => {
                self.acked(numbers, true, now);
                let headers = part(&ingest.buffer, &message.headers);
                self.next(ingest.via, reply, headers, body);
                false
            }
            AckVerb::Unknown => true,
        };
        self.hasten_inactivity(now);
        if confirmed {
            self.saving.confirm(ingest.via, reply);
        }
    }

    /// Returns whether it is to be confirmed: not if it acknowledges what was never delivered.
    fn acked(&mut self, numbers: AckNumbers, measured: bool, now: i64) -> bool {
        let AckNumbers { stream, consumer, delivered } = numbers;
        if stream >= self.next_seq {
            return false;
        }
        self.last_acked = Some(now);
        if self.config.ack_policy == AckPolicy::All {
            let state = self.ledger.state();
            if stream > state.floor_stream && consumer > state.floor_consumer {
                // A delivery cannot have had a number that none had.
                let consumer = consumer.min(state.delivered_consumer);
                self.ledger.settle_up_to(stream, consumer);
                self.redeliveries.retain(|seq| seq > stream);
            }
            return true;
        }
        self.redeliveries.remove(stream);
        if let Some(pending) = self.ledger.settle(stream)
            && measured
            && sample::hits(self.sampling)
        {
            self.news.acked(consumer, stream, now.saturating_sub(pending.timestamp), delivered, now);
        }
        true
    }

    fn terminated(&mut self, numbers: AckNumbers, reason: &[u8], now: i64) -> bool {
        let confirmed = self.acked(numbers, false, now);
        if confirmed {
            let reason = String::from_utf8_lossy(reason);
            self.news.terminated(numbers.consumer, numbers.stream, numbers.delivered, &reason, now);
        }
        confirmed
    }

    fn naked(&mut self, numbers: AckNumbers, delay: Option<i64>, now: i64) -> bool {
        let AckNumbers { stream, consumer, delivered } = numbers;
        let state = self.ledger.state();
        let known = consumer > state.floor_consumer && consumer <= state.delivered_consumer + 1;
        if !known || self.ledger.pending(stream).is_none() {
            return true;
        }
        self.news.naked(consumer, stream, delivered, now);
        match delay {
            None => self.redeliveries.push(stream),
            Some(delay) => {
                self.redeliveries.remove(stream);
                let timestamp = now.saturating_sub(self.waits.wait).saturating_add(delay);
                self.ledger.touch(stream, timestamp);
                self.set_deadline(stream);
                self.last_delivered = Some(now);
            }
        }
        true
    }

    fn in_progress(&mut self, numbers: AckNumbers, now: i64) -> bool {
        if self.ledger.pending(numbers.stream).is_some() {
            self.ledger.touch(numbers.stream, now);
            self.set_deadline(numbers.stream);
            self.last_delivered = Some(now);
        }
        true
    }

    pub(in crate::jetstream::consumer) fn set_deadline(&mut self, seq: u64) {
        if let Some(due) = self.waits.due(&self.ledger, seq) {
            self.deadlines.set(seq, due);
        }
    }
}
