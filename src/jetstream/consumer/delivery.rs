//! The delivery loop (consumers reference, section 0.2).

use super::Consumer;
use super::agenda::Matter;
use super::asking::FRESH;
use super::config::{AckPolicy, PriorityPolicy};
use super::posts::Sent;
use super::pull::{PullRequest, status};
use super::redelivery::Head;
use crate::protocol::StoredMessage;
use crate::router::Presentation;
use crate::router::messages::RouterId;

/// Where pushed messages leave: the replica that watches the deliver subject.
pub const PUSH_VIA: RouterId = RouterId(0);

/// The first line and the empty line of a header block.
const BLOCK: usize = "NATS/1.0\r\n\r\n".len();

/// Why the loop stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    /// It will go on by itself: a read, a receipt, an answer or an alarm is to come.
    Busy,
    /// `max_ack_pending`.
    Full,
    /// There is nothing to deliver: who wants no waiting is told.
    Idle,
    /// Nobody takes what there is.
    Untaken,
}

/// A message to be delivered.
struct Candidate {
    message: StoredMessage,
    again: bool,
}

/// Who gets it.
enum Taker {
    Pull(usize),
    Push,
}

impl Consumer {
    /// Delivers what can be delivered now.
    pub(super) fn deliver(&mut self, now: i64) {
        let mut ack = Vec::with_capacity(128);
        let hold = loop {
            if let Err(hold) = self.deliver_one(now, &mut ack) {
                break hold;
            }
            if self.posts.is_full() {
                self.flush();
            }
        };
        if matches!(hold, Hold::Idle | Hold::Untaken) && self.pulls.has_impatient() {
            self.end_impatient();
        }
        self.deadlines.tidy(self.ledger.state().pending.len(), |seq| self.waits.due(&self.ledger, seq));
    }

    fn deliver_one(&mut self, now: i64, ack: &mut Vec<u8>) -> Result<(), Hold> {
        if !self.is_born {
            return Err(Hold::Busy);
        }
        let is_push = self.config.is_push();
        if self.is_paused(now) || (is_push && !self.push.is_active()) {
            return Err(Hold::Idle);
        }
        if !is_push && self.pulls.is_empty() {
            return Err(Hold::Untaken);
        }
        if self.push.is_stalled() || !self.posts.has_credit() || self.agenda.get(Matter::Pace).is_some() {
            return Err(Hold::Busy);
        }
        let Candidate { message, again } = self.candidate(now)?;
        let pending = self.tally.pending().saturating_sub(u64::from(!again));
        self.write_ack(&message, pending, ack);
        let bytes = self.size(&message, ack.len());
        let taker = match is_push {
            true => Taker::Push,
            false => self.choose(bytes, now)?,
        };
        if let Some(at) = self.pace.wait(message.seq, message.timestamp, bytes, now) {
            self.agenda.set(Matter::Pace, Some(at));
            return Err(Hold::Busy);
        }
        self.send(message, again, taker, ack, bytes, now);
        Ok(())
    }

    /// The next message: what waits for redelivery, then what is new.
    fn candidate(&mut self, now: i64) -> Result<Candidate, Hold> {
        loop {
            let message = match self.redeliveries.head() {
                Head::Empty => break,
                Head::Unread => return Err(Hold::Busy),
                Head::Ready(message) => message,
            };
            if self.is_used_up(message.seq) {
                self.give_up(message.seq, now);
                continue;
            }
            return Ok(Candidate { message, again: true });
        }
        let limit = self.config.max_ack_pending;
        if limit > 0 && self.is_tracked() && self.ledger.state().pending.len() as i64 >= limit {
            return Err(Hold::Full);
        }
        if let Some(message) = self.read_ahead.front() {
            return Ok(Candidate { message: message.clone(), again: false });
        }
        if !self.read_ahead.is_exhausted() {
            return Err(Hold::Busy);
        }
        self.next_seq = self.next_seq.max(self.read_ahead.last() + 1);
        self.tally.exhausted();
        Err(Hold::Idle)
    }

