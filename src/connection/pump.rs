//! The pump: what happens on every wake.

use super::inbound::Sizes;
use super::subscriptions::Counted;
use super::{Connection, Timer, WriteDeadline};
use crate::actor::Ctx;
use crate::protocol::CloseReason;
use crate::router::messages::RouterId;
use crate::router::{Changes, Deliver, Drained, PubBatch};
use std::task::{self, Poll};
use std::time::{Duration, Instant};

/// Reads of one wake: others on the arbiter want their turn.
const READS_PER_WAKE: usize = 2;
/// An unused read buffer is given up after this long.
const IDLE: Duration = Duration::from_secs(5);

impl Connection {
    pub(super) fn pump(&mut self, ctx: &mut Ctx<Self>, task: &mut task::Context<'_>) {
        let mut reads = 0;
        loop {
            if self.closing.is_none() {
                self.work();
            }
            if !self.can_read() {
                break;
            }
            if reads == READS_PER_WAKE {
                task.waker().wake_by_ref();
                break;
            }
            reads += 1;
            if !self.read(task) {
                break;
            }
        }
        self.write(ctx, task);
    }

    /// Whether what was read is worked off, so that there is a use in reading more.
    fn can_read(&self) -> bool {
        self.closing.is_none() && !self.inbound.is_lent() && !self.inbound.ended && !self.is_waiting() && !self.stalled
    }

    /// Reads once. Answers whether there was anything, the end included.
    fn read(&mut self, task: &mut task::Context<'_>) -> bool {
        let sizes = Sizes { first: self.options.read_buffer, most: self.options.read_buffer_max };
        match self.inbound.poll_read(&mut self.transport, sizes, task) {
            Poll::Pending => {
                if !self.inbound.idle_alarm_set && self.inbound.holds_memory() {
                    self.inbound.idle_alarm_set = true;
                    self.set_alarm(Timer::Idle, IDLE, 0);
                }
                return false;
            }
            Poll::Ready(Ok(0)) => self.inbound.ended = true,
            Poll::Ready(Ok(_)) => self.heartbeat.heard(),
            Poll::Ready(Err(error)) => {
                tracing::debug!("{} - read error: {error}", self.label());
                self.close(CloseReason::ReadError);
            }
        }
        true
    }

    pub(super) fn idle_alarm(&mut self) {
        self.inbound.idle_alarm_set = false;
        if std::mem::take(&mut self.inbound.active) {
            if self.inbound.holds_memory() {
                self.inbound.idle_alarm_set = true;
                self.set_alarm(Timer::Idle, IDLE, 0);
            }
        } else {
            self.inbound.shrink();
        }
    }

    /// Hands the publishes read so far to the Router, and the buffer with them.
    pub(super) fn send_batch(&mut self) {
        let (buffer, ops) = self.inbound.lend();
        self.counts.published(&ops);
        self.routers.at(self.home).send(PubBatch { id: self.id, buffer, ops });
    }

    /// Tells every replica what was subscribed and unsubscribed.
    pub(super) fn send_changes(&mut self) {
        let list = self.subs.take_changes(self.routers.count());
        for router in self.routers.everyone() {
            router.send(Changes { id: self.id, list: list.clone() });
        }
    }

    pub(super) fn take_delivery(&mut self, deliver: Deliver) {
        let Deliver { from, segments, messages, payload, .. } = deliver;
        self.counts.out_msgs += messages;
        self.counts.out_bytes += payload;
        for segment in segments {
            match segment.counted {
                None => self.outbound.deliver(segment.bytes, from),
                Some(key) => {
                    let len = segment.bytes.len();
                    match self.subs.counted(key, segment.bytes) {
                        Counted::Write(bytes) => self.outbound.deliver(bytes, from),
                        // What is not written, or later by itself, is worked off as far as the replica is concerned.
                        Counted::Keep | Counted::Drop => self.report_drained(from, len),
                    }
                }
            }
        }
    }

    fn report_drained(&self, router: RouterId, bytes: usize) {
        self.routers.at(router).send(Drained { id: self.id, bytes });
    }

    fn write(&mut self, ctx: &mut Ctx<Self>, task: &mut task::Context<'_>) {
        let result = self.outbound.poll_write(&mut self.transport, task);
        let (every, id, routers) = (self.options.drained_every, self.id, &self.routers);
        self.outbound.take_drained(every, |router, bytes| routers.at(router).send(Drained { id, bytes }));
        match result {
            Poll::Ready(Ok(())) => {
                self.deadline = None;
                if self.closing.is_some() {
                    self.finish(ctx, task);
                }
            }
            Poll::Ready(Err(error)) => {
                tracing::debug!("{} - write error: {error}", self.label());
                self.abort(CloseReason::WriteError, ctx);
            }
            Poll::Pending => self.check_slowness(ctx),
        }
    }

    /// The socket takes no more for now.
    fn check_slowness(&mut self, ctx: &mut Ctx<Self>) {
        if self.outbound.pending() > self.options.max_pending {
            tracing::info!(
                "{} - Slow Consumer Detected: MaxPending of {} Exceeded",
                self.label(),
                self.options.max_pending
            );
            return self.abort(CloseReason::SlowConsumerPendingBytes, ctx);
        }
        let met = self.deadline.as_ref().is_none_or(|deadline| self.outbound.written() >= deadline.goal);
        if met {
            let after = self.options.write_deadline;
            // An alarm for an earlier goal may still be on its way; it sets itself again.
            if self.deadline.is_none() {
                self.set_alarm(Timer::Write, after, 0);
            }
            let goal = self.outbound.written() + self.outbound.pending() as u64;
            self.deadline = Some(WriteDeadline { at: Instant::now() + after, goal });
        }
    }

    pub(super) fn write_alarm(&mut self, ctx: &mut Ctx<Self>) {
        let Some(deadline) = &self.deadline else { return };
        let now = Instant::now();
        if now < deadline.at {
            return self.set_alarm(Timer::Write, deadline.at - now, 0);
        }
        tracing::info!(
            "{} - Slow Consumer Detected: WriteDeadline of {:?} exceeded with {} chunks of {} total bytes.",
            self.label(),
            self.options.write_deadline,
            self.outbound.chunks(),
            self.outbound.pending()
        );
        self.abort(CloseReason::SlowConsumerWriteDeadline, ctx);
    }
}
