//! The broker: everything between settings and the last goodbye.
//!
//! [`Broker::start`] brings the house up on threads of its own and returns when clients can connect; the
//! [`BrokerHandle`] takes it down again. [`run`] is what the program does with it: signals, pid file, exit code.

mod access;
mod actor;
mod files;
mod handle;
mod house;
mod identity;
mod jetstream;
mod run;
mod shutdown;
mod start;

pub use actor::Broker;
pub use handle::BrokerHandle;
pub use identity::{API_LEVEL, Identity, PROTOCOL_VERSION, VERSION};
pub use run::run;
pub use start::StartError;
