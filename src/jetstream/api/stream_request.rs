//! The body of `STREAM.CREATE` and `STREAM.UPDATE`: a configuration, and `pedantic`.

use super::json::{Decode, Kind, Member, Schema};
use crate::jetstream::stream::{StreamConfig, schema};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct StreamConfigRequest {
    #[serde(flatten)]
    pub config: StreamConfig,
    /// Refuse what would have to be adjusted.
    pub pedantic: bool,
}

impl Decode for StreamConfigRequest {
    const SCHEMA: &'static Schema =
        &Schema { name: "StreamConfigRequest", members: &[schema::MEMBERS, &[Member::new("pedantic", Kind::Bool)]] };
}
