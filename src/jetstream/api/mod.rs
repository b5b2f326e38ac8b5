//! The JetStream API: one file per subject, each with what it decodes, checks, does and answers.

pub mod answer;
pub mod endpoint;
pub mod json;
