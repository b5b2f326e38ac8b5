//! `[jetstream]`: whether there are streams, how durable they are, and how many of what.

use super::super::units;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// `[jetstream]`. Sizes are bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JetStreamSettings {
    /// Whether this server keeps streams at all.
    pub enabled: bool,
    /// Folder of everything that is kept.
    pub store_dir: PathBuf,
    /// Memory for memory streams; `None` ("auto") is three quarters of the machine's, 0 allows none.
    #[serde(with = "units::auto_size")]
    pub max_memory: Option<u64>,
    /// Disk for file streams; `None` ("auto") is three quarters of what is free, 0 allows none.
    #[serde(with = "units::auto_size")]
    pub max_file: Option<u64>,
    /// JetStream domain: a second API prefix, `$JS.<domain>.API`.
    #[serde(with = "units::optional")]
    pub domain: Option<String>,
    /// When an acknowledged message is on the disk.
    pub sync: Sync,
    /// Time between two syncs where `sync` is "interval".
    #[serde(with = "units::duration")]
    pub sync_interval: Duration,
    /// Refuse API requests with unknown fields; else they are only logged.
    pub strict: bool,
    /// API requests that may wait for one stream; what comes on top is dropped, unanswered.
    pub request_queue_limit: usize,
    /// The same for requests that only ask (stream and consumer info and lists); 0 is `request_queue_limit`.
    pub info_queue_limit: usize,
    /// Published messages that may wait for one stream's disk; 0 has no limit.
    pub max_buffered_msgs: usize,
    /// Their bytes; 0 has no limit.
    #[serde(with = "units::size")]
    pub max_buffered_size: usize,
    /// How many of what.
    pub limits: JetStreamLimits,
}

/// When acknowledged means on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sync {
    /// Before the acknowledgement leaves.
    #[default]
    Always,
    /// `sync_interval` later at the latest: a power cut loses that much, a killed process nothing.
    Interval,
}

/// `[jetstream.limits]`. 0 stands for no limit of the server's own, unless said otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JetStreamLimits {
    /// Streams of one account.
    pub max_streams: usize,
    /// Consumers of a stream that does not say how many itself; negative has no limit.
    pub max_consumers_per_stream: i64,
    /// Unacknowledged messages of one consumer.
    pub max_ack_pending: i64,
    /// Messages of one pull request.
    pub max_request_batch: usize,
    /// The longest deduplication window; zero has no limit.
    #[serde(with = "units::duration")]
    pub duplicate_window: Duration,
    /// Bytes of a snapshot to restore; 0 leaves it to `max_file`.
    #[serde(with = "units::size")]
    pub max_restore: u64,
    /// Batches of messages published together.
    pub batch: BatchLimits,
}

/// `[jetstream.limits.batch]`. Reference (streams), section 3.4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BatchLimits {
    /// Messages of one atomic batch.
    pub max_msgs: usize,
    /// Open atomic batches of one stream.
    pub max_inflight_per_stream: usize,
    /// Open atomic batches of the server.
    pub max_inflight_total: usize,
    /// Open fast-ingest batches of one stream.
    pub max_fast_per_stream: usize,
    /// Open fast-ingest batches of the server.
    pub max_fast_total: usize,
    /// A batch that hears nothing for so long is given up.
    #[serde(with = "units::duration")]
    pub timeout: Duration,
}

impl JetStreamSettings {
    /// The limit for requests that only ask.
    pub fn info_queue_limit(&self) -> usize {
        if self.info_queue_limit == 0 { self.request_queue_limit } else { self.info_queue_limit }
    }
}

impl Default for JetStreamSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            store_dir: "data".into(),
            max_memory: None,
            max_file: None,
            domain: None,
            sync: Sync::Always,
            sync_interval: Duration::from_secs(120),
            strict: true,
            request_queue_limit: 10_000,
            info_queue_limit: 0,
            max_buffered_msgs: 100_000,
            max_buffered_size: 128 * units::MIB,
            limits: JetStreamLimits::default(),
        }
    }
}

impl Default for JetStreamLimits {
    fn default() -> Self {
        Self {
            max_streams: 0,
            max_consumers_per_stream: 1000,
            max_ack_pending: 0,
            max_request_batch: 0,
            duplicate_window: Duration::ZERO,
            max_restore: 0,
            batch: BatchLimits::default(),
        }
    }
}

impl Default for BatchLimits {
    fn default() -> Self {
        Self {
            max_msgs: 1000,
            max_inflight_per_stream: 50,
            max_inflight_total: 1000,
            max_fast_per_stream: 1000,
            max_fast_total: 50_000,
            timeout: Duration::from_secs(10),
        }
    }
}
