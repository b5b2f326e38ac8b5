//! `$JS.API.STREAM.CREATE.<stream>` (streams reference, section 2.3).

use super::answer::kinds;
use super::endpoint::Endpoint;
use super::json;
use super::stream_request::StreamConfigRequest;
use crate::jetstream::account::{JetStream, Unreachable};
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::{ApiAnswer, ApiCall, ApiRequest};
use crate::jetstream::stream::validate::{self, Against, invalid};
use crate::jetstream::stream::{StreamConfig, equality};

impl JetStream {
    pub(in crate::jetstream) fn stream_create(&mut self, name: &str, request: ApiRequest) {
        let config = match self.to_create(name, &request) {
            Ok(config) => config,
            Err(error) => return self.answer(ApiAnswer::failure(request, kinds::STREAM_CREATE, &error)),
        };
        // There already, just as asked for: the stream answers what it is now.
        if let Some(entry) = self.catalogue.get_mut(name) {
            return match entry.reach(self.setting.limits.max_requests) {
                Ok(port) => {
                    let endpoint =
                        Endpoint::StreamCreate { stream: request.subject.slice_ref(token(&request.subject)) };
                    port.call.send(ApiCall { endpoint, request });
                }
                Err(Unreachable::Busy) => self.dropped += 1,
                Err(Unreachable::Offline(error)) => {
                    self.answer(ApiAnswer::failure(request, kinds::STREAM_CREATE, &error));
                }
            };
        }
        self.found(config, request);
    }

    /// The configuration of a stream that may be created, or is there just so.
    fn to_create(&self, name: &str, request: &ApiRequest) -> Result<StreamConfig, ApiError> {
        let asked: StreamConfigRequest = json::request(&request.body, self.setting.limits.strict)?;
        let mut config = asked.config;
        matches_subject(name, &config)?;
        if config.sealed {
            return Err(invalid("stream configuration for create can not be sealed"));
        }
        if config.mirror_direct && config.mirror.is_none() {
            return Err(invalid("stream has no mirror but does have mirror direct"));
        }
        self.has_place_for(&config)?;
        let (limits, account) = (&*self.setting.limits, &self.setting.account_limits);
        validate::check(&mut config, &Against { limits, account, pedantic: asked.pedantic })?;
        if let Some(existing) = self.catalogue.get(name) {
            return match equality::is_same(&existing.config, &config) {
                true => Ok(config),
                false => Err(ErrCode::StreamNameExists.api()),
            };
        }
        if self.catalogue.is_taken(&config) {
            return Err(ErrCode::StreamSubjectOverlap.api());
        }
        Ok(config)
    }

    /// Whether the limits of account and server leave room for one more stream, if it is one more.
    pub(super) fn has_place_for(&self, config: &StreamConfig) -> Result<(), ApiError> {
        let (limits, account) = (&*self.setting.limits, &self.setting.account_limits);
        let others = self.catalogue.len() - usize::from(self.catalogue.get(&config.name).is_some());
        let is_full = |most: i64| most > 0 && others as u64 >= most.unsigned_abs();
        if is_full(account.max_streams) || is_full(limits.max_streams) {
            return Err(ErrCode::MaximumStreamsLimit.api());
        }
        self.catalogue.has_room(config, limits, account)?;
        if account.max_consumers > 0 && config.max_consumers > account.max_consumers {
            return Err(ErrCode::MaximumConsumersLimit.api());
        }
        Ok(())
    }
}

/// The name in the body must be the one in the subject, and no path.
pub(super) fn matches_subject(name: &str, config: &StreamConfig) -> Result<(), ApiError> {
    if config.name != name {
        return Err(ErrCode::StreamMismatch.api());
    }
    if name.contains(['/', '\\']) {
        return Err(ErrCode::StreamNameContainsPathSeparators.api());
    }
    Ok(())
}

/// The last token of a subject.
fn token(subject: &[u8]) -> &[u8] {
    subject.rsplit(|byte| *byte == b'.').next().unwrap_or_default()
}
