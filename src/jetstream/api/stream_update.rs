//! `$JS.API.STREAM.UPDATE.<stream>`: replaces the whole configuration (streams reference, section 2.4).

use super::answer::kinds;
use super::json;
use super::stream_request::StreamConfigRequest;
use crate::jetstream::account::{JetStream, Unreachable};
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::{ApiAnswer, ApiRequest, UpdateRefused, UpdateStream};
use crate::jetstream::stream::validate::{self, Against};
use crate::jetstream::stream::{StreamConfig, update_rules};

impl JetStream {
    pub(in crate::jetstream) fn stream_update(&mut self, name: &str, request: ApiRequest) {
        let config = match self.to_update(name, &request) {
            Ok(config) => config,
            Err(error) => return self.answer(ApiAnswer::failure(request, kinds::STREAM_UPDATE, &error)),
        };
        // It has just been found.
        let Some(entry) = self.catalogue.get_mut(name) else { return };
        match entry.reach(self.setting.limits.max_requests) {
            Ok(port) => {
                port.update.send(UpdateStream { config: config.clone(), request });
                entry.config = config;
            }
            Err(Unreachable::Busy) => self.dropped += 1,
            Err(Unreachable::Offline(error)) => {
                self.answer(ApiAnswer::failure(request, kinds::STREAM_UPDATE, &error));
            }
        }
    }

    fn to_update(&self, name: &str, request: &ApiRequest) -> Result<StreamConfig, ApiError> {
        let asked: StreamConfigRequest = json::request(&request.body, self.setting.limits.strict)?;
        let mut config = asked.config;
        let (limits, account) = (&*self.setting.limits, &self.setting.account_limits);
        validate::check(&mut config, &Against { limits, account, pedantic: asked.pedantic })?;
        if config.name != name {
            return Err(ErrCode::StreamMismatch.api());
        }
        let existing = self.catalogue.get(name).ok_or_else(|| ErrCode::StreamNotFound.api())?;
        update_rules::check(&existing.config, &mut config)?;
        if config.max_bytes > existing.config.max_bytes {
            self.catalogue.has_room(&config, limits, account)?;
        }
        if self.catalogue.is_taken(&config) {
            return Err(ErrCode::StreamSubjectOverlap.api());
        }
        Ok(config)
    }

    /// The stream found what only it could see.
    pub(in crate::jetstream) fn update_refused(&mut self, refused: UpdateRefused) {
        if let Some(entry) = self.catalogue.by_id(refused.stream) {
            entry.config = refused.config;
            entry.underway = entry.underway.saturating_sub(1);
        }
        self.answer(ApiAnswer::failure(refused.request, kinds::STREAM_UPDATE, &refused.error));
    }
}
