use super::config::StreamConfig;
use super::metadata;

/// Whether a CREATE asks for what is there already. Both have all their defaults; the server's own entries in the
/// metadata do not matter.
pub fn is_same(a: &StreamConfig, b: &StreamConfig) -> bool {
    let bare = |config: &StreamConfig| StreamConfig { metadata: Default::default(), ..config.clone() };
    metadata::same(&a.metadata, &b.metadata) && bare(a) == bare(b)
}
