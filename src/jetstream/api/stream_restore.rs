//! `$JS.API.STREAM.RESTORE.<stream>` (streams reference, section 1.7): what is wrong with a request is said; taking in
//! an archive is not built yet, and refused.

use super::answer::kinds;
use super::json::{self, Decode, Kind, Member, Schema};
use super::stream_create::matches_subject;
use crate::jetstream::account::JetStream;
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::{ApiAnswer, ApiRequest};
use crate::jetstream::stream::validate::{self, Against};
use crate::jetstream::stream::{StreamConfig, schema};
use serde::Deserialize;

/// The body: the configuration, and the state when the archive was made, which is only for people.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RestoreRequest {
    config: StreamConfig,
}

impl Decode for RestoreRequest {
    const SCHEMA: &'static Schema = &Schema {
        name: "JSApiStreamRestoreRequest",
        members: &[&[Member::new("config", Kind::Object(&schema::CONFIG)), Member::new("state", Kind::Ignored)]],
    };
}

impl JetStream {
    pub(in crate::jetstream) fn stream_restore(&mut self, name: &str, request: ApiRequest) {
        let error = match self.to_restore(name, &request) {
            Ok(_) => ErrCode::StreamRestore.text("not supported by this server yet"),
            Err(error) => error,
        };
        self.answer(ApiAnswer::failure(request, kinds::STREAM_RESTORE, &error));
    }

    /// The configuration of a stream that may be restored. Subjects that others have are found at the end only.
    fn to_restore(&self, name: &str, request: &ApiRequest) -> Result<StreamConfig, ApiError> {
        if json::is_empty_request(&request.body) {
            return Err(ErrCode::BadRequest.api());
        }
        let asked: RestoreRequest = json::request(&request.body, self.setting.limits.strict)?;
        let mut config = asked.config;
        if config.name.is_empty() {
            config.name = name.to_string();
        }
        matches_subject(name, &config)?;
        let (limits, account) = (&*self.setting.limits, &self.setting.account_limits);
        validate::check(&mut config, &Against { limits, account, pedantic: false })?;
        if self.catalogue.get(name).is_some() {
            return Err(ErrCode::StreamNameExistsRestoreFailed.api());
        }
        self.has_place_for(&config)?;
        Ok(config)
    }
}
