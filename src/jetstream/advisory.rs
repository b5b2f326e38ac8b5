//! What JetStream tells about itself under `$JS.EVENT.ADVISORY` (streams reference, section 6).

use super::Setting;
use super::messages::ApiRequest;
use crate::account::Who;
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

/// Who asked (streams reference, section 6). Of a client that has gone meanwhile only the number is known.
#[derive(Debug, Serialize)]
pub struct Client {
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<Timestamp>,
    #[serde(skip_serializing_if = "String::is_empty")]
    host: String,
    id: u64,
    acc: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    user: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    lang: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    ver: String,
    /// Nanoseconds.
    #[serde(skip_serializing_if = "is_zero")]
    rtt: u64,
    server: String,
    kind: &'static str,
    client_type: &'static str,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Client {
    pub fn of(setting: &Setting, client: u64, who: Option<Who>) -> Self {
        let start = who.as_ref().map(|who| Timestamp(who.start));
        let Who { user, host, name, lang, version, rtt, .. } = who.unwrap_or_default();
        Self {
            start,
            host,
            id: client,
            acc: setting.account_name.to_string(),
            user,
            name,
            lang,
            ver: version,
            rtt,
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
