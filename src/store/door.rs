use super::committer::{Close, Committer};
use super::memory::MemoryStream;
use super::sled::DurableStream;
use super::sled::sealer::Register;
use super::{Closed, Fetch, Hot, Recover, Recovered, StorePort, StreamId, StreamStore};
use crate::actor::{Mailbox, Outlet};

/// An open store. Cheap to clone; each clone may go to another thread.
#[derive(Clone, Debug)]
pub struct Store {
    pub(super) committer: Mailbox<Committer>,
    pub(super) archive: Outlet<Fetch>,
    pub(super) sealer: Outlet<Register>,
}

impl Store {
    /// The place of a durable stream. `hot` comes from its [`RecoveredStream`](super::RecoveredStream); a new stream
    /// has none, and begins with [`Change::Create`](super::Change::Create).
    pub fn stream(&self, id: StreamId, hot: Hot, port: StorePort) -> Box<dyn StreamStore + Send> {
        let (committer, archive) = (self.committer.outlet(), self.archive.clone());
        self.sealer.send(Register { stream: id, sealed: port.sealed.clone(), damaged: port.damaged.clone() });
        Box::new(DurableStream::new(id, port, committer, archive, hot.0))
    }

    /// The place of a stream in memory.
    pub fn memory_stream(&self, port: StorePort) -> Box<dyn StreamStore + Send> {
        Box::new(MemoryStream::new(port))
    }

    /// Reads a stream anew, behind everything that was handed over: for an actor that takes the place of one that
    /// ended.
    pub fn recover(&self, stream: StreamId, done: Outlet<Recovered>) {
        self.committer.send(Recover { stream, done });
    }

    /// Commits what was handed over, moves everything into volumes and ends the actors of the store.
    pub fn close(&self, done: Outlet<Closed>) {
        self.committer.send(Close { done });
    }
}
