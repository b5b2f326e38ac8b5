//! StreamInfo, as CREATE, UPDATE, LIST and INFO show it (streams reference 4).

use super::actor::Stream;
use super::config::StreamConfig;
use crate::jetstream::messages::{Describe, Described};
use crate::protocol::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

/// What metadata tells of this server: the version of the protocol it speaks, and its API level.
const VERSION: &str = "2.15.1";
const LEVEL: &str = "5";

/// Whose answer it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    Created,
    Updated,
    Listed,
    Asked,
}

/// What `STREAM.INFO` may ask for.
#[derive(Clone, Debug, Default)]
pub struct Details {
    pub deleted: bool,
    /// Messages by subject: a page of them.
    pub subjects: Option<SubjectPage>,
}

#[derive(Clone, Debug, Default)]
pub struct SubjectPage {
    pub counts: BTreeMap<String, u64>,
    pub total: usize,
    pub offset: usize,
    pub limit: usize,
}

#[derive(Debug, Serialize)]
pub struct StreamInfo {
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
    config: StreamConfig,
    created: Timestamp,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<Cluster>,
    ts: Timestamp,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    did_create: bool,
}

#[derive(Debug, Serialize)]
struct Cluster {
    leader: String,
}

/// Streams reference 4.2.
#[derive(Debug, Serialize)]
pub struct State {
    messages: u64,
    bytes: u64,
    first_seq: u64,
    first_ts: Timestamp,
    last_seq: u64,
    last_ts: Timestamp,
    #[serde(skip_serializing_if = "is_zero")]
    num_subjects: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    subjects: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "is_zero")]
    num_deleted: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deleted: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<LostData>,
    consumer_count: usize,
}

#[derive(Debug, Serialize)]
struct LostData {
    msgs: Vec<u64>,
    bytes: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Stream {
    pub(in crate::jetstream) fn info(&self, shown: Shown) -> StreamInfo {
        self.detailed_info(shown, Details::default())
    }

    pub(in crate::jetstream) fn detailed_info(&self, shown: Shown, details: Details) -> StreamInfo {
        let mut config = self.config.clone();
        match shown {
            Shown::Listed => config.metadata.retain(|key, _| key != "_nats.ver" && key != "_nats.level"),
            _ => {
                config.metadata.insert("_nats.ver".into(), VERSION.into());
                config.metadata.insert("_nats.level".into(), LEVEL.into());
            }
        }
        let page = details.subjects.as_ref();
        let paging = |number: fn(&SubjectPage) -> usize| (shown == Shown::Asked).then(|| page.map_or(0, number));
        StreamInfo {
            total: paging(|page| page.total),
            offset: paging(|page| page.offset),
            limit: paging(|page| page.limit),
            config,
            created: Timestamp(self.created),
            domain: self.setting.limits.domain.clone().filter(|_| shown != Shown::Created),
            cluster: (shown == Shown::Asked).then(|| Cluster { leader: self.setting.server_name.to_string() }),
            ts: Timestamp(self.now()),
            did_create: shown == Shown::Created,
            state: self.state(details),
        }
    }

    fn state(&self, details: Details) -> State {
        let contents = &self.contents;
        let (first, last) = (contents.first(), contents.last());
        let oldest = contents.index.next(first).map(|(_, entry)| entry.timestamp);
        let lost = details.deleted && self.lost.messages() > 0;
        State {
            messages: contents.messages(),
            bytes: contents.bytes(),
            first_seq: if last == 0 && self.config.first_seq == 0 { 0 } else { first },
            first_ts: Timestamp::from(oldest),
            last_seq: last,
            last_ts: Timestamp::from(contents.last_timestamp()),
            num_subjects: contents.num_subjects() as u64,
            subjects: details.subjects.map(|page| page.counts).unwrap_or_default(),
            num_deleted: contents.num_deleted(),
            deleted: if details.deleted { self.deleted() } else { Vec::new() },
            lost: lost.then(|| LostData { msgs: self.lost.seqs().collect(), bytes: self.lost.bytes() }),
            consumer_count: self.consumers.visible(),
        }
    }

    /// The sequences between first and last that hold no message.
    fn deleted(&self) -> Vec<u64> {
        let mut gaps = Vec::new();
        let mut expected = self.contents.first();
        for (seq, _) in self.contents.index.scan(expected) {
            gaps.extend(expected..seq);
            expected = seq + 1;
        }
        gaps.extend(expected..=self.contents.last());
        gaps
    }

    /// For `STREAM.LIST`.
    pub(super) fn describe(&self, describe: Describe) {
        let info = serde_json::value::to_raw_value(&self.info(Shown::Listed)).expect("an info is plain data");
        let described = Described { ticket: describe.ticket, name: self.name.to_string(), info };
        self.desk.described.send(described);
    }
}
