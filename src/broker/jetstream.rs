use super::{Identity, StartError};
use crate::account::{AccountId, WhoIs};
use crate::actor::{House, Mailbox, Outlet, Place, SystemClock, launch};
use crate::jetstream::account::JetStream;
use crate::jetstream::{AccountLimits, Limits, Setting};
use crate::logging;
use crate::router::Switchboard;
use crate::settings::{Settings, Sync};
use crate::store::{self, Store, SyncMode};
use actix_rt::ArbiterHandle;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::oneshot;

/// Streams, and where they are kept.
pub struct Streams {
    pub jetstream: Mailbox<JetStream>,
    pub store: Store,
}

/// How often everybody on the storage arbiter gets a turn before it counts as settled: JetStream, the streams it
/// launches, the consumers they launch, and one for good measure.
const SETTLING_TURNS: usize = 4;

/// Opens the store, recovers what is there, and starts JetStream for the global account. Blocks while the store is
/// read; returns when every stream and consumer listens, so that the first client finds them.
pub async fn build(
    settings: &Settings,
    identity: &Identity,
    house: &House,
    mut storage: Vec<Place>,
    switchboard: Switchboard,
    registry: Outlet<WhoIs>,
) -> Result<Streams, StartError> {
    tracing::info!("Starting JetStream");
    let (first, timers) = storage.remove(0);
    let begun = Instant::now();
    let (store, recovery) = store::open(&store_options(settings), house)?;
    let (max_memory, max_file) = storage_limits(settings);
    let setting = Setting {
        house: house.clone(),
        account: AccountId::GLOBAL,
        account_name: "$G".into(),
        server_name: identity.name.as_str().into(),
        switchboard,
        registry: Some(registry),
        store: Arc::new(store.clone()),
        timers: timers.clone(),
        clock: Arc::new(SystemClock),
        limits: Arc::new(limits(settings, max_memory, max_file)),
        account_limits: AccountLimits::default(),
    };
    let (recovered, next) = (recovery.streams, recovery.next_stream);
    for stream in &recovered {
        let (messages, name) = (stream.index.len(), &stream.name);
        tracing::info!("  Restored {messages} messages for stream '$G > {name}'");
    }
    let others = storage.clone();
    let jetstream = launch(&first, house, move |own| JetStream::new(setting, others, own, recovered, next));
    // The others only then: they have to do what JetStream, on the first, launches.
    settle(&first).await?;
    for (arbiter, _) in &storage {
        settle(arbiter).await?;
    }
    logging::jetstream_banner(&settings.jetstream, max_memory, max_file, begun.elapsed());
    Ok(Streams { jetstream, store })
}

/// Waits until everybody on an arbiter has had a few turns.
async fn settle(arbiter: &ArbiterHandle) -> Result<(), StartError> {
    let (tell, settled) = oneshot::channel();
    arbiter.spawn(async move {
        for _ in 0..SETTLING_TURNS {
            tokio::task::yield_now().await;
        }
        tell.send(()).ok();
    });
    settled.await.map_err(|_| StartError::Ended)
}

fn store_options(settings: &Settings) -> store::Options {
    let (jetstream, own) = (&settings.jetstream, &settings.store);
    store::Options {
        sync: match jetstream.sync {
            Sync::Always => SyncMode::Always,
            Sync::Interval => SyncMode::Interval(jetstream.sync_interval),
        },
        hot_bytes: own.hot_bytes as u64,
        seal_after: own.seal_after,
        slot_bytes: own.journal_slot_bytes,
        first_slot_bytes: own.journal_first_slot_bytes,
        ..store::Options::new(&jetstream.store_dir)
    }
}

/// The feature flag that makes replies of deliveries name domain and account.
const LONG_ACK_SUBJECTS: &str = "js_ack_fc_v2";

/// Zero in the settings mostly stands for no limit; here -1 or `None` does.
fn limits(settings: &Settings, max_memory: u64, max_file: u64) -> Limits {
    let own = &settings.jetstream.limits;
    let bytes = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let positive = |n: i64| Some(n).filter(|n| *n > 0);
    let count = |n: usize| i64::try_from(n).ok().filter(|n| *n > 0);
    let buffered = |n: usize| if n == 0 { usize::MAX } else { n };
    Limits {
        max_memory: bytes(max_memory),
        max_file: bytes(max_file),
        domain: settings.jetstream.domain.clone(),
        long_ack_subjects: settings.server.feature_flags.get(LONG_ACK_SUBJECTS).is_some_and(|is_on| *is_on),
        strict: settings.jetstream.strict,
        duplicate_window: i64::try_from(own.duplicate_window.as_nanos()).ok().filter(|n| *n > 0),
        max_ack_pending: positive(own.max_ack_pending),
        max_request_batch: count(own.max_request_batch),
        max_consumers: own.max_consumers_per_stream,
        max_streams: count(own.max_streams).unwrap_or(-1),
        max_payload: settings.server.max_payload,
        max_buffered_messages: buffered(settings.jetstream.max_buffered_msgs),
        max_buffered_bytes: buffered(settings.jetstream.max_buffered_size),
        max_requests: settings.jetstream.request_queue_limit,
    }
}

/// Bytes for memory and for file streams: as set, else three quarters of the machine's memory and of what is free.
fn storage_limits(settings: &Settings) -> (u64, u64) {
    let three_quarters = |bytes: u64| bytes / 4 * 3;
    let memory = settings.jetstream.max_memory.unwrap_or_else(|| three_quarters(machine_memory()));
    let file = settings.jetstream.max_file;
    let file = file.unwrap_or_else(|| free_space(&settings.jetstream.store_dir).map_or(UNKNOWN_SPACE, three_quarters));
    (memory, file)
}

/// Where the system does not say how much room there is.
const UNKNOWN_SPACE: u64 = 1 << 40;

fn machine_memory() -> u64 {
    // SAFETY: sysconf takes a number and returns one.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGE_SIZE)) };
    u64::try_from(pages).unwrap_or(0) * u64::try_from(size).unwrap_or(0)
}

fn free_space(dir: &Path) -> Option<u64> {
    fs2::available_space(dir).ok()
}
