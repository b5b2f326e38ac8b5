use super::actor::Broker;
use super::house::{self, Standing};
use super::{BrokerHandle, Identity};
use crate::auth::AuthConflict;
use crate::connection::BindError;
use crate::settings::Settings;
use crate::store::OpenError;
use actix_rt::System;
use std::sync::mpsc;
use std::thread;
use tokio::sync::oneshot;

/// Why a broker did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error(transparent)]
    Auth(#[from] AuthConflict),
    /// The store directory cannot be used.
    #[error("Can't start JetStream: {0}")]
    Store(#[from] OpenError),
    #[error("cannot start a thread: {0}")]
    Thread(#[source] std::io::Error),
    #[error("the broker's main thread ended before it was ready")]
    Ended,
}

impl Broker {
    /// Starts a broker and returns when clients can connect. It runs on threads of its own, under any runtime or none;
    /// as many as wanted live in one process, each with its own port and store directory.
    ///
    /// # Errors
    /// The address is in use, the store cannot be opened, or the settings contradict each other.
    pub fn start(settings: Settings) -> Result<BrokerHandle, StartError> {
        let identity = Identity::new(settings.server.name.as_deref());
        Self::start_as(settings, identity)
    }

    pub(super) fn start_as(settings: Settings, identity: Identity) -> Result<BrokerHandle, StartError> {
        let (tell, told) = mpsc::sync_channel(1);
        let (end, ended) = oneshot::channel();
        let thread = thread::Builder::new().name("postroom".into());
        let thread = thread.spawn(move || live(settings, identity, tell, end)).map_err(StartError::Thread)?;
        match told.recv() {
            Ok(Ok(Standing { broker, clients })) => {
                Ok(BrokerHandle { broker, clients, thread: Some(thread), ended: Some(ended) })
            }
            failed => {
                let _ = thread.join();
                Err(failed.map(|result| result.err()).ok().flatten().unwrap_or(StartError::Ended))
            }
        }
    }
}

/// The main thread's life: the house stands on it until the Broker actor stops the system.
fn live(
    settings: Settings,
    identity: Identity,
    tell: mpsc::SyncSender<Result<Standing, StartError>>,
    end: oneshot::Sender<()>,
) {
    let system = System::new();
    let built = system.block_on(house::build(settings, identity, end));
    let stands = built.is_ok();
    if tell.send(built).is_ok()
        && stands
        && let Err(error) = system.run()
    {
        tracing::error!("the broker's system ended badly: {error}");
    }
}
