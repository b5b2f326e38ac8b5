//! Pull requests: what they say, how they wait, and how they end.

pub mod body;
mod next;
pub mod queue;
pub mod request;
pub mod status;

pub use queue::PullQueue;
pub use request::PullRequest;
