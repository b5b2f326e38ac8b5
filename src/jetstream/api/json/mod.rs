//! Request bodies, decoded as strictly as the reference decodes them (streams reference, section 0.1), with its texts.
//!
//! What a body may hold is said by a [`Schema`]: a table of members beside the struct that they fill. First the
//! `syntax` of a whole document is checked, then it is read member by member; nothing that the schema does not know
//! is ever built.

mod read;
mod schema;
mod syntax;
mod text;

#[cfg(test)]
mod tests;

pub use schema::{Choice, Decode, Kind, Member, Refusal, Schema};

use super::super::error::{ApiError, ErrCode};
use read::Reader;
use serde_json::Map;
use syntax::Fault;

/// Documents nested deeper than this are refused.
pub const MAX_DEPTH: usize = 128;

/// Decodes a body: a sequence of documents, merged into one struct. With `strict`, members that the schema does not
/// know are errors.
///
/// The error is the text that follows `invalid JSON: `.
pub fn decode<T: Decode>(body: &[u8], strict: bool) -> Result<T, String> {
    let mut members = Map::new();
    let mut at = syntax::skip_blanks(body, 0);
    while at < body.len() {
        let end = syntax::document(body, at).map_err(|fault| match fault {
            Fault::Ended => "unexpected EOF".to_string(),
            Fault::Wrong(text) => text,
        })?;
        Reader::new(T::SCHEMA, strict).document(&body[at..end], &mut members)?;
        at = syntax::skip_blanks(body, end);
    }
    build(members)
}

/// Decodes a body that holds one document; members that the schema does not know are passed over. For the requests
/// that the reference decodes so: `MSG.NEXT`, `UNPIN`, `RESET`, `DIRECT.GET`.
///
/// The error is the text that follows `invalid JSON: `.
pub fn decode_lenient<T: Decode>(body: &[u8]) -> Result<T, String> {
    const ENDED: &str = "unexpected end of JSON input";
    let at = syntax::skip_blanks(body, 0);
    let end = syntax::document(body, at).map_err(|fault| match fault {
        Fault::Ended => ENDED.to_string(),
        Fault::Wrong(text) => text,
    })?;
    let rest = syntax::skip_blanks(body, end);
    if rest < body.len() {
        return Err(syntax::unexpected(body, rest, "after top-level value"));
    }
    let mut members = Map::new();
    Reader::new(T::SCHEMA, false).document(&body[at..end], &mut members)?;
    build(members)
}

/// [`decode`], with the error as answers carry it.
pub fn request<T: Decode>(body: &[u8], strict: bool) -> Result<T, ApiError> {
    decode(body, strict).map_err(|text| ErrCode::InvalidJson.text(text))
}

/// Whether the first byte that is not blank opens an object or an array: endpoints with an optional body read it then,
/// and take any other body for none.
pub fn is_jsonish(body: &[u8]) -> bool {
    matches!(body.get(syntax::skip_blanks(body, 0)), Some(b'{' | b'['))
}

/// Whether a request says nothing: no byte at all, or an object without members.
pub fn is_empty_request(body: &[u8]) -> bool {
    let open = syntax::skip_blanks(body, 0);
    if body.is_empty() {
        return true;
    }
    let close = syntax::skip_blanks(body, open + 1);
    body.get(open) == Some(&b'{')
        && body.get(close) == Some(&b'}')
        && syntax::skip_blanks(body, close + 1) >= body.len()
}

fn build<T: Decode>(members: Map<String, serde_json::Value>) -> Result<T, String> {
    // The reader let nothing through that does not fit: what fails here is a schema that does not fit its struct.
    serde_json::from_value(serde_json::Value::Object(members)).map_err(|error| error.to_string())
}