    /// Its deliveries have reached `max_deliver`.
    pub(super) fn is_used_up(&self, seq: u64) -> bool {
        let limit = self.config.max_deliver;
        limit > 0 && self.ledger.count(seq) >= limit as u64
    }

    pub(super) fn give_up(&mut self, seq: u64, now: i64) {
        self.redeliveries.remove(seq);
        self.ledger.give_up(seq);
        self.news.max_deliveries(seq, self.config.max_deliver as u64, now);
    }

    /// The reply of a delivery (consumers reference, section 3.1).
    fn write_ack(&self, message: &StoredMessage, pending: u64, ack: &mut Vec<u8>) {
        let numbers = self.ledger.next_numbers(message.seq);
        let mut digits = itoa::Buffer::new();
        ack.clear();
        ack.extend_from_slice(self.subjects.sent_ack().as_bytes());
        for number in [numbers.count, message.seq, numbers.consumer] {
            ack.extend_from_slice(digits.format(number).as_bytes());
            ack.push(b'.');
        }
        ack.extend_from_slice(digits.format(message.timestamp).as_bytes());
        ack.push(b'.');
        ack.extend_from_slice(digits.format(pending).as_bytes());
    }

    /// What a message counts for: byte budgets, rates, flow control.
    fn size(&self, message: &StoredMessage, ack: usize) -> usize {
        let subject = match self.config.is_push() {
            true => self.config.deliver_subject.len(),
            false => message.subject().len(),
        };
        let (headers, payload) = (message.headers().len(), message.payload().len());
        let content = match self.config.headers_only {
            false => headers + payload,
            true => {
                let line = "Nats-Msg-Size: \r\n".len() + itoa::Buffer::new().format(payload).len();
                headers.max(BLOCK) + line
            }
        };
        subject + ack + content
    }

    /// The waiting request that gets the next message; those that cannot are ended or passed over.
    fn choose(&mut self, bytes: usize, now: i64) -> Result<Taker, Hold> {
        let mut at = 0;
        while let Some(request) = self.pulls.get(at) {
            if request.is_expired(now) {
                self.end_pull(at, status::REQUEST_TIMEOUT);
                continue;
            }
            if now.saturating_sub(request.heard) > FRESH {
                self.asking.want();
                return Err(Hold::Busy);
            }
            match self.config.priority_policy {
                PriorityPolicy::Overflow if !self.overflows(request) => {
                    at += 1;
                    continue;
                }
                PriorityPolicy::PinnedClient => match self.may_take_pinned(request) {
                    Pinning::Serve => {}
                    Pinning::Pin => {
                        let id = request.id;
                        self.pin_to(id, now);
                        continue;
                    }
                    Pinning::Standby => {
                        at += 1;
                        continue;
                    }
                    Pinning::Refuse => {
                        self.end_pull(at, status::WRONG_PIN);
                        continue;
                    }
                },
                _ => {}
            }
            if request.limits_bytes && bytes as i64 > request.max_bytes {
                if self.pin.request == request.id && request.delivered == 0 && request.pin.is_empty() {
                    self.release_pin();
                }
                self.end_pull(at, status::EXCEEDS_MAX_BYTES);
                continue;
            }
            return Ok(Taker::Pull(at));
        }
        Err(Hold::Untaken)
    }

    /// The policy `overflow`: served only when there is more than others cope with.
    fn overflows(&self, request: &PullRequest) -> bool {
        let (min_pending, min_ack) = (request.min_pending, request.min_ack_pending);
        if min_pending <= 0 && min_ack <= 0 {
            return true;
        }
        let ack_pending = self.ledger.state().pending.len() as i64;
        (min_pending > 0 && self.tally.pending() as i64 >= min_pending) || (min_ack > 0 && ack_pending >= min_ack)
    }

    fn may_take_pinned(&self, request: &PullRequest) -> Pinning {
        match (self.pin.is_set(), request.pin.is_empty()) {
            (false, true) => match request.group.is_empty() {
                // Bodies that are no JSON know no groups: served without a pin.
                true => Pinning::Serve,
                false => Pinning::Pin,
            },
            (false, false) => Pinning::Refuse,
            (true, true) if self.pin.request == request.id => Pinning::Serve,
            (true, true) => Pinning::Standby,
            (true, false) if self.pin.is_held_by(&request.pin) => Pinning::Serve,
            (true, false) => Pinning::Refuse,
        }
    }

