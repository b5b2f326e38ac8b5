//! `[log]`: what is told, where, and in what form.

use super::super::units;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// `[log]`. Reference section 8.5.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// Lines as the reference writes them, or JSON objects.
    pub format: LogFormat,
    /// Tell more about connections and what the server does (DBG).
    pub debug: bool,
    /// Tell every protocol line (TRC).
    pub trace: bool,
    /// Trace the system account too; implies `trace`.
    pub trace_verbose: bool,
    /// Trace only the headers of payloads; implies `trace`.
    pub trace_headers: bool,
    /// Bytes of a payload that a trace shows; 0 shows all.
    #[serde(with = "units::size")]
    pub max_traced_msg_len: usize,
    /// Begin each line with date and time.
    pub time: bool,
    /// In UTC instead of the local time.
    pub utc: bool,
    /// Where to; standard error if not given.
    #[serde(with = "units::optional")]
    pub file: Option<PathBuf>,
    /// Bytes after which the file is set aside and a new one begun; 0 never does.
    #[serde(with = "units::size")]
    pub size_limit: u64,
    /// Files to keep, the current one included; 0 keeps all.
    pub max_files: usize,
    /// How often one and the same warning or error is told within `repeat_interval`; 0 has no limit.
    pub repeat_limit: u32,
    /// See `repeat_limit`.
    #[serde(with = "units::duration")]
    pub repeat_interval: Duration,
}

/// The form of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// `[<pid>] 2026/11/30 19:49:34.376548 [INF] text`
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl LogSettings {
    /// Whether protocol lines are told: each kind of trace implies it.
    pub fn traces(&self) -> bool {
        self.trace || self.trace_verbose || self.trace_headers
    }
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            format: LogFormat::Text,
            debug: false,
            trace: false,
            trace_verbose: false,
            trace_headers: false,
            max_traced_msg_len: 0,
            time: true,
            utc: false,
            file: None,
            size_limit: 0,
            max_files: 0,
            repeat_limit: 10,
            repeat_interval: Duration::from_secs(10),
        }
    }
}
