//! The broker: everything between settings and the last goodbye.

use crate::settings::{ConfigSource, Settings};
use std::process::ExitCode;

/// Runs a server with these settings until it is told to stop.
pub fn run(_settings: Settings, _source: ConfigSource) -> ExitCode {
    tracing::info!("Server is ready");
    ExitCode::SUCCESS
}
