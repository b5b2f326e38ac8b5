use super::ConsumerConfig;
use super::config::AckPolicy;
use crate::protocol::short_hash;
use crate::router::messages::{Listen, ServiceId};
use bytes::Bytes;

/// Which of its subscriptions a message matched.
pub mod tags {
    pub const NEXT: u32 = 1;
    pub const ACK: u32 = 2;
    pub const ACK_V2: u32 = 3;
    pub const FLOW: u32 = 4;
    pub const FLOW_V2: u32 = 5;
    /// Interest in the deliver subject.
    pub const DELIVER: u32 = 6;
    /// Interest in the replies of waiting pulls.
    pub const PULLS: u32 = 7;
}

/// The subjects on which a consumer is reached.
#[derive(Clone, Debug)]
pub struct Subjects {
    pub next: String,
    /// Up to the five numbers.
    pub ack: String,
    pub ack_v2: String,
    /// Up to the four random characters.
    pub flow: String,
    pub flow_v2: String,
}

impl Subjects {
    pub fn new(stream: &str, consumer: &str, account: &str, domain: Option<&str>) -> Self {
        let (domain, hash) = (domain.unwrap_or("_"), short_hash(account));
        Self {
            next: format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"),
            ack: format!("$JS.ACK.{stream}.{consumer}."),
            ack_v2: format!("$JS.ACK.{domain}.{hash}.{stream}.{consumer}."),
            flow: format!("$JS.FC.{stream}.{consumer}."),
            flow_v2: format!("$JS.FC.{domain}.{hash}.{stream}.{consumer}."),
        }
    }

    /// What a consumer of this configuration listens to.
    pub fn listens(&self, id: ServiceId, config: &ConsumerConfig) -> Vec<Listen> {
        let mut all = vec![(tags::NEXT, self.next.clone())];
        if matches!(config.ack_policy, AckPolicy::Explicit | AckPolicy::All) {
            all.push((tags::ACK, format!("{}*.*.*.*.*", self.ack)));
            all.push((tags::ACK_V2, format!("{}*.*.*.*.>", self.ack_v2)));
        }
        if config.flow_control {
            all.push((tags::FLOW, format!("{}*", self.flow)));
            all.push((tags::FLOW_V2, format!("{}*", self.flow_v2)));
        }
        let listen = |(tag, subject): (u32, String)| Listen { id, tag, subject: Bytes::from(subject), except: vec![] };
        all.into_iter().map(listen).collect()
    }
}
