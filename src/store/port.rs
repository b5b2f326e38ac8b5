use super::{Committed, Damaged, Fetched, Sealed, StreamId, StreamStore};
use crate::actor::Outlet;

/// Where the store reaches a stream.
#[derive(Clone, Debug)]
pub struct StorePort {
    pub committed: Outlet<Committed>,
    pub fetched: Outlet<Fetched>,
    pub sealed: Outlet<Sealed>,
    pub damaged: Outlet<Damaged>,
}

/// Gives streams their place in a store.
pub trait StreamStores: Send + Sync {
    /// A durable stream: a new one, or one that was recovered.
    fn durable(&self, id: StreamId, port: StorePort) -> Box<dyn StreamStore>;

    /// A stream that is gone with the process.
    fn memory(&self, id: StreamId, port: StorePort) -> Box<dyn StreamStore>;
}
