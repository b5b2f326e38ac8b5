use serde::{Deserialize, Serialize};

/// Which slots hold the journal, in order. Written before the first answer that depends on a new slot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ring {
    /// Seeds the checksums of all frames.
    pub key: u64,
    /// Slots with frames that may still be needed; the last one is being written.
    pub slots: Vec<SlotEntry>,
    /// Below any position that will be used: also holds when there are no slots left.
    pub next_base: u64,
}

/// A slot in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotEntry {
    pub id: u32,
    /// Position of the first byte of the file.
    pub base: u64,
    /// Bytes of the file.
    pub size: u64,
    /// Where its frames end; none while it is being written. Bytes behind are of commits that failed.
    pub end: Option<u64>,
}
