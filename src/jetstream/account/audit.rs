use crate::account::{ThisIs, Who, WhoIs};
use crate::actor::Outlet;
use crate::jetstream::advisory::{ApiAudit, Client};
use crate::jetstream::messages::ApiAnswer;
use crate::jetstream::{Setting, advisory};
use crate::router::Outbox;
use crate::router::messages::{AskInterest, ServiceId};
use std::collections::VecDeque;

/// The tag of the question whether there are auditors.
pub(super) const TAG: u32 = 1;

/// Answers that may wait to be told to the auditors; what comes on top is not told.
const MAX_WAITING: usize = 10_000;

/// Tells auditors about answered requests. An advisory is dearer than most answers, so one question to the router per
/// round finds out whether anybody wants it; only then connections are asked who their clients are.
#[derive(Default)]
pub(super) struct Audit {
    waiting: Vec<ApiAnswer>,
    /// How many of those waiting the question underway is about.
    asked: usize,
    /// To be told, in order, once it is known of whom. They have consecutive tokens.
    nameless: VecDeque<Nameless>,
    /// The token of the first of them.
    first: u64,
    outbox: Outbox,
}

struct Nameless {
    answer: ApiAnswer,
    /// Who asked, once that has been answered.
    who: Option<Option<Who>>,
}

impl Audit {
    pub(super) fn note(&mut self, answer: ApiAnswer) {
        if self.waiting.len() + self.nameless.len() < MAX_WAITING {
            self.waiting.push(answer);
        }
    }

    /// At the end of a round.
    pub(super) fn ask(&mut self, setting: &Setting, id: ServiceId) {
        if self.asked == 0 && !self.waiting.is_empty() {
            self.asked = self.waiting.len();
            let subjects = vec![advisory::API_AUDIT.into()];
            setting.switchboard.any().ask.send(AskInterest { id, tag: TAG, subjects });
        }
    }

    /// The router has answered. `own`: where to say who a client is.
    pub(super) fn heard(&mut self, is_wanted: bool, setting: &Setting, id: ServiceId, own: &Outlet<ThisIs>) {
        let asked = std::mem::take(&mut self.asked).min(self.waiting.len());
        for answer in self.waiting.drain(..asked).filter(|_| is_wanted) {
            let token = self.first + self.nameless.len() as u64;
            let who = match &setting.registry {
                Some(registry) => {
                    registry.send(WhoIs::new(answer.request.client, token, own.clone()));
                    None
                }
                None => Some(None),
            };
            self.nameless.push_back(Nameless { answer, who });
        }
        self.tell(setting, id);
    }

    /// Somebody has said who a client is.
    pub(super) fn introduced(&mut self, this: ThisIs, setting: &Setting, id: ServiceId) {
        let at = this.token.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        if let Some(nameless) = at.and_then(|at| self.nameless.get_mut(at)) {
            nameless.who = Some(this.who);
        }
        self.tell(setting, id);
    }

    /// Tells of those whose client is known, up to the first that waits.
    fn tell(&mut self, setting: &Setting, id: ServiceId) {
        while self.nameless.front().is_some_and(|first| first.who.is_some()) {
            let Some(known) = self.nameless.pop_front() else { break };
            self.first += 1;
            let request = &known.answer.request;
            let client = Client::of(setting, request.client, known.who.flatten());
            let body = ApiAudit::new(setting, client, request, &known.answer.body).to_json();
            self.outbox.message(advisory::API_AUDIT.as_bytes(), b"", b"", &body);
        }
        if let Some(publish) = self.outbox.take(id, setting.account, None) {
            setting.switchboard.any().publish.send(publish);
        }
    }
}
