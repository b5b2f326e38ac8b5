//! `CONSUMER.UNPIN.<stream>.<name>` (consumers reference, section 1.7).

use super::json::{self, Decode, Kind, Member, Schema};
use crate::jetstream::consumer::validate::is_valid_group;
use crate::jetstream::error::{ApiError, ErrCode};
use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(default)]
struct UnpinRequest {
    group: String,
}

impl Decode for UnpinRequest {
    const SCHEMA: &'static Schema =
        &Schema { name: "JSApiConsumerUnpinRequest", members: &[&[Member::new("group", Kind::String)]] };
}

/// The group to unpin: named, and well-formed.
pub fn decode(body: &[u8]) -> Result<String, ApiError> {
    let request: UnpinRequest = json::decode_lenient(body).map_err(|text| ErrCode::InvalidJson.text(text))?;
    match request.group {
        group if group.is_empty() => Err(ErrCode::InvalidJson.text("consumer group not specified")),
        group if !is_valid_group(&group) => Err(ErrCode::ConsumerInvalidGroupName.api()),
        group => Ok(group),
    }
}
