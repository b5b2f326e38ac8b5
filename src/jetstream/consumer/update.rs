//! A changed configuration (consumers reference, section 2.4).

use super::agenda::Matter;
use super::config::AckPolicy;
use super::saving::Change;
use super::{Consumer, equality, sample, update_rules};
use crate::jetstream::api::answer::kinds;
use crate::jetstream::api::consumer_create::Action;
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::UpdateConsumer;

/// After a changed wait, pending messages are looked at again no sooner than this, in nanoseconds.
const LOOK_AGAIN: i64 = 100_000_000;

impl Consumer {
    pub(super) fn update(&mut self, update: UpdateConsumer) {
        let UpdateConsumer { config, action, request } = update;
        let mut config = *config;
        // Only PAUSE changes it.
        config.pause_until.clone_from(&self.config.pause_until);
        let is_same = equality::is_same(&self.config, &config);
        if let Err(error) = self.judge(&config, action, is_same) {
            return self.refuse(request, kinds::CONSUMER_CREATE, &error);
        }
        if config.sourcing && !config.direct {
            // Whoever sources by it has begun anew, and knows only what it has confirmed.
            self.begin_anew(self.ledger.state().floor_stream + 1);
        }
        if is_same {
            return self.answer_created(request);
        }
        let filtered = self.config.filters() != config.filters();
        self.reconfigure(config);
        self.save_config(Change::Update, request);
        if filtered {
            // The stream has adopted the filter by now: what is left is read and counted by it.
            self.reading.forget();
            self.read_ahead.rewind(self.next_seq);
            self.recount();
        }
    }

    fn judge(&self, config: &super::ConsumerConfig, action: Action, is_same: bool) -> Result<(), ApiError> {
        if action == Action::Create {
            return if is_same { Ok(()) } else { Err(ErrCode::ConsumerAlreadyExists.api()) };
        }
        update_rules::check(&self.config, config)?;
        if self.config.deliver_subject != config.deliver_subject && self.push.is_active() {
            return Err(ErrCode::ConsumerNameExists.api());
        }
        Ok(())
    }

    fn reconfigure(&mut self, config: super::ConsumerConfig) {
        let now = self.now();
        let old = std::mem::replace(&mut self.config, config);
        let new = &self.config;
        self.sampling = sample::parse(&new.sample_freq).unwrap_or(0);
        self.pace.set_rate(new);
        let moved = old.deliver_subject != new.deliver_subject;
        let regrouped = old.deliver_group != new.deliver_group;
        let waits = old.ack_wait != new.ack_wait || old.backoff != new.backoff;
        let threshold = old.inactive_threshold != new.inactive_threshold;
        if waits {
            self.rearm(now);
        }
        if moved && self.config.ack_policy != AckPolicy::None {
            let pending: Vec<u64> = self.ledger.state().pending.keys().copied().collect();
            pending.into_iter().for_each(|seq| self.redeliveries.push(seq));
        }
        if moved || regrouped {
            self.watch_deliver_subject();
        }
        if threshold {
            self.active = now;
            self.restart_inactivity(now);
        }
        self.reorder_pulls();
    }

    /// All pending messages get their new deadlines.
    fn rearm(&mut self, now: i64) {
        self.waits = super::acks::AckWaits::new(&self.config);
        self.deadlines.clear();
        self.resume_pending(now);
        if let Some(due) = self.next_deadline() {
            self.agenda.set(Matter::AckWait, Some(due.max(now.saturating_add(LOOK_AGAIN))));
        }
    }
}
