//! Requests about a stream that is not there. What is wrong with their bodies is said first, as by a stream that is.

use super::answer::AnswerKind;
use super::consumer_create;
use super::endpoint::Endpoint;
use super::json::{self, Decode, Schema};
use crate::jetstream::account::JetStream;
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::{ApiAnswer, ApiCall};
use serde::Deserialize;

/// Any document.
#[derive(Debug, Default, Deserialize)]
struct Anything {}

impl Decode for Anything {
    const SCHEMA: &'static Schema = &Schema { name: "Anything", members: &[] };
}

impl JetStream {
    pub(in crate::jetstream) fn without_stream(&mut self, call: ApiCall) {
        let error = match &call.endpoint {
            // Consumers listen to these themselves in the reference: nobody there, no answer.
            Endpoint::ConsumerReset { .. } => return,
            endpoint => refusal(endpoint, &call.request.body, self.setting.limits.strict),
        };
        self.answer(ApiAnswer::failure(call.request, AnswerKind::of(&call.endpoint), &error));
    }
}

fn refusal(endpoint: &Endpoint, body: &[u8], strict: bool) -> ApiError {
    body_fault(endpoint, body, strict).err().unwrap_or_else(|| ErrCode::StreamNotFound.api())
}

fn body_fault(endpoint: &Endpoint, body: &[u8], strict: bool) -> Result<(), ApiError> {
    use Endpoint::*;
    match endpoint {
        ConsumerInfo { .. } | ConsumerDelete { .. } if !json::is_empty_request(body) => {
            Err(ErrCode::NotEmptyRequest.api())
        }
        MessageGet { .. } | MessageDelete { .. } | StreamSnapshot { .. } if json::is_empty_request(body) => {
            Err(ErrCode::BadRequest.api())
        }
        ConsumerCreate { .. } | ConsumerDurableCreate { .. } => {
            consumer_create::check_names(endpoint, consumer_create::decode(body, strict)?).map(drop)
        }
        MessageGet { .. } | MessageDelete { .. } | StreamSnapshot { .. } => {
            json::request::<Anything>(body, false).map(drop)
        }
        _ if json::is_jsonish(body) => json::request::<Anything>(body, false).map(drop),
        _ => Ok(()),
    }
}
