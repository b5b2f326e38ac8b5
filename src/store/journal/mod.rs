//! The journal: the one commit point of the server. `docs/storage.md` has its format.
//!
//! * [`frame`]: header and trailer around the entries of one commit.
//! * [`group`]: a commit on its way, and `gather`: the one call that writes many of them.
//! * [`slot`]: a preallocated file; [`ring`]: which slots are in use.
//! * [`Journal`]: writes. [`scan`]: reads, and tells a torn tail from damage.

pub mod frame;
mod gather;
pub mod group;
pub mod load;
pub mod ring;
pub mod scan;
pub mod slot;
pub mod two_slot;
pub mod writer;

#[cfg(test)]
mod tests;

pub use frame::{FRAME_OVERHEAD, FrameHead};
pub use group::Group;
pub use ring::{Ring, SlotEntry};
pub use scan::{Frame, Scan};
pub use writer::{Journal, JournalOptions, WriteError};
