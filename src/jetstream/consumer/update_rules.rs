//! What an update must leave as it is (consumers reference, section 2.4).

use super::ConsumerConfig;
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::time;

/// Refuses an update that changes what cannot be changed. Whether a changed deliver subject is free to change is for
/// the consumer to say: it knows whether somebody listens.
pub fn check(old: &ConsumerConfig, new: &ConsumerConfig) -> Result<(), ApiError> {
    let changes = [
        (old.deliver_policy != new.deliver_policy, "deliver policy can not be updated"),
        (old.mem_storage != new.mem_storage, "storage type can not be updated"),
        (old.direct != new.direct, "direct can not be updated"),
        (old.sourcing != new.sourcing, "sourcing can not be updated"),
        (old.opt_start_seq != new.opt_start_seq, "start sequence can not be updated"),
        (!same_time(old, new), "start time can not be updated"),
        (old.ack_policy != new.ack_policy, "ack policy can not be updated"),
        (old.replay_policy != new.replay_policy, "replay policy can not be updated"),
        (old.idle_heartbeat != new.idle_heartbeat, "heart beats can not be updated"),
        (old.flow_control != new.flow_control, "flow control can not be updated"),
        (!old.is_push() && new.is_push(), "can not update pull consumer to push based"),
        (old.is_push() && !new.is_push(), "can not update push consumer to pull based"),
        (old.max_waiting != new.max_waiting, "max waiting can not be updated"),
    ];
    match changes.iter().find(|(changed, _)| *changed) {
        Some((_, text)) => Err(ErrCode::ConsumerCreate.text(text)),
        None => Ok(()),
    }
}

fn same_time(old: &ConsumerConfig, new: &ConsumerConfig) -> bool {
    old.opt_start_time.as_deref().map(time::parse) == new.opt_start_time.as_deref().map(time::parse)
}
