//! Pages of `STREAM.NAMES` and `STREAM.LIST` (streams reference, section 1.3).

use super::json::{self, Decode, Kind, Member, Schema};
use crate::jetstream::error::ApiError;
use serde::Deserialize;

const MEMBERS: &[Member] = &[Member::new("offset", Kind::Int), Member::new("subject", Kind::String)];

/// What both requests may say.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PageRequest {
    offset: i64,
    /// Only streams with a subject that collides with this one.
    pub subject: String,
}

/// The body of `STREAM.NAMES`.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct NamesRequest(pub PageRequest);

/// The body of `STREAM.LIST`.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct ListRequest(pub PageRequest);

impl Decode for NamesRequest {
    const SCHEMA: &'static Schema = &Schema { name: "JSApiStreamNamesRequest", members: &[MEMBERS] };
}

impl Decode for ListRequest {
    const SCHEMA: &'static Schema = &Schema { name: "JSApiStreamListRequest", members: &[MEMBERS] };
}

impl PageRequest {
    /// Where the page begins, of `total`.
    pub fn offset(&self, total: usize) -> usize {
        usize::try_from(self.offset).unwrap_or(0).min(total)
    }
}

/// A body that is read only if it looks like JSON.
pub fn optional<T: Decode + Default>(body: &[u8], strict: bool) -> Result<T, ApiError> {
    if json::is_jsonish(body) { json::request(body, strict) } else { Ok(T::default()) }
}
