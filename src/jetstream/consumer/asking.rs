//! Whether somebody still listens to those who wait.

use super::Consumer;
use super::agenda::Matter;
use super::pull::{PullRequest, status};
use super::subjects::tags;
use crate::router::messages::{AskInterest, Interest, Unwatch, Watch};
use bytes::Bytes;

/// For so long somebody who listened is taken to listen still, in nanoseconds.
pub const FRESH: i64 = 10_000_000;

/// Requests over `max_waiting` make the queue be looked through at most this often, in nanoseconds.
const SWEEP_EVERY: i64 = 1_000_000_000;

/// Requests that may wait for the queue to be looked through.
const MAX_PARKED: usize = 512;

/// The question that is open, and who waits for its answer.
#[derive(Default)]
pub struct Asking {
    /// Of which requests, in the order asked.
    open: Option<Vec<u64>>,
    /// Somebody wants to know.
    wanted: bool,
    swept: Option<i64>,
    /// Requests that found the queue full.
    parked: Vec<PullRequest>,
    /// Inactivity is to be judged by the answer.
    judging: bool,
}

impl Asking {
    /// Have the waiting requests looked at.
    pub fn want(&mut self) {
        self.wanted = true;
    }

    pub fn is_open(&self) -> bool {
        self.wanted || self.open.is_some()
    }

    pub fn judge(&mut self) {
        self.judging = true;
        self.wanted = true;
    }

    /// Whether a request for which there is no room may wait until the queue has been looked through: not if that has
    /// just been done.
    pub fn may_park(&self, now: i64) -> bool {
        let recently = self.swept.is_some_and(|at| now - at < SWEEP_EVERY);
        (!recently || !self.parked.is_empty()) && self.parked.len() < MAX_PARKED
    }

    /// Keeps a request until the queue has been looked through.
    pub fn park(&mut self, request: PullRequest, now: i64) {
        self.parked.push(request);
        self.swept = Some(now);
        self.wanted = true;
    }
}

impl Consumer {
    /// Sends the question, unless one is open.
    pub(super) fn ask_interest(&mut self) {
        if !self.asking.wanted || self.asking.open.is_some() {
            return;
        }
        self.asking.wanted = false;
        let ids: Vec<u64> = self.pulls.iter().map(|request| request.id).collect();
        let subjects: Vec<Bytes> = self.pulls.iter().map(|request| request.reply.clone()).collect();
        let ask = AskInterest { id: self.service, tag: tags::PULLS, subjects };
        self.setting.switchboard.any().ask.send(ask);
        self.asking.open = Some(ids);
    }

    /// Has the router tell whenever somebody listens on the deliver subject, or nobody.
    pub(super) fn watch_deliver_subject(&mut self) {
        if !self.config.is_push() {
            return;
        }
        let subject = Bytes::from(self.config.deliver_subject.clone());
        let group = &self.config.deliver_group;
        let queue = (!group.is_empty()).then(|| Bytes::from(group.clone()));
        let line = self.setting.switchboard.any();
        line.unwatch.send(Unwatch { id: self.service, tag: tags::DELIVER });
        line.watch.send(Watch { id: self.service, tag: tags::DELIVER, subject, queue });
    }

    pub(super) fn heard(&mut self, interest: &Interest) {
        match interest.tag {
            tags::DELIVER => self.deliver_interest(interest.present.first().copied().unwrap_or(false)),
            tags::PULLS => self.pull_interest(&interest.present),
            _ => {}
        }
    }

    fn pull_interest(&mut self, present: &[bool]) {
        let Some(ids) = self.asking.open.take() else { return };
        let now = self.now();
        let gone: ahash::HashSet<u64> =
            ids.iter().zip(present).filter(|(_, present)| !**present).map(|(id, _)| *id).collect();
        let asked: ahash::HashSet<u64> = ids.into_iter().collect();
        self.pulls.take(|request| gone.contains(&request.id));
        self.pulls.touch_all(|request| {
            if asked.contains(&request.id) {
                request.heard = now;
            }
        });
        for request in std::mem::take(&mut self.asking.parked) {
            match (self.pulls.len() as i64) < self.config.max_waiting {
                true => self.enqueue(request, now),
                false => self.refuse_full(&request),
            }
        }
        if std::mem::take(&mut self.asking.judging) {
            self.judge_inactivity(now);
        }
    }

    /// The queue is full. Who wants heartbeats is not told: it will notice that none come.
    pub(super) fn refuse_full(&mut self, request: &PullRequest) {
        if request.heartbeat == 0 {
            status::plain(self.posts.via(request.via), &request.reply, status::EXCEEDED_MAX_WAITING);
        }
    }

    /// A request joins the queue.
    pub(super) fn enqueue(&mut self, request: PullRequest, now: i64) {
        self.active = now;
        if let Some(due) = request.due() {
            self.agenda.advance(Matter::Pulls, due);
        }
        self.pulls.add(request);
    }
}
