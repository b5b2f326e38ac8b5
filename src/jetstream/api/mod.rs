//! The JetStream API: one file per subject, each with what it decodes, checks, does and answers.

pub mod account_info;
pub mod answer;
pub mod consumer_create;
pub mod consumer_info;
pub mod consumer_names;
pub mod consumer_pause;
pub mod consumer_reset;
pub mod consumer_unpin;
pub mod direct_get;
pub mod endpoint;
pub mod json;
pub mod level;
pub mod missing;
pub mod msg_delete;
pub mod msg_get;
pub mod paging;
pub mod stream_create;
pub mod stream_delete;
pub mod stream_info;
pub mod stream_list;
pub mod stream_names;
pub mod stream_purge;
pub mod stream_request;
pub mod stream_restore;
pub mod stream_update;
