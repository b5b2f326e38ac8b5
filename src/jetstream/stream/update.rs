//! A new configuration, and what it does to what is there (streams reference 2.4).

use super::actor::Stream;
use super::batch::Effect;
use super::config::{Retention, StreamConfig};
use super::info::Shown;
use super::republish::Transforms;
use crate::jetstream::api::answer::kinds;
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::{ApiRequest, UpdateRefused, UpdateStream};
use crate::store::Change;

impl Stream {
    /// JetStream has checked the configuration; what only the stream knows is checked here.
    pub(super) fn update(&mut self, update: UpdateStream) {
        let UpdateStream { config, request } = update;
        if self.closing {
            return self.refuse(request, kinds::STREAM_UPDATE, &ErrCode::StreamNotFound.api());
        }
        if let Err(error) = self.check_consumer_limits(&config) {
            let refused = UpdateRefused { stream: self.id, config: self.config.clone(), request, error };
            self.desk.refused.send(refused);
            return;
        }
        let before = self.config.clone();
        self.adopt(config);
        self.store.stage(Change::Configure { config: self.config_bytes() });
        self.apply_limits(&before);
        self.pipeline.open.effects.push(Effect::Updated { before: Box::new(before), request });
    }

    /// Consumers must fit into new limits: `change to limits violates consumers: a, b`.
    fn check_consumer_limits(&self, config: &StreamConfig) -> Result<(), ApiError> {
        let limits = config.consumer_limits;
        let violates = |threshold: i64, max_ack_pending: i64| {
            (limits.inactive_threshold > 0 && threshold > limits.inactive_threshold)
                || (limits.max_ack_pending > 0 && max_ack_pending > limits.max_ack_pending)
        };
        let names: Vec<&str> = self
            .consumers
            .sorted()
            .filter(|member| violates(member.config.inactive_threshold, member.config.max_ack_pending))
            .map(|member| &*member.name)
            .collect();
        match names.is_empty() {
            true => Ok(()),
            false => {
                let names = names.join(", ");
                Err(ErrCode::StreamUpdate.text(format!("change to limits violates consumers: {names}")))
            }
        }
    }

    /// Takes a configuration for its own: subjects, direct gets, window. Also to go back to one.
    pub(super) fn adopt(&mut self, config: StreamConfig) {
        let before = std::mem::replace(&mut self.config, config);
        self.transforms = Transforms::of(&self.config);
        self.dedupe.set_window(self.config.duplicate_window);
        self.listen_to_subjects();
        match (before.allow_direct, self.config.allow_direct) {
            (false, true) => self.listen_to_direct_gets(),
            (true, false) => self.stop_listening_to_direct_gets(),
            _ => {}
        }
    }

    /// Stricter limits act at once.
    fn apply_limits(&mut self, before: &StreamConfig) {
        if before.retention == Retention::Limits && self.config.retention == Retention::Interest {
            self.begin_retention();
        }
        self.enforce_all_subjects();
        self.enforce_totals();
        self.expire();
    }

    /// CREATE of a stream that is there with the same configuration.
    pub(super) fn created_again(&mut self, request: ApiRequest) {
        let info = self.info(Shown::Created);
        self.answer(request, kinds::STREAM_CREATE, &info);
    }
}
