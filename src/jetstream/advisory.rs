//! What JetStream tells about itself under `$JS.EVENT.ADVISORY` (streams reference, section 6).

use super::Setting;
use super::messages::ApiRequest;
use crate::protocol::{Timestamp, nuid};
use serde::Serialize;

/// Where the audit of API requests goes.
pub const API_AUDIT: &str = "$JS.EVENT.ADVISORY.API";

/// Stands before the name of every type of advisory.
pub const TYPE_PREFIX: &str = "io.nats.jetstream.advisory.v1.";

/// The members all advisories begin with.
#[derive(Debug, Serialize)]
pub struct Head {
    r#type: String,
    id: String,
    timestamp: Timestamp,
}

impl Head {
    /// `name`: the type without its prefix. `now`: nanoseconds since 1970.
    pub fn new(name: &str, now: i64) -> Self {
        Self { r#type: format!("{TYPE_PREFIX}{name}"), id: nuid(), timestamp: Timestamp(now) }
    }
}

/// Who asked, as far as JetStream knows: connections are numbers here.
#[derive(Debug, Serialize)]
pub struct Client {
    id: u64,
    acc: String,
    server: String,
    kind: &'static str,
    client_type: &'static str,
}

impl Client {
    pub fn of(setting: &Setting, client: u64) -> Self {
        Self {
            id: client,
            acc: setting.account_name.to_string(),
            server: setting.server_name.to_string(),
            kind: "Client",
            client_type: "nats",
        }
    }
}

/// An answered request.
#[derive(Debug, Serialize)]
pub struct ApiAudit<'a> {
    #[serde(flatten)]
    head: Head,
    server: &'a str,
    client: Client,
    subject: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    request: String,
    response: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<&'a str>,
}

impl<'a> ApiAudit<'a> {
    pub fn new(setting: &'a Setting, client: Client, request: &ApiRequest, response: &[u8]) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            head: Head::new("api_audit", setting.clock.now()),
            server: &setting.server_name,
            client,
            subject: text(&request.subject),
            request: text(&request.body),
            response: text(response),
            domain: setting.limits.domain.as_deref(),
        }
    }

    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an advisory is plain data, and a Vec takes it")
    }
}
