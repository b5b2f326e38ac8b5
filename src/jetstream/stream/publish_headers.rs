//! The headers of a publish that mean something to the stream (streams reference 3.3).

use memchr::{memchr, memmem};

/// What a header block asks for. Each is the first header of its exact name; `None` also where the value is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublishHeaders<'a> {
    pub msg_id: Option<&'a [u8]>,
    pub expected_stream: Option<&'a [u8]>,
    pub expected_last_seq: Option<&'a [u8]>,
    pub expected_last_subject_seq: Option<&'a [u8]>,
    pub expected_last_subject: Option<&'a [u8]>,
    pub expected_last_msg_id: Option<&'a [u8]>,
    pub rollup: Option<&'a [u8]>,
    pub ttl: Option<&'a [u8]>,
    pub increment: Option<&'a [u8]>,
    pub schedule: Option<&'a [u8]>,
    pub scheduler: Option<&'a [u8]>,
    pub schedule_next: Option<&'a [u8]>,
    pub stream_source: Option<&'a [u8]>,
    pub marker_reason: Option<&'a [u8]>,
    pub kv_operation: Option<&'a [u8]>,
    pub batch_id: Option<&'a [u8]>,
    /// Put there by the core for a service import: not stored.
    pub has_request_info: bool,
}

/// Which of the fields above have been seen; an empty first header hides a later one.
type Seen = u32;

impl<'a> PublishHeaders<'a> {
    /// Reads a block in one pass, touching only lines that begin like one of ours.
    pub fn parse(block: &'a [u8]) -> Self {
        let mut headers = Self::default();
        let mut seen: Seen = 0;
        let Some(end) = memmem::find(block, b"\r\n") else { return headers };
        let mut rest = &block[end + 2..];
        while !rest.is_empty() {
            let end = memmem::find(rest, b"\r\n").unwrap_or(rest.len());
            let line = &rest[..end];
            if line.is_empty() {
                break;
            }
            if line.starts_with(b"Nats-") || line.starts_with(b"KV-") {
                headers.line(line, &mut seen);
            }
            rest = rest.get(end + 2..).unwrap_or_default();
        }
        headers
    }

    fn line(&mut self, line: &'a [u8], seen: &mut Seen) {
        let Some(colon) = memchr(b':', line) else { return };
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        let blanks = value.iter().take_while(|byte| **byte == b' ').count();
        let value = &value[blanks..];
        let (bit, field) = match name {
            b"Nats-Msg-Id" => (0, &mut self.msg_id),
            b"Nats-Expected-Stream" => (1, &mut self.expected_stream),
            b"Nats-Expected-Last-Sequence" => (2, &mut self.expected_last_seq),
            b"Nats-Expected-Last-Subject-Sequence" => (3, &mut self.expected_last_subject_seq),
            b"Nats-Expected-Last-Subject-Sequence-Subject" => (4, &mut self.expected_last_subject),
            b"Nats-Expected-Last-Msg-Id" => (5, &mut self.expected_last_msg_id),
            b"Nats-Rollup" => (6, &mut self.rollup),
            b"Nats-TTL" => (7, &mut self.ttl),
            b"Nats-Incr" => (8, &mut self.increment),
            b"Nats-Schedule" => (9, &mut self.schedule),
            b"Nats-Scheduler" => (10, &mut self.scheduler),
            b"Nats-Schedule-Next" => (11, &mut self.schedule_next),
            b"Nats-Stream-Source" => (12, &mut self.stream_source),
            b"Nats-Marker-Reason" => (13, &mut self.marker_reason),
            b"KV-Operation" => (14, &mut self.kv_operation),
            b"Nats-Batch-Id" => (15, &mut self.batch_id),
            b"Nats-Request-Info" => {
                self.has_request_info = true;
                return;
            }
            _ => return,
        };
        let first = *seen & (1 << bit) == 0;
        *seen |= 1 << bit;
        if first && !value.is_empty() {
            *field = Some(value);
        }
    }
}

/// A sequence as a header gives it; what is no number is one that never matches.
pub fn sequence(value: &[u8]) -> u64 {
    let digits = std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|text| text.parse().ok()).unwrap_or(u64::MAX)
}

/// Whether a counter's increment is one: decimal digits with an optional sign, leading blanks allowed.
pub fn is_increment(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"-").or_else(|| value.strip_prefix(b"+")).unwrap_or(value);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}
