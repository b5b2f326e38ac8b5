//! What a configuration becomes where a request says nothing (streams reference, section 2.1 and 2.2).

use super::config::StreamConfig;

/// Deduplication reaches back so far unless said otherwise, in nanoseconds.
pub const DUPLICATE_WINDOW: i64 = 120 * 1_000_000_000;

/// Counts and sizes: everything below one means no limit, and is shown as -1.
pub fn limits(config: &mut StreamConfig) {
    for limit in
        [&mut config.max_consumers, &mut config.max_msgs, &mut config.max_bytes, &mut config.max_msgs_per_subject]
    {
        if *limit < 1 {
            *limit = -1;
        }
    }
    if config.max_msg_size < 1 {
        config.max_msg_size = -1;
    }
}

/// The window of a stream that was given none, if it is to have one; and whether the server's limit, or `max_age`, has
/// made it shorter than it would be.
pub fn duplicate_window(config: &StreamConfig, server_limit: Option<i64>) -> Option<(i64, Shortened)> {
    if config.duplicate_window != 0 || is_copy(config) {
        return None;
    }
    let mut window = DUPLICATE_WINDOW;
    let mut shortened = Shortened::default();
    if let Some(limit) = server_limit.filter(|limit| *limit > 0 && *limit < window) {
        window = limit;
        shortened.by_server = true;
    }
    if config.max_age > 0 && config.max_age < window {
        window = config.max_age;
        shortened.by_age = true;
    }
    Some((window, shortened))
}

/// What made a default window shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shortened {
    pub by_server: bool,
    pub by_age: bool,
}

/// A stream that neither copies others nor says its subjects takes its name for one.
pub fn subjects(config: &mut StreamConfig) {
    if config.subjects.is_empty() && !is_copy(config) {
        config.subjects.push(config.name.clone());
    }
}

/// Markers are rolled up over what they mark, and have a lifetime of their own.
pub fn delete_markers(config: &mut StreamConfig) {
    if config.subject_delete_marker_ttl > 0 {
        config.allow_msg_ttl = true;
        config.allow_rollup_hdrs = true;
        config.deny_purge = false;
    }
}

/// A schedule replaces itself by rolling up.
pub fn schedules(config: &mut StreamConfig) {
    if config.allow_msg_schedules {
        config.allow_rollup_hdrs = true;
        config.deny_purge = false;
    }
}

/// Whether it gets its messages from other streams.
fn is_copy(config: &StreamConfig) -> bool {
    config.mirror.is_some() || !config.sources.is_empty()
}
