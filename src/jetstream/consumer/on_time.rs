//! What the clock makes a consumer do.

use super::Consumer;
use super::agenda::Matter;
use super::config::PriorityPolicy;
use super::pull::status;
use crate::jetstream::messages::Expired;
use crate::jetstream::time;

/// Messages whose waits end together come back together, in nanoseconds.
const ACK_SLACK: i64 = 1_000_000;

/// Requests are looked through no more often than this, in nanoseconds.
const PULL_SLACK: i64 = 1_000_000;

const MILLISECOND: i64 = 1_000_000;

/// An unused pull consumer is given so much longer, in nanoseconds.
const INACTIVE_SLACK: i64 = 100 * MILLISECOND;

impl Consumer {
    /// Does whatever its time has come for.
    pub(super) fn on_time(&mut self, now: i64) {
        if self.agenda.take(Matter::Pause, now) {
            self.pause_over(now);
        }
        if self.agenda.take(Matter::AckWait, now) {
            self.acks_overdue(now);
        }
        if self.agenda.take(Matter::Pulls, now) {
            self.pulls_due(now);
        }
        if self.agenda.take(Matter::Heartbeat, now) {
            self.push_heartbeat(now);
        }
        if self.agenda.take(Matter::Pin, now) && self.pin.is_set() {
            self.unpin("timeout", now);
        }
        if self.agenda.take(Matter::Inactivity, now) {
            self.inactive(now);
        }
        // Nothing is done for these but to go on.
        self.agenda.take(Matter::Pace, now);
        self.agenda.take(Matter::Save, now);
    }

    /// The timers of a consumer that starts.
    pub(super) fn begin_timers(&mut self, now: i64) {
        self.agenda.set(Matter::Pause, self.paused_until.filter(|&until| until > now));
        // A new one cannot be used before it is on the disk: its time begins then, however slow that was.
        if self.is_born {
            self.restart_inactivity(now);
        }
    }

    /// When the next pending message is due.
    pub(super) fn next_deadline(&mut self) -> Option<i64> {
        let (ledger, waits) = (&self.ledger, &self.waits);
        self.deadlines.earliest(|seq| waits.due(ledger, seq)).map(|due| due.saturating_add(ACK_SLACK))
    }

    /// Messages whose acknowledgement is overdue are lined up again, or given up (consumers reference, 3.5 and 3.6).
    fn acks_overdue(&mut self, now: i64) {
        let (ledger, waits) = (&self.ledger, &self.waits);
        for seq in self.deadlines.take_due(now, |seq| waits.due(ledger, seq)) {
            if self.is_used_up(seq) {
                self.give_up(seq, now);
                continue;
            }
            self.redeliveries.push(seq);
            self.ledger.touch(seq, now);
            self.set_deadline(seq);
        }
    }

    /// Waiting requests expire, or get a heartbeat.
    fn pulls_due(&mut self, now: i64) {
        for request in self.pulls.take(|request| request.is_expired(now)) {
            status::with_rest(self.posts.via(request.via), &request, status::REQUEST_TIMEOUT);
        }
        let (last_consumer, last_stream) = (self.ledger.state().delivered_consumer, self.next_seq - 1);
        let posts = &mut self.posts;
        self.pulls.touch_all(|request| {
            if request.next_heartbeat.is_some_and(|at| at <= now) {
                let outbox = posts.via(request.via);
                status::heartbeat(outbox, &request.reply, last_consumer, last_stream, None);
                request.next_heartbeat = Some(now.saturating_add(request.heartbeat));
            }
        });
        let due = self.pulls.due();
        self.agenda.set(Matter::Pulls, due.map(|due| due.max(now.saturating_add(PULL_SLACK))));
    }

    fn pause_over(&mut self, now: i64) {
        self.news.paused(false, self.paused_until.unwrap_or(time::NEVER), now);
        self.active = now;
    }

    /// For how long it may go unused; `None` for ever.
    fn threshold(&self) -> Option<i64> {
        let threshold = self.config.inactive_threshold;
        (threshold > 0).then_some(threshold)
    }

    /// Begins to count the time without use anew.
    pub(super) fn restart_inactivity(&mut self, now: i64) {
        let runs = !self.config.is_push() || !self.push.is_active();
        let due = self.threshold().filter(|_| runs).map(|threshold| {
            // Pull consumers are given a little more, each another, so that they do not all end together.
            let is_exact = self.config.is_push() && threshold != super::defaults::EPHEMERAL_INACTIVE_THRESHOLD;
            let jitter = if is_exact { 0 } else { rand::random_range(100..1000) * MILLISECOND };
            now.saturating_add(threshold).saturating_add(jitter)
        });
        self.agenda.set(Matter::Inactivity, due);
    }

    /// While messages wait for their acknowledgement, the consumer is looked at again only when they are overdue, which
    /// may be long. Whoever acknowledges them has it looked at as soon as it may be unused.
    pub(super) fn hasten_inactivity(&mut self, now: i64) {
        let Some(threshold) = self.threshold().filter(|_| !self.config.is_push()) else { return };
        let soon = now.saturating_add(threshold).saturating_add(INACTIVE_SLACK);
        if self.agenda.get(Matter::Inactivity).is_some_and(|at| at > soon) {
            self.agenda.set(Matter::Inactivity, Some(soon));
        }
    }

    /// The time without use may be over.
    fn inactive(&mut self, now: i64) {
        if self.config.is_push() {
            if !self.push.is_active() {
                self.expire();
            }
            return;
        }
        match self.pulls.is_empty() {
            true => self.judge_inactivity(now),
            // Not while somebody waits who still listens.
            false => self.asking.judge(),
        }
    }

    /// Decides whether an unused pull consumer goes: the requests that wait are of people who listen.
    pub(super) fn judge_inactivity(&mut self, now: i64) {
        let Some(threshold) = self.threshold() else { return };
        if !self.pulls.is_empty() {
            return self.restart_inactivity(now);
        }
        let state = self.ledger.state();
        let waits =
            state.pending.iter().map(|(&seq, p)| p.timestamp.saturating_add(self.waits.after(self.ledger.count(seq))));
        let latest = waits.max().unwrap_or(i64::MIN).max(self.active).saturating_add(threshold);
        match latest > now {
            true => self.agenda.set(Matter::Inactivity, Some(latest.saturating_add(INACTIVE_SLACK))),
            false => self.expire(),
        }
    }

    /// The stream deletes it, and then says so.
    fn expire(&mut self) {
        self.stream.expired.send(Expired { consumer: self.id });
    }

    /// Keeps the queue of requests in the order of a changed policy.
    pub(super) fn reorder_pulls(&mut self) {
        self.pulls.set_by_priority(self.config.priority_policy == PriorityPolicy::Prioritized);
    }
}
