//! What a client asks for, one operation after the other.

use super::Connection;
use super::reserved::{RESERVED_QUEUE, is_closed_to_publishers, is_reserved_reply};
use crate::protocol::{CloseReason, Limits, Op, Parsed, ProtocolError, PubOp, Violation, parse, take_pubs};
use crate::subject::{is_publishable, is_valid_subscription, tokens};
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// Whether work goes on with the next operation.
#[derive(PartialEq, Eq)]
enum Next {
    Go,
    /// Not before a Router, or a judgement, has answered. The operation was not done: it will be looked at again.
    Wait,
}

impl Connection {
    /// Works off what was read, as far as it goes without an answer from elsewhere.
    pub(super) fn work(&mut self) {
        if self.inbound.is_lent() || self.is_waiting() {
            return;
        }
        if self.inbound.damaged {
            return self.close(CloseReason::ProtocolViolation);
        }
        self.stalled = false;
        let trace = tracing::enabled!(tracing::Level::TRACE);
        while self.closing.is_none() {
            let limits = Limits {
                max_control_line: self.options.max_control_line,
                max_payload: self.options.payload_limit(),
                headers: self.takes_headers(),
            };
            if self.is_open() && !trace {
                self.take_usual_publishes(&limits);
            }
            let (buffer, at) = self.inbound.unparsed();
            let Some(first) = buffer.get(at) else {
                self.inbound.want(at);
                break;
            };
            if !self.is_open() && !first.eq_ignore_ascii_case(&b'c') {
                return self.fail(ProtocolError::AuthorizationViolation);
            }
            match parse(buffer, at, &limits) {
                Parsed::Partial(until) => {
                    self.inbound.want(until);
                    break;
                }
                Parsed::Violation(violation) => {
                    if self.must_send_batch() {
                        return;
                    }
                    return self.violated(violation);
                }
                Parsed::Op(op, next) => {
                    if trace {
                        self.trace(&op, at, next);
                    }
                    if self.do_operation(op, next) == Next::Wait {
                        self.stalled = self.subs.is_settling();
                        return;
                    }
                }
            }
        }
        if !self.must_send_batch() && self.closing.is_none() {
            if self.subs.has_changes() && !self.subs.is_settling() {
                self.send_changes();
            }
            if self.inbound.ended {
                self.close(CloseReason::ClientClosed);
            }
        }
    }

    /// Publishes in the usual spelling that nothing is to be said about.
    fn take_usual_publishes(&mut self, limits: &Limits) {
        let (verbose, pedantic) = self.connect.as_ref().map_or((true, true), |c| (c.verbose, c.pedantic));
        if verbose {
            return;
        }
        let (buffer, at, ops) = self.inbound.parts();
        let stopped = take_pubs(buffer, at, limits, ops, |subject, reply| {
            !is_closed_to_publishers(subject) && !is_reserved_reply(reply) && (!pedantic || is_publishable(subject))
        });
        self.inbound.advance(stopped);
    }

    /// Sends the publishes gathered, if there are any: what follows must not overtake them.
    fn must_send_batch(&mut self) -> bool {
        if self.inbound.ops.is_empty() {
            return false;
        }
        self.enter();
        if self.subs.has_changes() {
            self.send_changes();
        }
        self.send_batch();
        true
    }

    fn do_operation(&mut self, op: Op, next: usize) -> Next {
        if let Op::Pub(op) = op {
            return self.publish(op, next);
        }
        if self.must_send_batch() {
            return Next::Wait;
        }
        match op {
            Op::Ping => {
                // The answer says that everything before it is in effect, everywhere.
                if self.subs.has_changes() && !self.subs.is_settling() {
                    self.send_changes();
                }
                if self.subs.is_settling() {
                    return Next::Wait;
                }
                self.inbound.advance(next);
                self.answer_ping();
            }
            Op::Sub { subject, queue, sid } => {
                if self.subs.is_settling() {
                    return Next::Wait;
                }
                self.inbound.advance(next);
                self.subscribe(subject, queue, sid);
            }
            Op::Unsub { sid, max } => {
                if self.subs.is_settling() {
                    return Next::Wait;
                }
                self.inbound.advance(next);
                self.unsubscribe(sid, max);
            }
            Op::Connect { json } => {
                if self.subs.has_changes() && !self.subs.is_settling() {
                    self.send_changes();
                }
                if self.subs.is_settling() {
                    return Next::Wait;
                }
                self.inbound.advance(next);
                self.connect(json);
                if self.is_waiting() {
                    return Next::Wait;
                }
            }
            Op::Info { json } => {
                self.inbound.advance(next);
                let (buffer, _) = self.inbound.unparsed();
                if serde_json::from_slice::<serde::de::IgnoredAny>(&buffer[json]).is_err() {
                    self.close(CloseReason::ProtocolViolation);
                }
            }
            Op::Pong => {
                self.inbound.advance(next);
                self.heartbeat.answered();
            }
            Op::Ok => self.inbound.advance(next),
            Op::Err => self.close(CloseReason::ParseError),
            Op::Pub(_) => {}
        }
        Next::Go
    }

