//! `CONSUMER.PAUSE.<stream>.<name>` (consumers reference, section 1.6).

use super::json::{self, Decode, Kind, Member, Schema};
use crate::jetstream::error::ApiError;
use crate::jetstream::time;
use serde::{Deserialize, Serialize};

#[derive(Default, Deserialize)]
#[serde(default)]
struct PauseRequest {
    pause_until: Option<String>,
}

impl Decode for PauseRequest {
    const SCHEMA: &'static Schema =
        &Schema { name: "JSApiConsumerPauseRequest", members: &[&[Member::new("pause_until", Kind::Time)]] };
}

/// Until when to pause, in ns since 1970; `None` resumes. A body that is no JSON counts as none.
pub fn decode(body: &[u8], strict: bool) -> Result<Option<i64>, ApiError> {
    if !json::is_jsonish(body) {
        return Ok(None);
    }
    let request: PauseRequest = json::request(body, strict)?;
    let until = request.pause_until.as_deref().and_then(|text| time::parse(text).ok());
    Ok(until.filter(|&until| until != time::NEVER))
}

/// The members of the answer.
#[derive(Debug, Serialize)]
pub struct Answer {
    paused: bool,
    pause_until: String,
    #[serde(skip_serializing_if = "is_zero")]
    pause_remaining: i64,
}

impl Answer {
    /// `until` as stored, in ns since 1970.
    pub fn new(until: Option<i64>, now: i64) -> Self {
        let remaining = until.map_or(0, |until| until.saturating_sub(now).max(0));
        let pause_until = time::rfc3339(until.unwrap_or(time::NEVER));
        Self { paused: remaining > 0, pause_until, pause_remaining: remaining }
    }
}

fn is_zero(n: &i64) -> bool {
    *n == 0
}
