use super::{Hot, Recovered, StorePort, StreamId, StreamStore};
use crate::actor::Outlet;

/// Gives streams their place in a store. The [`Store`](super::Store) does; tests have their own.
pub trait StreamStores: Send + Sync {
    /// A durable stream. `hot` comes from its [`RecoveredStream`](super::RecoveredStream); a new stream has none, and
    /// begins with [`Change::Create`](super::Change::Create).
    fn durable(&self, id: StreamId, hot: Hot, port: StorePort) -> Box<dyn StreamStore>;

    /// A stream that is gone with the process.
    fn memory(&self, id: StreamId, port: StorePort) -> Box<dyn StreamStore>;

    /// Tells `done` what is stored of a stream whose actor has ended. Stores that keep nothing know of none.
    fn recover(&self, _: StreamId, done: Outlet<Recovered>) {
        done.send(Recovered(Ok(None)));
    }
}

impl StreamStores for super::Store {
    fn durable(&self, id: StreamId, hot: Hot, port: StorePort) -> Box<dyn StreamStore> {
        self.stream(id, hot, port)
    }

    fn memory(&self, _: StreamId, port: StorePort) -> Box<dyn StreamStore> {
        self.memory_stream(port)
    }

    fn recover(&self, id: StreamId, done: Outlet<Recovered>) {
        Self::recover(self, id, done);
    }
}
