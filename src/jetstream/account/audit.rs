use crate::jetstream::advisory::{ApiAudit, Client};
use crate::jetstream::messages::ApiAnswer;
use crate::jetstream::{Setting, advisory};
use crate::router::Outbox;
use crate::router::messages::{AskInterest, ServiceId};

/// The tag of the question whether there are auditors.
pub(super) const TAG: u32 = 1;

/// Answers that may wait to be told to the auditors; what comes on top is not told.
const MAX_WAITING: usize = 10_000;

/// Tells auditors about answered requests. An advisory is dearer than most answers, so one question to the router per
/// round finds out whether anybody wants it.
#[derive(Default)]
pub(super) struct Audit {
    waiting: Vec<ApiAnswer>,
    /// How many of those waiting the question underway is about.
    asked: usize,
    outbox: Outbox,
}

impl Audit {
    pub(super) fn note(&mut self, answer: ApiAnswer) {
        if self.waiting.len() < MAX_WAITING {
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

    /// The router has answered.
    pub(super) fn heard(&mut self, is_wanted: bool, setting: &Setting, id: ServiceId) {
        let asked = std::mem::take(&mut self.asked).min(self.waiting.len());
        for answer in self.waiting.drain(..asked).filter(|_| is_wanted) {
            let client = Client::of(setting, answer.request.client);
            let body = ApiAudit::new(setting, client, &answer.request, &answer.body).to_json();
            self.outbox.message(advisory::API_AUDIT.as_bytes(), b"", b"", &body);
        }
        if let Some(publish) = self.outbox.take(id, setting.account, None) {
            setting.switchboard.any().publish.send(publish);
        }
    }
}
