//! Whether a create request asks for the consumer that is there.

use super::ConsumerConfig;

/// Whether two configurations with their defaults are the same but for the server's own metadata and the pause, which
/// a request cannot change.
pub fn is_same(stored: &ConsumerConfig, wanted: &ConsumerConfig) -> bool {
    comparable(stored) == comparable(wanted)
}

fn comparable(config: &ConsumerConfig) -> ConsumerConfig {
    let mut config = config.clone();
    config.metadata.retain(|key, _| !key.starts_with("_nats."));
    config.pause_until = None;
    config
}
