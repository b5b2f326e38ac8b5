use super::files::{PortsFile, write_pid_file};
use super::identity::Identity;
use super::{Broker, BrokerHandle};
use crate::settings::{ConfigSource, Settings};
use crate::signals::Signal;
use crate::{fatal, logging};
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

/// Runs a server with these settings until a signal or the end of lame duck mode stops it.
pub fn run(settings: Settings, source: ConfigSource) -> ExitCode {
    let identity = Identity::new(settings.server.name.as_deref());
    logging::banner(&settings, &source, &identity.id);
    // The signals are caught before the server is ready: a script may send one as soon as it reads the line.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_io().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(format!("cannot wait for signals: {error}")),
    };
    let signals = match runtime.block_on(async { Signals::catch() }) {
        Ok(signals) => signals,
        Err(error) => return fail(format!("cannot catch signals: {error}")),
    };
    if let Some(path) = &settings.server.pid_file
        && let Err(error) = write_pid_file(path)
    {
        return fail(format!("cannot write the pid file {}: {error}", path.display()));
    }
    let ports_dir = settings.server.ports_file_dir.clone();
    let handle = match Broker::start_as(settings, identity) {
        Ok(handle) => handle,
        Err(error) => return fail(error.to_string()),
    };
    let ports = ports_dir.map(|dir| PortsFile::write(&dir, handle.client_addr())).transpose();
    if let Err(error) = &ports {
        tracing::error!("Error writing ports file: {error}");
    }
    tracing::info!("Server is ready");
    runtime.block_on(signals.pass_on(handle));
    tracing::info!("Server Exiting..");
    ExitCode::SUCCESS
}

fn fail(text: String) -> ExitCode {
    fatal!("{text}");
    ExitCode::FAILURE
}

/// The signals of section 8.2 of the reference, but KILL.
struct Signals(Vec<(Signal, tokio::signal::unix::Signal)>);

impl Signals {
    fn catch() -> std::io::Result<Self> {
        let all = Signal::ALL.into_iter().map(|(_, kind)| kind).filter(|kind| *kind != Signal::Stop);
        let caught = all.map(|kind| Ok((kind, signal(SignalKind::from_raw(kind.number()))?)));
        caught.collect::<std::io::Result<_>>().map(Self)
    }

    /// Tells the broker of each signal until it has ended.
    async fn pass_on(mut self, mut handle: BrokerHandle) {
        let Some(mut ended) = handle.ended.take() else { return };
        loop {
            let next = std::future::poll_fn(|task| {
                let caught =
                    self.0.iter_mut().find_map(|(kind, signals)| signals.poll_recv(task).is_ready().then_some(*kind));
                caught.map_or(std::task::Poll::Pending, std::task::Poll::Ready)
            });
            tokio::select! {
                _ = &mut ended => return,
                signal = next => {
                    tracing::debug!("Trapped \"{}\" signal", signal.description());
                    handle.tell(signal);
                }
            }
        }
    }
}
