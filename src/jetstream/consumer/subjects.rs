use super::ConsumerConfig;
use super::config::AckPolicy;
use crate::router::messages::{Listen, ServiceId};
use bytes::Bytes;
use sha2::{Digest, Sha256};

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
        let (domain, hash) = (domain.unwrap_or("_"), hash(account));
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

/// The short hash of a text that stands in subjects (consumers reference, section 0): 8 characters.
pub fn hash(text: &str) -> String {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).map(|&byte| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()])).collect()
}
