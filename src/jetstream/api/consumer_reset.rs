//! `CONSUMER.RESET.<stream>.<name>` (consumers reference, section 1.8).

use super::json::{self, Decode, Kind, Member, Schema};
use crate::jetstream::error::{ApiError, ErrCode};
use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(default)]
struct ResetRequest {
    seq: u64,
}

impl Decode for ResetRequest {
    const SCHEMA: &'static Schema =
        &Schema { name: "JSApiConsumerResetRequest", members: &[&[Member::new("seq", Kind::Uint64)]] };
}

/// Where to begin anew; 0: after the ack floor.
pub fn decode(body: &[u8]) -> Result<u64, ApiError> {
    if json::is_empty_request(body) {
        return Ok(0);
    }
    let request: ResetRequest = json::decode_lenient(body).map_err(|text| ErrCode::InvalidJson.text(text))?;
    Ok(request.seq)
}
