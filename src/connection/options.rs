use crate::account::AccountId;
use crate::auth::Users;
use crate::protocol::{LONGEST_CONTROL_LINE, ServerInfo};
use crate::settings::Settings;
use std::time::Duration;

/// What all connections of a listener keep to. Shared, never changed: a reload hands out another.
#[derive(Clone, Debug)]
pub struct Options {
    /// What INFO says to everybody; the connection adds what is its own.
    pub info: ServerInfo,
    pub users: Users,
    /// The account that clients land in.
    pub account: AccountId,
    pub account_name: String,
    /// Bytes of headers and payload; as in the settings, -1 has no limit and other negative numbers refuse everything.
    pub max_payload: i64,
    pub max_control_line: usize,
    pub max_pending: usize,
    /// 0 has no limit.
    pub max_subscriptions: usize,
    /// 0 has no limit.
    pub max_sub_tokens: usize,
    pub ping_interval: Duration,
    pub ping_max: u32,
    pub write_deadline: Duration,
    /// How long a client may take to say who it is.
    pub auth_timeout: Duration,
    pub read_buffer: usize,
    pub read_buffer_max: usize,
    pub drained_every: usize,
}

impl Options {
    /// From settings; `info` says who this server is, `users` who may come in. Limits that INFO names are set in it.
    pub fn new(settings: &Settings, mut info: ServerInfo, users: Users, auth_timeout: Duration) -> Self {
        let (server, network) = (&settings.server, &settings.network);
        let stall = crate::router::Options::from(settings);
        info.headers = !server.no_header_support;
        info.max_payload = server.max_payload;
        info.auth_required = users.is_required();
        Self {
            info,
            users,
            account: AccountId::GLOBAL,
            account_name: "$G".into(),
            max_payload: server.max_payload,
            max_control_line: server.max_control_line.min(LONGEST_CONTROL_LINE),
            max_pending: server.max_pending,
            max_subscriptions: server.max_subscriptions,
            max_sub_tokens: server.max_sub_tokens,
            ping_interval: server.ping_interval,
            ping_max: server.ping_max,
            write_deadline: server.write_deadline,
            auth_timeout,
            read_buffer: network.read_buffer.max(512),
            read_buffer_max: network.read_buffer_max.max(network.read_buffer),
            // Reported often enough that what is not yet reported never keeps publishers waiting.
            drained_every: network.drained_every.min(stall.stall_below / 2).max(1),
        }
    }

    /// The largest message there may be; negative if there may be none.
    pub(super) fn payload_limit(&self) -> i64 {
        if self.max_payload == -1 { i64::MAX } else { self.max_payload }
    }
}
