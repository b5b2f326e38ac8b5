//! The API level a request demands, in its header `Nats-Required-Api-Level`.

use crate::jetstream::stream::metadata::API_LEVEL;
use crate::protocol::headers;

const HEADER: &str = "Nats-Required-Api-Level";

/// Whether a header block demands no more than there is. An empty value demands nothing; what is no integer is too much.
pub fn is_met(block: &[u8]) -> bool {
    let Some(value) = headers::get(block, HEADER) else { return true };
    let value = value.trim_ascii();
    if value.is_empty() {
        return true;
    }
    let number = std::str::from_utf8(value).ok().and_then(|text| text.parse::<i64>().ok());
    number.is_some_and(|level| level <= API_LEVEL.into())
}
