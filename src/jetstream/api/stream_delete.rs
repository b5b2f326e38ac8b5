//! `$JS.API.STREAM.DELETE.<stream>`, as far as the account is concerned: name and subjects are free at once. The
//! stream answers when its end is durable.

use super::answer::kinds;
use super::endpoint::Endpoint;
use super::json;
use crate::jetstream::account::{JetStream, Standing};
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::{ApiAnswer, ApiCall, ApiRequest};
use crate::jetstream::stream::Birth;

impl JetStream {
    pub(in crate::jetstream) fn stream_delete(&mut self, name: &str, request: ApiRequest) {
        if let Err(error) = self.can_delete(name, &request) {
            return self.answer(ApiAnswer::failure(request, kinds::STREAM_DELETE, &error));
        }
        let Some(entry) = self.catalogue.remove(name) else { return };
        // Before anything else goes to the routers: whoever gets the subjects next shares them with nobody.
        self.setting.switchboard.dismiss(self.setting.stream_service(entry.id));
        let port = match entry.standing {
            Standing::Open(port) => port,
            // One that nobody can serve can still be deleted.
            Standing::Offline { recovered: Some(found), .. } => self.start(Birth::Recovered(found)),
            Standing::Offline { recovered: None, reason } => {
                let error = ErrCode::StreamOfflineReason.text(reason);
                return self.answer(ApiAnswer::failure(request, kinds::STREAM_DELETE, &error));
            }
        };
        let stream = bytes::Bytes::copy_from_slice(name.as_bytes());
        port.call.send(ApiCall { endpoint: Endpoint::StreamDelete { stream }, request });
    }

    fn can_delete(&self, name: &str, request: &ApiRequest) -> Result<(), ApiError> {
        if !json::is_empty_request(&request.body) {
            return Err(ErrCode::NotEmptyRequest.api());
        }
        let entry = self.catalogue.get(name).ok_or_else(|| ErrCode::StreamNotFound.api())?;
        match &entry.standing {
            Standing::Offline { recovered: None, reason } => Err(ErrCode::StreamOfflineReason.text(reason)),
            _ => Ok(()),
        }
    }
}
