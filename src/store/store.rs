use super::committer::{Close, Committer};
use super::memory::MemoryStream;
use super::sled::DurableStream;
use super::sled::sealer::Register;
use super::{Closed, Fetch, Hot, StorePort, StreamId, StreamStore, StreamStores};
use crate::actor::{Mailbox, Outlet};

/// An open store. Cheap to clone; each clone may go to another thread.
#[derive(Clone, Debug)]
pub struct Store {
    pub(super) committer: Mailbox<Committer>,
    pub(super) archive: Outlet<Fetch>,
    pub(super) sealer: Outlet<Register>,
}

impl Store {
    /// Commits what was handed over, moves everything into volumes and ends the actors of the store.
    pub fn close(&self, done: Outlet<Closed>) {
        self.committer.send(Close { done });
    }
}

impl StreamStores for Store {
    fn durable(&self, id: StreamId, hot: Hot, port: StorePort) -> Box<dyn StreamStore> {
        let (committer, archive) = (self.committer.outlet(), self.archive.clone());
        Box::new(DurableStream::new(id, port, committer, archive, hot.0))
    }

    fn memory(&self, _: StreamId, port: StorePort) -> Box<dyn StreamStore> {
        Box::new(MemoryStream::new(port))
    }
}
