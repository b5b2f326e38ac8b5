use bytes::Bytes;
use std::ops::Range;

/// A message as a stream keeps it: one shared buffer, and where its parts are. Cheap to clone.
#[derive(Clone, Debug)]
pub struct StoredMessage {
    pub seq: u64,
    /// When it was stored, in nanoseconds since 1970.
    pub timestamp: i64,
    buffer: Bytes,
    subject: Range<u32>,
    headers: Range<u32>,
    payload: Range<u32>,
}

impl StoredMessage {
    /// `None` if one of the ranges does not lie within the buffer.
    pub fn new(
        seq: u64,
        timestamp: i64,
        buffer: Bytes,
        subject: Range<u32>,
        headers: Range<u32>,
        payload: Range<u32>,
    ) -> Option<Self> {
        let within = |r: &Range<u32>| r.start <= r.end && r.end as usize <= buffer.len();
        (within(&subject) && within(&headers) && within(&payload)).then_some(Self {
            seq,
            timestamp,
            buffer,
            subject,
            headers,
            payload,
        })
    }

    pub fn subject(&self) -> &[u8] {
        self.part(&self.subject)
    }

    /// The whole header block, from `NATS/1.0` to the empty line; empty if the message has none.
    pub fn headers(&self) -> &[u8] {
        self.part(&self.headers)
    }

    pub fn payload(&self) -> &[u8] {
        self.part(&self.payload)
    }

    fn part(&self, range: &Range<u32>) -> &[u8] {
        &self.buffer[range.start as usize..range.end as usize]
    }
}
