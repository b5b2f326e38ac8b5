//! What a client says of itself (core reference 1.5).

use super::error::ProtocolError;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// The options of CONNECT. A text that is not given is empty.
#[derive(Clone, PartialEq, Eq)]
pub struct Connect {
    /// `+OK` after each operation.
    pub verbose: bool,
    /// Publish subjects are checked.
    pub pedantic: bool,
    /// Own messages come back on own subscriptions.
    pub echo: bool,
    pub tls_required: bool,
    pub user: String,
    pub pass: String,
    pub auth_token: String,
    pub nkey: String,
    pub sig: String,
    pub jwt: String,
    pub name: String,
    pub lang: String,
    pub version: String,
    /// 1: wants to hear of changed INFO.
    pub protocol: i64,
    pub headers: bool,
    pub no_responders: bool,
    pub account: String,
    pub new_account: bool,
    pub proxy_sig: String,
}

/// The JSON of a CONNECT cannot be read; the connection is closed without a word.
#[derive(Debug, thiserror::Error)]
#[error("bad CONNECT: {0}")]
pub struct BadConnect(#[from] serde_json::Error);

/// The highest `protocol` a client may name.
const NEWEST_PROTOCOL: i64 = 1;

impl Connect {
    /// Reads a first CONNECT.
    pub fn parse(json: &[u8]) -> Result<Self, BadConnect> {
        let mut connect = Self::default();
        connect.update(json)?;
        Ok(connect)
    }

    /// Takes over what is mentioned, so that a second CONNECT keeps the rest. Keys match in any case, unknown ones are
    /// ignored, `null` changes nothing. After an error nothing has changed.
    pub fn update(&mut self, json: &[u8]) -> Result<(), BadConnect> {
        // Bytes that are not UTF-8 are replaced, not refused.
        let text = String::from_utf8_lossy(json);
        let mut reader = serde_json::Deserializer::from_str(&text);
        let updated = Mentioned(self.clone()).deserialize(&mut reader)?;
        reader.end()?;
        *self = updated;
        Ok(())
    }

    /// Neither a user, a password nor a token is given. An nkey or a JWT alone says nothing where none are known.
    pub fn is_anonymous(&self) -> bool {
        self.user.is_empty() && self.pass.is_empty() && self.auth_token.is_empty()
    }

    /// What is wrong with it although the credentials are right; credentials are judged first. Headers count only if
    /// this server supports them.
    pub fn objection(&self, server_headers: bool) -> Option<ProtocolError> {
        if !(0..=NEWEST_PROTOCOL).contains(&self.protocol) {
            return Some(ProtocolError::InvalidClientProtocol);
        }
        // Accounts made on the fly were for tests of clusters only.
        if !self.account.is_empty() {
            return Some(ProtocolError::AuthorizationViolation);
        }
        let headers = self.headers && server_headers;
        (self.no_responders && !headers).then_some(ProtocolError::NoRespondersRequiresHeaders)
    }
}

impl Default for Connect {
    fn default() -> Self {
        Self {
            verbose: true,
            pedantic: true,
            echo: true,
            tls_required: false,
            user: String::new(),
            pass: String::new(),
            auth_token: String::new(),
            nkey: String::new(),
            sig: String::new(),
            jwt: String::new(),
            name: String::new(),
            lang: String::new(),
            version: String::new(),
            protocol: 0,
            headers: false,
            no_responders: false,
            account: String::new(),
            new_account: false,
            proxy_sig: String::new(),
        }
    }
}

/// Shows no secret.
impl fmt::Debug for Connect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connect")
            .field("name", &self.name)
            .field("lang", &self.lang)
            .field("version", &self.version)
            .field("protocol", &self.protocol)
            .field("user", &self.user)
            .field("nkey", &self.nkey)
            .field("verbose", &self.verbose)
            .field("pedantic", &self.pedantic)
            .field("echo", &self.echo)
            .field("headers", &self.headers)
            .field("no_responders", &self.no_responders)
            .finish_non_exhaustive()
    }
}

/// Reads JSON over options that are there already.
struct Mentioned(Connect);

impl<'de> DeserializeSeed<'de> for Mentioned {
    type Value = Connect;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Connect, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Mentioned {
    type Value = Connect;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Connect, E> {
        Ok(self.0)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Connect, A::Error> {
        fn take<'de, A: MapAccess<'de>, T: serde::Deserialize<'de>>(
            map: &mut A,
            field: &mut T,
        ) -> Result<(), A::Error> {
            if let Some(value) = map.next_value::<Option<T>>()? {
                *field = value;
            }
            Ok(())
        }
        let mut to = self.0;
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            match key.to_ascii_lowercase().as_str() {
                "verbose" => take(&mut map, &mut to.verbose)?,
                "pedantic" => take(&mut map, &mut to.pedantic)?,
                "echo" => take(&mut map, &mut to.echo)?,
                "tls_required" => take(&mut map, &mut to.tls_required)?,
                "user" => take(&mut map, &mut to.user)?,
                "pass" => take(&mut map, &mut to.pass)?,
                "auth_token" => take(&mut map, &mut to.auth_token)?,
                "nkey" => take(&mut map, &mut to.nkey)?,
                "sig" => take(&mut map, &mut to.sig)?,
                "jwt" => take(&mut map, &mut to.jwt)?,
                "name" => take(&mut map, &mut to.name)?,
                "lang" => take(&mut map, &mut to.lang)?,
                "version" => take(&mut map, &mut to.version)?,
                "protocol" => take(&mut map, &mut to.protocol)?,
                "headers" => take(&mut map, &mut to.headers)?,
                "no_responders" => take(&mut map, &mut to.no_responders)?,
                "account" => take(&mut map, &mut to.account)?,
                "new_account" => take(&mut map, &mut to.new_account)?,
                "proxy_sig" => take(&mut map, &mut to.proxy_sig)?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(to)
    }
}
