use super::actor::{Broker, ShutDown, Told};
use crate::actor::Mailbox;
use crate::signals::Signal;
use std::net::SocketAddr;
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// A running broker, seen from outside. Dropping it shuts the broker down in order and waits for that.
pub struct BrokerHandle {
    pub(super) broker: Mailbox<Broker>,
    pub(super) clients: SocketAddr,
    pub(super) thread: Option<JoinHandle<()>>,
    pub(super) ended: Option<oneshot::Receiver<()>>,
}

impl BrokerHandle {
    /// Where clients connect: the actual port, also when a random one was asked for.
    pub fn client_addr(&self) -> SocketAddr {
        self.clients
    }

    /// `nats://HOST:PORT`
    pub fn client_url(&self) -> String {
        format!("nats://{}", self.clients)
    }

    /// Takes no new clients, lets the present ones go one after the other, then shuts down.
    pub fn lame_duck(&self) {
        self.tell(Signal::LameDuck);
    }

    /// Shuts down in order: clients are closed, everything staged gets to the disk. Returns when all is done.
    pub fn shutdown(mut self) {
        self.end();
    }

    /// What a signal to the process would do.
    pub(super) fn tell(&self, signal: Signal) {
        self.broker.send(Told(signal));
    }

    fn end(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.broker.send(ShutDown);
        if thread.join().is_err() {
            tracing::error!("the broker's main thread panicked");
        }
    }
}

impl Drop for BrokerHandle {
    fn drop(&mut self) {
        self.end();
    }
}

impl std::fmt::Debug for BrokerHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BrokerHandle").field("clients", &self.clients).finish_non_exhaustive()
    }
}
