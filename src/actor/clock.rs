use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// What time it is. Handed to actors, so that tests can move it.
pub trait Clock: Send + Sync + 'static {
    /// Nanoseconds since 1970, UTC.
    fn now(&self) -> i64;
}

/// The machine's clock.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    }
}

/// A clock as actors hold it.
pub type SharedClock = Arc<dyn Clock>;
