use super::body::PullBody;
use crate::router::messages::RouterId;
use bytes::Bytes;

/// A pull request that waits for messages.
#[derive(Clone, Debug)]
pub struct PullRequest {
    /// Unique within the consumer.
    pub id: u64,
    /// The replica that brought it and takes what is sent to it.
    pub via: RouterId,
    pub reply: Bytes,
    /// Messages still wanted, as sent: 0 and less ask for one.
    pub batch: i64,
    /// Bytes still wanted, as sent; meaningful if `limits_bytes`.
    pub max_bytes: i64,
    pub limits_bytes: bool,
    /// When it expires, in ns since 1970.
    pub expires: Option<i64>,
    pub no_wait: bool,
    /// Nanoseconds between heartbeats; 0 for none.
    pub heartbeat: i64,
    /// When the next heartbeat is due, if it wants any.
    pub next_heartbeat: Option<i64>,
    /// Messages it got.
    pub delivered: u64,
    pub group: String,
    pub min_pending: i64,
    pub min_ack_pending: i64,
    pub pin: String,
    pub priority: i64,
    /// When somebody was last known to listen on `reply`.
    pub heard: i64,
}

impl PullRequest {
    pub fn new(id: u64, via: RouterId, reply: &[u8], body: PullBody, now: i64) -> Self {
        let heartbeat = body.idle_heartbeat.max(0);
        Self {
            id,
            via,
            reply: Bytes::copy_from_slice(reply),
            batch: body.batch,
            max_bytes: body.max_bytes,
            limits_bytes: body.max_bytes > 0,
            expires: (body.expires != 0).then(|| now.saturating_add(body.expires)),
            no_wait: body.no_wait,
            heartbeat,
            next_heartbeat: (heartbeat > 0).then(|| now.saturating_add(heartbeat)),
            delivered: 0,
            group: body.group,
            min_pending: body.min_pending,
            min_ack_pending: body.min_ack_pending,
            pin: body.id,
            priority: body.priority,
            heard: now,
        }
    }

    pub fn is_expired(&self, now: i64) -> bool {
        self.expires.is_some_and(|at| at <= now)
    }

    /// The next time something is to be done about it.
    pub fn due(&self) -> Option<i64> {
        self.expires.into_iter().chain(self.next_heartbeat).min()
    }

    /// At the end of what is available: whether it ends now.
    pub fn ends_without_more(&self) -> bool {
        self.no_wait && (self.expires.is_none() || self.delivered > 0)
    }

    /// It got a message of so many bytes.
    pub fn got(&mut self, bytes: usize, now: i64) {
        self.batch -= 1;
        self.delivered += 1;
        if self.limits_bytes {
            self.max_bytes -= bytes as i64;
        }
        self.next_heartbeat = (self.heartbeat > 0).then(|| now.saturating_add(self.heartbeat));
    }

    /// It has all it asked for.
    pub fn is_fulfilled(&self) -> bool {
        self.batch <= 0 || (self.limits_bytes && self.max_bytes <= 0)
    }
}
