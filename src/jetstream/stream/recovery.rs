//! A stream as it was: rebuilt from what the store found.

use super::actor::Stream;
use super::config::StreamConfig;
use super::contents::{Contents, Mark};
use super::lifetimes::Life;
use super::publish_headers::PublishHeaders;
use crate::store::RecoveredStream;

/// The configuration of a stream found in the store. One that cannot be read leaves the stream with its name alone:
/// its messages are not touched.
pub(super) fn config_of(found: &RecoveredStream) -> StreamConfig {
    serde_json::from_slice(&found.config).unwrap_or_else(|error| {
        tracing::error!(stream = %found.name, "configuration can not be read: {error}");
        StreamConfig {
            name: found.name.clone(),
            max_msgs: -1,
            max_bytes: -1,
            max_msgs_per_subject: -1,
            max_consumers: -1,
            max_msg_size: -1,
            num_replicas: 1,
            ..StreamConfig::default()
        }
    })
}

impl Stream {
    /// Rebuilds contents and message ids.
    pub(super) fn recover(&mut self, found: RecoveredStream) {
        let now = self.now();
        let last_timestamp = (found.last_timestamp != 0).then_some(found.last_timestamp);
        self.contents = Contents::standing_at(Mark { first: found.first.max(1), last: found.last, last_timestamp });
        self.lost.add(&found.lost, found.lost_bytes);
        let since = now.saturating_sub(self.config.duplicate_window);
        for entry in &found.index {
            let size = self.accounted(&entry.subject, entry.headers.len(), entry.payload_len as usize);
            self.contents.restore(entry.seq, &entry.subject, entry.timestamp, size);
            if entry.headers.is_empty() {
                self.dedupe.set_last(b"");
                continue;
            }
            let headers = PublishHeaders::parse(&entry.headers);
            self.lifetimes.add(entry.seq, Life::of(&headers, self.config.allow_msg_ttl), entry.timestamp);
            match headers.msg_id {
                Some(id) if entry.timestamp > since => self.dedupe.remember(id, entry.seq, entry.timestamp),
                Some(id) => self.dedupe.set_last(id),
                None => self.dedupe.set_last(b""),
            }
        }
        self.contents.restored();
        self.pipeline.durable_last = self.contents.last();
        if !self.dedupe.is_empty() {
            self.watch_ids();
        }
        self.consumers.reserve_ids(found.next_consumer);
        self.recovered = found.consumers;
    }
}
