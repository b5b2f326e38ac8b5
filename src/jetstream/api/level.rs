//! The API level a request demands, in its header `Nats-Required-Api-Level`.

/// The level of the API that is spoken here.
pub const API_LEVEL: i64 = 5;

const HEADER: &[u8] = b"\r\nNats-Required-Api-Level:";

/// Whether a header block demands no more than there is. An empty value demands nothing; what is no integer is too much.
pub fn is_met(headers: &[u8]) -> bool {
    let found = headers.windows(HEADER.len()).position(|window| window == HEADER);
    let Some(at) = found else { return true };
    let rest = &headers[at + HEADER.len()..];
    let end = rest.windows(2).position(|pair| pair == b"\r\n").unwrap_or(rest.len());
    let value = rest[..end].trim_ascii();
    if value.is_empty() {
        return true;
    }
    let number = std::str::from_utf8(value).ok().and_then(|text| text.parse::<i64>().ok());
    number.is_some_and(|level| level <= API_LEVEL)
}
