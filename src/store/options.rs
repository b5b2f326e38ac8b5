use std::path::PathBuf;
use std::time::Duration;

/// When a commit counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncMode {
    /// When it is on the disk.
    Always,
    /// When it is written: it outlives the process, and the machine once this much time has passed.
    Interval(Duration),
}

/// Settings of a store.
#[derive(Clone, Debug)]
pub struct Options {
    /// The directory of the store; created if it is not there.
    pub dir: PathBuf,
    pub sync: SyncMode,
    /// Bytes in the journal and in memory, over all streams, from which they are moved into a volume. With that
    /// much beside what is just being moved (a slot's worth at a time), commits wait.
    pub hot_bytes: u64,
    /// After so long without a commit, what is there is moved into a volume.
    pub seal_after: Duration,
    /// Bytes of a journal slot under load.
    pub slot_bytes: u64,
    /// Bytes of the first journal slot of a fresh store.
    pub first_slot_bytes: u64,
}

impl Options {
    /// The defaults, for a directory.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            sync: SyncMode::Always,
            hot_bytes: 96 << 20,
            seal_after: Duration::from_secs(30),
            slot_bytes: 64 << 20,
            first_slot_bytes: 1 << 20,
        }
    }
}
