//! Which changes an update may make (streams reference, section 2.4), in the order of the reference.

use super::config::{Discard, Retention, StreamConfig};
use super::validate::invalid;
use crate::jetstream::error::{ApiError, ErrCode};

/// Checks the step from one configuration to another, both with all their defaults, and makes a stream that becomes
/// sealed what a sealed one is.
pub fn check(from: &StreamConfig, to: &mut StreamConfig) -> Result<(), ApiError> {
    let work_queue = |config: &StreamConfig| config.retention == Retention::WorkQueue;
    let refused = [
        (from.storage != to.storage, "stream configuration update can not change storage type"),
        (
            work_queue(from) != work_queue(to),
            "stream configuration update can not change retention policy to/from workqueue",
        ),
        (from.sealed && !to.sealed, "stream configuration update can not unseal a sealed stream"),
        (from.deny_delete && !to.deny_delete, "stream configuration update can not cancel deny message deletes"),
        (from.deny_purge && !to.deny_purge, "stream configuration update can not cancel deny purge"),
    ];
    if let Some((_, text)) = refused.iter().find(|(broken, _)| *broken) {
        return Err(invalid(text));
    }
    // Taking the mirror away is fine: the stream goes on by itself.
    if to.mirror.is_some() && from.mirror != to.mirror {
        return Err(ErrCode::StreamMirrorNotUpdatable.api());
    }
    let refused = [
        (from.allow_msg_ttl && !to.allow_msg_ttl, "message TTL status can not be disabled"),
        (
            from.allow_msg_counter != to.allow_msg_counter,
            "stream configuration update can not change message counter setting",
        ),
        (from.allow_msg_schedules && !to.allow_msg_schedules, "message schedules can not be disabled"),
        (from.persist_mode != to.persist_mode, "stream configuration update can not change persist mode"),
    ];
    if let Some((_, text)) = refused.iter().find(|(broken, _)| *broken) {
        return Err(invalid(text));
    }
    if to.sealed {
        seal(to);
    }
    Ok(())
}

fn seal(config: &mut StreamConfig) {
    config.max_age = 0;
    config.discard = Discard::New;
    config.deny_delete = true;
    config.deny_purge = true;
    config.allow_rollup_hdrs = false;
}
