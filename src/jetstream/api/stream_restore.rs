//! `$JS.API.STREAM.RESTORE.<stream>`: refused until it is built.

use super::answer::kinds;
use super::json;
use crate::jetstream::account::JetStream;
use crate::jetstream::error::ErrCode;
use crate::jetstream::messages::{ApiAnswer, ApiRequest};

impl JetStream {
    pub(in crate::jetstream) fn stream_restore(&mut self, request: ApiRequest) {
        let error = match json::is_empty_request(&request.body) {
            true => ErrCode::BadRequest.api(),
            false => ErrCode::StreamRestore.text("not supported by this server yet"),
        };
        self.answer(ApiAnswer::failure(request, kinds::STREAM_RESTORE, &error));
    }
}
