//! The log: what the house tells through `tracing`, in the reference's lines or as JSON. Reference section 8.5.
//!
//! The log is the one thing that every thread writes to without a mailbox: a line must get out also when the actors
//! do not. Behind it stands a single `Sink` with a lock of its own, taken for one write.

mod banner;
mod file;
mod line;
mod repeats;
mod sink;
#[cfg(test)]
mod tests;

pub use banner::{PROTOCOL_VERSION, banner, jetstream_banner};
pub use line::FATAL;

use crate::settings::LogSettings;
use sink::Sink;
use std::io;
use std::sync::{Arc, OnceLock};
use tracing_subscriber::layer::SubscriberExt;

/// The sink of this process. A program that embeds a broker and never calls [`start`] has none.
static SINK: OnceLock<Arc<Sink>> = OnceLock::new();

/// Tells what makes the server end, as `[FTL]`; takes what `tracing::error!` takes.
#[macro_export]
macro_rules! fatal {
    ($($arg:tt)*) => { ::tracing::error!(target: $crate::logging::FATAL, $($arg)*) };
}

/// Sends everything told from here on where `settings` say.
///
/// # Errors
/// The log file cannot be opened. If this process already has a `tracing` subscriber, that one stays.
pub fn start(settings: &LogSettings) -> io::Result<()> {
    let sink = Arc::new(Sink::open(settings)?);
    let subscriber = tracing_subscriber::registry().with(sink::Teller(sink.clone()));
    if tracing::subscriber::set_global_default(subscriber).is_ok() {
        let _ = SINK.set(sink);
    }
    Ok(())
}

/// Takes over changed settings: levels at once, and another file if there is one.
pub fn apply(settings: &LogSettings) -> io::Result<()> {
    let Some(sink) = SINK.get() else { return Ok(()) };
    sink.apply(settings)?;
    tracing::callsite::rebuild_interest_cache();
    Ok(())
}

/// Closes the log file and opens it again by its name, for those who rename it (SIGUSR1).
pub fn reopen() -> io::Result<()> {
    match SINK.get() {
        Some(sink) => sink.reopen(),
        None => Ok(()),
    }
}