    fn send(&mut self, message: StoredMessage, again: bool, taker: Taker, ack: &[u8], bytes: usize, now: i64) {
        let (seq, stored) = (message.seq, message.timestamp);
        let previous = self.ledger.state().delivered_stream;
        let consumer = self.ledger.next_numbers(seq).consumer;
        match again {
            true => {
                self.redeliveries.remove(seq);
            }
            false => {
                self.read_ahead.pop();
                self.next_seq = seq + 1;
                self.tally.delivered();
            }
        }
        self.ledger.deliver(seq, now, self.is_tracked());
        if let Some(due) = self.waits.due(&self.ledger, seq) {
            self.deadlines.set(seq, due);
        }
        let mut extra = String::new();
        if self.config.headers_only {
            extra.push_str(&format!("Nats-Msg-Size: {}\r\n", message.payload().len()));
        }
        if self.config.priority_policy == PriorityPolicy::PinnedClient {
            extra.push_str(&format!("Nats-Pin-Id: {}\r\n", self.pin.id));
        }
        let shown =
            Presentation { reply: ack, extra_headers: extra.as_bytes(), headers_only: self.config.headers_only };
        let mut sent = Sent::new(seq, consumer, previous);
        (sent.bytes, sent.first) = (bytes.min(u32::MAX as usize) as u32, !again);
        match taker {
            Taker::Push => {
                let route = self.config.deliver_subject.as_bytes();
                self.posts.delivery(PUSH_VIA, sent).stored(route, message, shown);
                self.after_push(bytes, now);
            }
            Taker::Pull(at) => {
                let Some(request) = self.pulls.serve(at, |request| request.got(bytes, now)) else { return };
                sent.pull = request.id;
                self.posts.delivery(request.via, sent).stored(&request.reply, message, shown);
                if request.is_fulfilled() {
                    self.fulfilled(sent.pull);
                }
            }
        }
        self.pace.sent(stored, bytes, now);
        self.last_delivered = Some(now);
        self.active = now;
    }

    /// A request has all it asked for.
    fn fulfilled(&mut self, id: u64) {
        let last = self.pulls.len().saturating_sub(1);
        let at = match self.pulls.get(last) {
            Some(request) if request.id == id => Some(last),
            _ => self.pulls.position(id),
        };
        let Some(request) = at.and_then(|at| self.pulls.remove(at)) else { return };
        if request.limits_bytes && request.max_bytes > 0 {
            status::with_rest(self.posts.via(request.via), &request, status::BATCH_COMPLETED);
        }
    }

    /// Ends a waiting request with a status that tells what it did not get.
    pub(super) fn end_pull(&mut self, at: usize, text: &str) {
        if let Some(request) = self.pulls.remove(at) {
            status::with_rest(self.posts.via(request.via), &request, text);
        }
    }

    /// Ends those who want no waiting.
    fn end_impatient(&mut self) {
        for request in self.pulls.take(PullRequest::ends_without_more) {
            status::plain(self.posts.via(request.via), &request.reply, status::NO_MESSAGES);
        }
    }

    /// Lines up again what had been delivered before the consumer was started.
    pub(super) fn resume_pending(&mut self, now: i64) {
        if self.config.ack_policy == AckPolicy::FlowControl {
            return;
        }
        let seqs: Vec<u64> = self.ledger.state().pending.keys().copied().collect();
        let mut due: Vec<_> =
            seqs.into_iter().filter_map(|seq| Some((self.waits.due(&self.ledger, seq)?, seq))).collect();
        due.sort_unstable();
        due.into_iter().for_each(|(due, seq)| self.deadlines.set(seq, due));
        self.active = now;
    }
}

/// What a request may do under the policy `pinned_client`.
enum Pinning {
    Serve,
    Pin,
    Standby,
    Refuse,
}
