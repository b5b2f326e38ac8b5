//! Publish acknowledgements (streams reference 3.1).

use crate::jetstream::error::ApiError;
use crate::router::Outbox;

/// The header block that goes with `too many requests`.
pub const TOO_MANY: &[u8] = b"NATS/1.0 429 Too Many Requests\r\n\r\n";

/// Writes the acks of one stream; what all of them have in common is written once.
#[derive(Debug)]
pub struct AckWriter {
    /// `{"stream":"ORDERS","domain":"hub","seq":`
    stored: Vec<u8>,
    /// `,"stream":"ORDERS","seq":0}`
    refused: Vec<u8>,
    scratch: Vec<u8>,
}

impl AckWriter {
    pub fn new(stream: &str, domain: Option<&str>) -> Self {
        let stream = serde_json::Value::from(stream);
        let domain = domain.map(|domain| format!(r#""domain":{},"#, serde_json::Value::from(domain)));
        let stored = format!(r#"{{"stream":{stream},{}"seq":"#, domain.unwrap_or_default()).into_bytes();
        let refused = format!(r#","stream":{stream},"seq":0}}"#).into_bytes();
        Self { stored, refused, scratch: Vec::new() }
    }

    pub fn stored(&mut self, to: &[u8], seq: u64, out: &mut Outbox) {
        self.number(seq);
        self.scratch.push(b'}');
        out.message(to, b"", b"", &self.scratch);
    }

    pub fn duplicate(&mut self, to: &[u8], seq: u64, out: &mut Outbox) {
        self.number(seq);
        self.scratch.extend_from_slice(br#","duplicate": true}"#);
        out.message(to, b"", b"", &self.scratch);
    }

    /// `headers` is a block or empty.
    pub fn refused(&mut self, to: &[u8], error: &ApiError, headers: &[u8], out: &mut Outbox) {
        self.scratch.clear();
        self.scratch.extend_from_slice(br#"{"error":"#);
        serde_json::to_writer(&mut self.scratch, error).expect("an error is plain data, and a Vec takes it");
        self.scratch.extend_from_slice(&self.refused);
        out.message(to, b"", headers, &self.scratch);
    }

    fn number(&mut self, seq: u64) {
        self.scratch.clear();
        self.scratch.extend_from_slice(&self.stored);
        self.scratch.extend_from_slice(itoa::Buffer::new().format(seq).as_bytes());
    }
}