    /// A publish that is not in the usual spelling, or about which there is something to say.
    fn publish(&mut self, op: PubOp, next: usize) -> Next {
        let (verbose, pedantic) = self.connect.as_ref().map_or((true, true), |c| (c.verbose, c.pedantic));
        let (buffer, _) = self.inbound.unparsed();
        let (subject, reply) = (op.subject(buffer), op.reply(buffer));
        let objection = if is_closed_to_publishers(subject) {
            Some(ProtocolError::PublishViolation { subject: Bytes::copy_from_slice(subject) })
        } else if is_reserved_reply(reply) {
            Some(ProtocolError::ReplyViolation { reply: Bytes::copy_from_slice(reply) })
        } else {
            None
        };
        let remark = pedantic && !is_publishable(subject);
        if (verbose || remark || objection.is_some()) && self.must_send_batch() {
            return Next::Wait;
        }
        self.inbound.advance(next);
        if remark {
            self.outbound.say(ProtocolError::InvalidPublishSubject.line());
        }
        if let Some(objection) = objection {
            match &objection {
                ProtocolError::PublishViolation { subject } => {
                    tracing::error!(
                        "{} - Publish Violation - Subject {}",
                        self.label(),
                        crate::protocol::quote(subject)
                    );
                }
                ProtocolError::ReplyViolation { reply } => {
                    tracing::error!("{} - Publish Violation - Reply {}", self.label(), crate::protocol::quote(reply));
                }
                _ => {}
            }
            self.outbound.say(objection.line());
            return Next::Go;
        }
        if verbose {
            self.say_ok();
        }
        self.inbound.ops.push(op);
        if verbose && self.must_send_batch() {
            return Next::Wait;
        }
        Next::Go
    }

    fn subscribe(&mut self, subject: Range<usize>, queue: Option<Range<usize>>, sid: Range<usize>) {
        self.enter();
        let (buffer, _) = self.inbound.unparsed();
        let (subject, sid, queue) = (&buffer[subject], &buffer[sid], queue.map(|queue| &buffer[queue]));
        let most_tokens = self.options.max_sub_tokens;
        let most = self.options.max_subscriptions;
        let objection = if queue == Some(RESERVED_QUEUE) {
            Some(ProtocolError::QueueSubscriptionViolation {
                subject: Bytes::copy_from_slice(subject),
                queue: Bytes::from_static(RESERVED_QUEUE),
            })
        } else if most_tokens > 0 && tokens(subject).count() > most_tokens {
            Some(ProtocolError::TooManyTokens { subject: Bytes::copy_from_slice(subject) })
        } else if most > 0 && self.subs.len() >= most {
            Some(ProtocolError::MaximumSubscriptionsExceeded)
        } else if self.subs.contains(sid) {
            None
        } else if !is_valid_subscription(subject) {
            Some(ProtocolError::InvalidSubject)
        } else {
            // Most clients may have everything: they share one empty list.
            self.subs.add(subject, queue, sid, &Arc::default());
            None
        };
        match objection {
            Some(objection) => self.outbound.say(objection.line()),
            None => self.ok(),
        }
    }

    fn unsubscribe(&mut self, sid: Range<usize>, max: Option<i64>) {
        self.enter();
        let (buffer, _) = self.inbound.unparsed();
        let sid = &buffer[sid];
        match max.and_then(|max| u64::try_from(max).ok()).filter(|&max| max > 0) {
            None => self.subs.end(sid),
            Some(max) => self.subs.limit(sid, max, self.routers.count()),
        }
        self.ok();
    }

    fn violated(&mut self, violation: Violation) {
        match violation {
            Violation::Argument => self.close(CloseReason::ProtocolViolation),
            Violation::UnknownOperation => self.fail(ProtocolError::UnknownProtocolOperation),
            Violation::ControlLine => self.fail(ProtocolError::MaximumControlLineExceeded),
            Violation::MaxPayload => self.fail(ProtocolError::MaximumPayloadViolation),
        }
    }

    /// `+OK`, if the client wants it.
    pub(super) fn ok(&mut self) {
        if self.connect.as_ref().is_none_or(|connect| connect.verbose) {
            self.say_ok();
        }
    }

    fn say_ok(&mut self) {
        self.outbound.say(Bytes::from_static(b"+OK\r\n"));
    }

    /// Logs an operation as the reference does, secrets left out.
    fn trace(&self, op: &Op, at: usize, next: usize) {
        let (buffer, _) = self.inbound.unparsed();
        let line = match op {
            Op::Connect { .. } => "CONNECT".into(),
            _ => {
                let line = &buffer[at..next];
                let end = memchr::memchr(b'\n', line).unwrap_or(line.len());
                String::from_utf8_lossy(&line[..end]).trim_end().to_owned()
            }
        };
        tracing::trace!("{} - <<- [{line}]", self.label());
        if let Op::Pub(op) = op {
            let payload = String::from_utf8_lossy(op.payload(buffer));
            tracing::trace!("{} - <<- MSG_PAYLOAD: [{payload:?}]", self.label());
        }
    }
}
