//! `CONSUMER.INFO.<stream>.<name>` and `CONSUMER.DELETE.<stream>.<name>` (consumers reference, section 1.5).

use super::json;
use crate::jetstream::error::{ApiError, ErrCode};

/// Neither takes a body.
pub fn check(body: &[u8]) -> Result<(), ApiError> {
    match json::is_empty_request(body) {
        true => Ok(()),
        false => Err(ErrCode::NotEmptyRequest.api()),
    }
}
