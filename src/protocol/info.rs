//! The first thing a server says (core reference 1.4).

use serde::{Deserialize, Serialize};

/// What INFO tells a client. Fields stand in the order in which the reference server writes them; those that can be
/// absent are left out when false or empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerInfo {
    /// Public server nkey: `N` and 55 characters.
    pub server_id: String,
    /// The configured name, else the id.
    pub server_name: String,
    /// The level of the protocol we speak; clients compare it to find out what is there.
    pub version: String,
    /// 1; a leaf listener says 3.
    pub proto: i32,
    pub git_commit: String,
    pub go: String,
    pub host: String,
    pub port: u16,
    pub headers: bool,
    /// Left out when a `no_auth_user` makes authentication optional.
    #[serde(skip_serializing_if = "is_false")]
    pub auth_required: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub tls_required: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub tls_verify: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub tls_available: bool,
    /// Bytes of headers and payload; -1 for no limit.
    pub max_payload: i64,
    #[serde(skip_serializing_if = "is_false")]
    pub jetstream: bool,
    /// Leaf listener only.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ip: String,
    pub client_id: u64,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub client_ip: String,
    /// To be signed by nkey users; new for each connection, and only in the first INFO.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub nonce: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cluster: String,
    #[serde(skip_serializing_if = "is_false")]
    pub cluster_dynamic: bool,
    /// The JetStream domain.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub domain: String,
    /// `host:port` of where else to connect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub connect_urls: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ws_connect_urls: Vec<String>,
    /// Lame duck mode: about to go.
    #[serde(skip_serializing_if = "is_false")]
    pub ldm: bool,
    /// Leaf listener only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leafnode_urls: Vec<String>,
    /// Leaf listener only.
    #[serde(skip_serializing_if = "is_false")]
    pub info_on_connect: bool,
    /// This is the INFO after the first PONG.
    #[serde(skip_serializing_if = "is_false")]
    pub connect_info: bool,
    /// The account the user landed in; after the first PONG.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub remote_account: String,
    /// That account is the system account.
    #[serde(skip_serializing_if = "is_false")]
    pub acc_is_sys: bool,
    /// The JetStream API level, said also with JetStream off.
    pub api_lvl: i32,
    /// Public curve key for the encryption of authentication callouts.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub xkey: String,
    /// Leaf listener only.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub compression: String,
    /// Our own version; the reference has no such field.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub postroom: String,
}

impl ServerInfo {
    /// The whole line. The blank before its end belongs to it: some clients count on it.
    pub fn line(&self) -> Vec<u8> {
        let mut line = b"INFO ".to_vec();
        serde_json::to_writer(&mut line, self).expect("strings, numbers and flags always become JSON");
        line.extend_from_slice(b" \r\n");
        line
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}
