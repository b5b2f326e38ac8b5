use crate::actor::{Act, Alarm, Mailbox, Outlet, Receive};
use crate::jetstream::messages::{Count, Described, Expired, Read, ReadThese, Save, SaveConfig};
use crate::router::messages::{Ingest, Interest, Receipt, ServicePort};

/// A consumer's stream, as the consumer sees it.
#[derive(Clone, Debug)]
pub struct StreamPort {
    pub read: Outlet<Read>,
    pub read_these: Outlet<ReadThese>,
    pub count: Outlet<Count>,
    pub save: Outlet<Save>,
    pub save_config: Outlet<SaveConfig>,
    pub expired: Outlet<Expired>,
    pub described: Outlet<Described>,
}

impl StreamPort {
    pub fn to<S>(stream: &Mailbox<S>) -> Self
    where
        S: Act
            + Receive<Read>
            + Receive<ReadThese>
            + Receive<Count>
            + Receive<Save>
            + Receive<SaveConfig>
            + Receive<Expired>
            + Receive<Described>,
    {
        Self {
            read: stream.outlet(),
            read_these: stream.outlet(),
            count: stream.outlet(),
            save: stream.outlet(),
            save_config: stream.outlet(),
            expired: stream.outlet(),
            described: stream.outlet(),
        }
    }
}

/// The consumer itself, as those who answer it see it.
#[derive(Clone, Debug)]
pub struct OwnPort {
    pub alarm: Outlet<Alarm>,
    pub service: ServicePort,
}

impl OwnPort {
    pub fn to<C>(own: &Mailbox<C>) -> Self
    where
        C: Act + Receive<Alarm> + Receive<Ingest> + Receive<Receipt> + Receive<Interest>,
    {
        let service = ServicePort { ingest: own.outlet(), receipt: Some(own.outlet()), interest: Some(own.outlet()) };
        Self { alarm: own.outlet(), service }
    }
}
