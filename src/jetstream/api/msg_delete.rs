//! `STREAM.MSG.DELETE.<stream>` (streams reference 1.9).

use super::answer::{AnswerKind, Success, kinds};
use super::json::{self, Decode, Kind, Member, Schema};
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::ApiRequest;
use crate::jetstream::stream::actor::Stream;
use crate::jetstream::stream::contents::Cause;
use serde::Deserialize;

const KIND: AnswerKind = kinds::MESSAGE_DELETE;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DeleteRequest {
    seq: u64,
    /// Bytes are not overwritten in place here, so that both ways are one: the message is gone from memory at once,
    /// and from the disk with the part that holds it.
    #[allow(dead_code)]
    no_erase: bool,
}

impl Decode for DeleteRequest {
    const SCHEMA: &'static Schema = &Schema {
        name: "JSApiMsgDeleteRequest",
        members: &[&[Member::new("seq", Kind::Uint64), Member::new("no_erase", Kind::Bool)]],
    };
}

impl Stream {
    pub(in crate::jetstream) fn delete_message(&mut self, request: ApiRequest) {
        match self.deletable(&request) {
            Ok(seq) => {
                self.remove(seq, Cause::Gone);
                let body = KIND.success(&Success::YES);
                self.answer_with(request, KIND, body, true, |text| ErrCode::StreamMessageDeleteFailed.text(text));
            }
            Err(error) => self.refuse(request, KIND, &error),
        }
    }

    fn deletable(&self, request: &ApiRequest) -> Result<u64, ApiError> {
        if json::is_empty_request(&request.body) {
            return Err(ErrCode::BadRequest.api());
        }
        let DeleteRequest { seq, .. } = json::request(&request.body, self.setting.limits.strict)?;
        let failed = |text| Err(ErrCode::StreamMessageDeleteFailed.text(text));
        if self.config.sealed {
            return Err(ErrCode::StreamSealed.api());
        }
        if self.config.deny_delete {
            return failed("message delete not permitted");
        }
        if self.contents.index.contains(seq) {
            return Ok(seq);
        }
        if self.is_file() && (seq == 0 || seq < self.contents.first()) {
            return failed("no message found");
        }
        if self.is_file() && seq > self.contents.last() {
            return failed("stream store EOF");
        }
        Err(ErrCode::SequenceNotFound.text(seq))
    }
}
