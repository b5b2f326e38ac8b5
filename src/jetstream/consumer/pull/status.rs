//! The statuses that pull requests are told (consumers reference, sections 4.2 and 4.4).

use super::PullRequest;
use crate::protocol::GoDuration;
use crate::router::Outbox;

pub const CONSUMER_DELETED: &str = "409 Consumer Deleted";
pub const SERVER_SHUTDOWN: &str = "409 Server Shutdown";
pub const REQUEST_TIMEOUT: &str = "408 Request Timeout";
pub const BATCH_COMPLETED: &str = "409 Batch Completed";
pub const EXCEEDS_MAX_BYTES: &str = "409 Message Size Exceeds MaxBytes";
pub const NO_MESSAGES: &str = "404 No Messages";
pub const REQUESTS_PENDING: &str = "408 Requests Pending";
pub const EXCEEDED_MAX_WAITING: &str = "409 Exceeded MaxWaiting";
pub const PUSH_BASED: &str = "409 Consumer is push based";
pub const REQUIRED_API_LEVEL: &str = "412 Required Api Level";
pub const PIN_MISMATCH: &str = "423 Nats-Pin-Id mismatch";
pub const WRONG_PIN: &str = "423 Nats-Wrong-Pin-Id";
pub const HEARTBEAT_TOO_LARGE: &str = "400 Bad Request - heartbeat value too large";
pub const NOT_OVERFLOW: &str = "400 Bad Request - Not a Overflow Priority consumer";
pub const NOT_PINNED: &str = "400 Bad Request - Not a Pinned Client Priority consumer";
pub const BAD_PRIORITY: &str = "400 Bad Request - Priority must be between 0 and 9";
pub const GROUP_MISSING: &str = "400 Bad Request - Priority Group missing";
pub const INVALID_GROUP: &str = "400 Bad Request - Invalid Priority Group";

pub fn bad_request(reason: &str) -> String {
    format!("400 Bad Request - {reason}")
}

pub fn exceeded_batch(limit: i64) -> String {
    format!("409 Exceeded MaxRequestBatch of {limit}")
}

pub fn exceeded_expires(limit: i64) -> String {
    format!("409 Exceeded MaxRequestExpires of {}", GoDuration(limit))
}

pub fn exceeded_bytes(limit: i64) -> String {
    format!("409 Exceeded MaxRequestMaxBytes of {limit}")
}

/// Tells a status without further headers.
pub fn plain(outbox: &mut Outbox, reply: &[u8], status: &str) {
    outbox.message(reply, b"", format!("NATS/1.0 {status}\r\n\r\n").as_bytes(), b"");
}

/// Tells a status with what the request is still waiting for.
pub fn with_rest(outbox: &mut Outbox, request: &PullRequest, status: &str) {
    let (messages, bytes) = (request.batch, request.max_bytes);
    let block =
        format!("NATS/1.0 {status}\r\nNats-Pending-Messages: {messages}\r\nNats-Pending-Bytes: {bytes}\r\n\r\n");
    outbox.message(&request.reply, b"", block.as_bytes(), b"");
}

/// The heartbeat of a waiting request and of an idle push consumer.
pub fn heartbeat(outbox: &mut Outbox, to: &[u8], last_consumer: u64, last_stream: u64, stalled: Option<&[u8]>) {
    let mut block = format!(
        "NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: {last_consumer}\r\nNats-Last-Stream: {last_stream}\r\n"
    )
    .into_bytes();
    if let Some(subject) = stalled {
        block.extend_from_slice(b"Nats-Consumer-Stalled: ");
        block.extend_from_slice(subject);
        block.extend_from_slice(b"\r\n");
    }
    block.extend_from_slice(b"\r\n");
    outbox.message(to, b"", &block, b"");
}
