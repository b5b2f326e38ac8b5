use super::StreamConfig;
use crate::jetstream::messages::ApiRequest;
use crate::store::{RecoveredStream, StreamId};

/// How a Stream comes to be.
#[expect(clippy::large_enum_variant, reason = "one a stream, handed on once")]
pub enum Birth {
    /// Created by a request, which the Stream answers once its creation is durable.
    New {
        id: StreamId,
        /// Checked, and with all defaults.
        config: StreamConfig,
        /// Nanoseconds since 1970.
        created: i64,
        request: ApiRequest,
    },
    /// Found in the store.
    Recovered(Box<RecoveredStream>),
}

impl Birth {
    /// The number of the stream.
    pub fn stream(&self) -> StreamId {
        match self {
            Self::New { id, .. } => *id,
            Self::Recovered(found) => found.id,
        }
    }
}
