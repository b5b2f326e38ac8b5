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
    pub const DOMAIN_NEXT: u32 = 8;
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
    /// The next subject under the name of the domain, if there is one.
    domain_next: Option<String>,
    /// The second forms are the ones sent; both are understood.
    long: bool,
}

impl Subjects {
    pub fn new(stream: &str, consumer: &str, account: &str, domain: Option<&str>, long: bool) -> Self {
        let domain_next = domain.map(|domain| format!("$JS.{domain}.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"));
        let (domain, hash) = (domain.unwrap_or("_"), short_hash(account));
        Self {
            next: format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"),
            ack: format!("$JS.ACK.{stream}.{consumer}."),
            ack_v2: format!("$JS.ACK.{domain}.{hash}.{stream}.{consumer}."),
            flow: format!("$JS.FC.{stream}.{consumer}."),
            flow_v2: format!("$JS.FC.{domain}.{hash}.{stream}.{consumer}."),
            domain_next,
            long,
        }
    }

    /// What the replies of deliveries begin with.
    pub fn sent_ack(&self) -> &str {
        if self.long { &self.ack_v2 } else { &self.ack }
    }

    /// What the subjects of flow control begin with.
    pub fn sent_flow(&self) -> &str {
        if self.long { &self.flow_v2 } else { &self.flow }
    }

    /// What a consumer of this configuration listens to.
    pub fn listens(&self, id: ServiceId, config: &ConsumerConfig) -> Vec<Listen> {
        let mut all = vec![(tags::NEXT, self.next.clone())];
        all.extend(self.domain_next.clone().map(|subject| (tags::DOMAIN_NEXT, subject)));
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
