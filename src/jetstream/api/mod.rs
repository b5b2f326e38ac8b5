//! The JetStream API: one file per subject, each with what it decodes, checks, does and answers.

pub mod answer;
pub mod consumer_create;
pub mod consumer_info;
pub mod consumer_names;
pub mod consumer_pause;
pub mod consumer_reset;
pub mod consumer_unpin;
pub mod endpoint;
pub mod json;
pub mod level;
