/// Server-wide limits of JetStream. -1 or `None`: no limit.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of all memory streams together.
    pub max_memory: i64,
    /// Bytes of all file streams together.
    pub max_file: i64,
    pub domain: Option<String>,
    /// Unknown members of a request are errors.
    pub strict: bool,
    /// Longest duplicate window, in nanoseconds.
    pub duplicate_window: Option<i64>,
    pub max_ack_pending: Option<i64>,
    pub max_request_batch: Option<i64>,
    /// Consumers of a stream that does not say itself.
    pub max_consumers: i64,
    pub max_streams: i64,
    /// The largest message of the core, in bytes.
    pub max_payload: i64,
    /// Messages and bytes that one stream may hold between arrival and disk before publishers get 10167.
    pub max_buffered_messages: usize,
    pub max_buffered_bytes: usize,
}
