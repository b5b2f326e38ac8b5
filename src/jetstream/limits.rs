/// Server-wide limits of JetStream. -1 or `None`: no limit.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of all memory streams together.
    pub max_memory: i64,
    /// Bytes of all file streams together.
    pub max_file: i64,
    pub domain: Option<String>,
    /// Deliveries name domain and account in their replies, so that these can cross accounts (the flag
    /// `js_ack_fc_v2`; consumers reference, section 3.1).
    pub long_ack_subjects: bool,
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
    /// API requests that may wait for one stream; what comes on top is dropped.
    pub max_requests: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_memory: -1,
            max_file: -1,
            domain: None,
            long_ack_subjects: false,
            strict: true,
            duplicate_window: None,
            max_ack_pending: None,
            max_request_batch: None,
            max_consumers: -1,
            max_streams: -1,
            max_payload: 1 << 20,
            max_buffered_messages: 10_000,
            max_buffered_bytes: 128 << 20,
            max_requests: 10_000,
        }
    }
}

/// What one account may use. -1: no limit. In the order of the account's info (streams reference, section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AccountLimits {
    /// Whether the account has JetStream; one that has not is told so on every request.
    #[serde(skip)]
    pub enabled: bool,
    /// Bytes of its memory streams together.
    pub max_memory: i64,
    /// Bytes of its file streams together.
    pub max_storage: i64,
    pub max_streams: i64,
    /// Consumers of one stream.
    pub max_consumers: i64,
    pub max_ack_pending: i64,
    /// The largest `max_bytes` of a memory stream.
    pub memory_max_stream_bytes: i64,
    /// The largest `max_bytes` of a file stream.
    pub storage_max_stream_bytes: i64,
    /// A stream must say its `max_bytes`.
    pub max_bytes_required: bool,
}

impl Default for AccountLimits {
    fn default() -> Self {
        Self {
            enabled: true,
            max_memory: -1,
            max_storage: -1,
            max_streams: -1,
            max_consumers: -1,
            max_ack_pending: -1,
            memory_max_stream_bytes: -1,
            storage_max_stream_bytes: -1,
            max_bytes_required: false,
        }
    }
}
