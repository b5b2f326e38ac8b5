use crate::subject::tokens;
use bytes::Bytes;

/// Where the API is reached.
pub const PREFIX: &str = "$JS.API.";

/// A subject of the API, taken apart (streams reference 1.1, consumers reference 1.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    AccountInfo,
    StreamNames,
    StreamList,
    StreamCreate {
        stream: Bytes,
    },
    StreamUpdate {
        stream: Bytes,
    },
    StreamInfo {
        stream: Bytes,
    },
    StreamDelete {
        stream: Bytes,
    },
    StreamPurge {
        stream: Bytes,
    },
    StreamSnapshot {
        stream: Bytes,
    },
    StreamRestore {
        stream: Bytes,
    },
    MessageGet {
        stream: Bytes,
    },
    MessageDelete {
        stream: Bytes,
    },
    /// `CONSUMER.CREATE.<stream>`, and with a name, and with a name and a filter.
    ConsumerCreate {
        stream: Bytes,
        consumer: Option<Bytes>,
        filter: Option<Bytes>,
    },
    /// `CONSUMER.DURABLE.CREATE.<stream>.<name>`
    ConsumerDurableCreate {
        stream: Bytes,
        consumer: Bytes,
    },
    ConsumerNames {
        stream: Bytes,
    },
    ConsumerList {
        stream: Bytes,
    },
    ConsumerInfo {
        stream: Bytes,
        consumer: Bytes,
    },
    ConsumerDelete {
        stream: Bytes,
        consumer: Bytes,
    },
    ConsumerPause {
        stream: Bytes,
        consumer: Bytes,
    },
    ConsumerUnpin {
        stream: Bytes,
        consumer: Bytes,
    },
    ConsumerReset {
        stream: Bytes,
        consumer: Bytes,
    },
    /// Needs a cluster; the type of the answer, always error 10010 (streams reference 1.4).
    Clustered {
        answer: &'static str,
    },
}

impl Endpoint {
    /// `None`: nobody answers on this subject.
    pub fn parse(subject: &Bytes) -> Option<Self> {
        let rest = subject.strip_prefix(PREFIX.as_bytes())?;
        let parts: Vec<&[u8]> = tokens(rest).collect();
        let own = |part: &[u8]| subject.slice_ref(part);
        Some(match *parts.as_slice() {
            [b"INFO"] => Self::AccountInfo,
            [b"STREAM", b"NAMES"] => Self::StreamNames,
            [b"STREAM", b"LIST"] => Self::StreamList,
            [b"STREAM", b"PEER", b"REMOVE", _] => Self::Clustered { answer: "stream_remove_peer_response" },
            [b"STREAM", b"PEER", b"EVACUATE", _] => Self::Clustered { answer: "stream_evacuate_peer_response" },
            [b"STREAM", b"LEADER", b"STEPDOWN", _] => Self::Clustered { answer: "stream_leader_stepdown_response" },
            [b"STREAM", b"CANCEL_MOVE", _] => Self::Clustered { answer: "stream_cancel_move_response" },
            [b"STREAM", b"MSG", b"GET", stream] => Self::MessageGet { stream: own(stream) },
            [b"STREAM", b"MSG", b"DELETE", stream] => Self::MessageDelete { stream: own(stream) },
            [b"STREAM", verb, stream] => Self::of_stream(verb, own(stream))?,
            [b"CONSUMER", b"LEADER", b"STEPDOWN", _, _] => {
                Self::Clustered { answer: "consumer_leader_stepdown_response" }
            }
            [b"CONSUMER", b"PEER", b"REMOVE", _, _] => Self::Clustered { answer: "consumer_remove_peer_response" },
            [b"CONSUMER", b"PEER", b"EVACUATE", _, _] => Self::Clustered { answer: "consumer_evacuate_peer_response" },
            [b"CONSUMER", b"DURABLE", b"CREATE", stream, consumer] => {
                Self::ConsumerDurableCreate { stream: own(stream), consumer: own(consumer) }
            }
            [b"CONSUMER", b"CREATE", stream] => {
                Self::ConsumerCreate { stream: own(stream), consumer: None, filter: None }
            }
            [b"CONSUMER", b"CREATE", stream, consumer] => {
                Self::ConsumerCreate { stream: own(stream), consumer: Some(own(consumer)), filter: None }
            }
            [b"CONSUMER", b"CREATE", stream, consumer, first, ..] => {
                let from = first.as_ptr() as usize - subject.as_ptr() as usize;
                let filter = Some(subject.slice(from..));
                Self::ConsumerCreate { stream: own(stream), consumer: Some(own(consumer)), filter }
            }
            [b"CONSUMER", b"NAMES", stream] => Self::ConsumerNames { stream: own(stream) },
            [b"CONSUMER", b"LIST", stream] => Self::ConsumerList { stream: own(stream) },
            [b"CONSUMER", verb, stream, consumer] => Self::of_consumer(verb, own(stream), own(consumer))?,
            _ => return None,
        })
    }

    /// The stream that is concerned, if it is one that answers itself.
    pub fn stream(&self) -> Option<&Bytes> {
        use Endpoint::*;
        match self {
            AccountInfo | StreamNames | StreamList | Clustered { .. } => None,
            StreamCreate { stream }
            | StreamUpdate { stream }
            | StreamInfo { stream }
            | StreamDelete { stream }
            | StreamPurge { stream }
            | StreamSnapshot { stream }
            | StreamRestore { stream }
            | MessageGet { stream }
            | MessageDelete { stream }
            | ConsumerCreate { stream, .. }
            | ConsumerDurableCreate { stream, .. }
            | ConsumerNames { stream }
            | ConsumerList { stream }
            | ConsumerInfo { stream, .. }
            | ConsumerDelete { stream, .. }
            | ConsumerPause { stream, .. }
            | ConsumerUnpin { stream, .. }
            | ConsumerReset { stream, .. } => Some(stream),
        }
    }

    fn of_stream(verb: &[u8], stream: Bytes) -> Option<Self> {
        Some(match verb {
            b"CREATE" => Self::StreamCreate { stream },
            b"UPDATE" => Self::StreamUpdate { stream },
            b"INFO" => Self::StreamInfo { stream },
            b"DELETE" => Self::StreamDelete { stream },
            b"PURGE" => Self::StreamPurge { stream },
            b"SNAPSHOT" => Self::StreamSnapshot { stream },
            b"RESTORE" => Self::StreamRestore { stream },
            _ => return None,
        })
    }

    fn of_consumer(verb: &[u8], stream: Bytes, consumer: Bytes) -> Option<Self> {
        Some(match verb {
            b"INFO" => Self::ConsumerInfo { stream, consumer },
            b"DELETE" => Self::ConsumerDelete { stream, consumer },
            b"PAUSE" => Self::ConsumerPause { stream, consumer },
            b"UNPIN" => Self::ConsumerUnpin { stream, consumer },
            b"RESET" => Self::ConsumerReset { stream, consumer },
            _ => return None,
        })
    }
}
