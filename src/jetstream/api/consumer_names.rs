//! `CONSUMER.NAMES.<stream>` and `CONSUMER.LIST.<stream>` (consumers reference, section 1.4).

use super::json::{self, Decode, Kind, Member, Schema};
use crate::jetstream::error::ApiError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Names in one answer.
pub const NAMES_LIMIT: usize = 1024;

/// Infos in one answer.
pub const LIST_LIMIT: usize = 256;

#[derive(Default, Deserialize)]
#[serde(default)]
struct PageRequest {
    offset: i64,
}

impl Decode for PageRequest {
    const SCHEMA: &'static Schema =
        &Schema { name: "JSApiConsumersRequest", members: &[&[Member::new("offset", Kind::Int)]] };
}

/// The offset asked for; a body that is no JSON asks for none, and a negative one counts as none.
pub fn decode(body: &[u8], strict: bool) -> Result<usize, ApiError> {
    if !json::is_jsonish(body) {
        return Ok(0);
    }
    let request: PageRequest = json::request(body, strict)?;
    Ok(usize::try_from(request.offset).unwrap_or(0))
}

/// The members of an answer: names, or infos.
#[derive(Debug, Serialize)]
pub struct Page<T> {
    total: usize,
    offset: usize,
    limit: usize,
    consumers: Vec<T>,
    /// Consumers that need a newer server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub offline: BTreeMap<String, String>,
}

impl<T> Page<T> {
    /// `consumers`: those from `offset` on, at most `limit`; `total`: all there are.
    pub fn new(total: usize, offset: usize, limit: usize, consumers: Vec<T>) -> Self {
        let offset = offset.min(total);
        Self { total, offset, limit, consumers, missing: Vec::new(), offline: BTreeMap::new() }
    }
}

/// What of a sorted list is on the page that begins at `offset`.
pub fn page<T>(sorted: &[T], offset: usize, limit: usize) -> &[T] {
    let from = offset.min(sorted.len());
    &sorted[from..(from + limit).min(sorted.len())]
}
