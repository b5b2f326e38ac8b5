use crate::jetstream::api::json::{self, Decode, Kind, Member, Schema};
use serde::Deserialize;

/// What a pull request says (consumers reference, section 4.1). Times in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PullBody {
    pub batch: i64,
    pub expires: i64,
    pub no_wait: bool,
    pub max_bytes: i64,
    pub idle_heartbeat: i64,
    pub group: String,
    pub min_pending: i64,
    pub min_ack_pending: i64,
    /// The pin of a pinned client.
    pub id: String,
    pub priority: i64,
    /// It was JSON: only then is it held to the rules of priority groups.
    #[serde(skip)]
    pub is_json: bool,
}

impl PullBody {
    /// Reads a body: nothing, a number, or JSON; any other text asks for one message. The error is what a client is
    /// told after `Bad Request - `.
    pub fn parse(body: &[u8]) -> Result<Self, String> {
        let body = body.trim_ascii();
        if body.first() == Some(&b'{') {
            let mut body: Self = json::decode_lenient(body)?;
            body.is_json = true;
            return Ok(body);
        }
        let number = std::str::from_utf8(body).ok().and_then(|text| text.parse::<i64>().ok());
        Ok(Self { batch: number.unwrap_or(1), ..Self::default() })
    }
}

impl Decode for PullBody {
    const SCHEMA: &'static Schema = &Schema {
        name: "JSApiConsumerGetNextRequest",
        members: &[&[
            Member::new("batch", Kind::Int),
            Member::new("expires", Kind::Duration),
            Member::new("no_wait", Kind::Bool),
            Member::new("max_bytes", Kind::Int),
            Member::new("idle_heartbeat", Kind::Duration),
            Member::new("group", Kind::String),
            Member::new("min_pending", Kind::Int64),
            Member::new("min_ack_pending", Kind::Int64),
            Member::new("id", Kind::String),
            Member::new("priority", Kind::Int),
        ]],
    };
}
