//! The `authorization` block: users, passwords, permissions. Reference sections 3.1 and 3.3.

use super::rules::{Key, Rule, key};
use super::{Field, Reading};
use crate::settings::conf::{Item, Map as ConfMap, Value as ConfValue};
use crate::settings::error::Mistake;
use crate::settings::{LONG_AUTH_TIMEOUT, units};
use config::{Map, Value, ValueKind};
use std::time::Duration;

#[rustfmt::skip]
const KEYS: &[Key] = &[
    key(&["user", "username"], Rule::Text("auth.user")),
    key(&["password", "pass"], Rule::Text("auth.password")),
    key(&["token"], Rule::Text("auth.token")),
    key(&["timeout"], Rule::Special(timeout)),
    key(&["users"], Rule::Special(users)),
    key(&["default_permissions", "default_permission", "permissions"], Rule::Special(default_permissions)),
    key(&["auth_callout", "auth_hook", "proxy_required"], Rule::NotYet),
];

/// The kinds of connection that a user can be bound to.
const CONNECTION_TYPES: [&str; 7] =
    ["STANDARD", "WEBSOCKET", "LEAFNODE", "LEAFNODE_WS", "MQTT", "MQTT_WS", "IN_PROCESS"];

/// The block itself.
pub(super) fn authorization(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    reading.block(field.map()?, KEYS);
    let has = |path| reading.layer.has(path);
    let single = has("auth.user") || has("auth.password");
    let conflict = match (single, has("auth.token"), has("auth.users")) {
        (true, true, _) => "Cannot have a user/pass and token",
        (true, _, true) => "Can not have a single user/pass and a users array",
        (_, true, true) => "Can not have a token and a users array",
        _ => return Ok(()),
    };
    Err(field.mistake(conflict))
}

/// Seconds, with or without a point, or a duration in quotes.
fn timeout(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    let seconds = match &field.item.value {
        ConfValue::Integer(n) => *n as f64,
        ConfValue::Float(x) => *x,
        ConfValue::Text(_) => reading.duration(field)?.as_secs_f64(),
        _ => return Err(field.expected("a number of seconds or a duration in quotes")),
    };
    let timeout = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
    if timeout > LONG_AUTH_TIMEOUT {
        reading.warnings.push(field.mistake(format!(
            "invalid use of field \"timeout\": timeout of {seconds} seconds is high, consider keeping it under 60 seconds. \
             possibly caused by unquoted duration; use '1m' instead of 1m, for example"
        )));
    }
    // A century is as good as forever, and fits everywhere.
    let timeout = timeout.min(Duration::from_secs(100 * 365 * 86_400));
    if !timeout.is_zero() {
        reading.set("auth.timeout", units::format_duration(timeout), field.item);
    }
    Ok(())
}

fn default_permissions(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    let table = permissions(field)?;
    reading.set("auth.default_permissions", table, field.item);
    Ok(())
}

fn users(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    let users = field.list()?.iter().map(|item| user(item, field.name)).collect::<Result<Vec<_>, _>>()?;
    if !users.is_empty() {
        reading.set("auth.users", ValueKind::Array(users), field.item);
    }
    Ok(())
}

/// One entry of `users`.
fn user(item: &Item, name: &str) -> Result<Value, Mistake> {
    let map = Field { name, item }.map()?;
    let mut table = Map::new();
    let mut put = |key: &str, kind: ValueKind| table.insert(key.into(), Value::new(Some(&item.at.to_string()), kind));
    for (name, entry) in map.iter() {
        let field = Field { name, item: &entry.item };
        match name.to_lowercase().as_str() {
            "user" | "username" => put("user", field.text()?.into()),
            "password" | "pass" => put("password", field.text()?.into()),
            "nkey" => put("nkey", field.text()?.into()),
            "permissions" | "permission" | "authorization" => put("permissions", permissions(&field)?),
            "allowed_connection_types" | "connection_types" | "clients" => {
                put("allowed_connection_types", connection_types(&field)?)
            }
            "proxy_required" => return Err(field.mistake(format!("\"{name}\" is not supported yet"))),
            _ if entry.used => None,
            _ => return Err(field.mistake(format!("unknown field \"{name}\""))),
        };
    }
    let at = Field { name, item };
    match (table.contains_key("nkey"), table.contains_key("user"), table.contains_key("password")) {
        (true, false, false) => {
            let nkey = table.get("nkey").and_then(|v| v.clone().into_string().ok()).unwrap_or_default();
            let known = nkey.starts_with('U') && nkeys::KeyPair::from_public_key(&nkey).is_ok();
            if !known {
                return Err(at.mistake("Not a valid public nkey for a user"));
            }
        }
        (true, _, _) => return Err(at.mistake("Nkey users do not take usernames or passwords")),
        (false, false, _) => return Err(at.mistake("User entry requires a user")),
        (false, true, _) => {}
    }
    Ok(Value::new(Some(&item.at.to_string()), table))
}

fn connection_types(field: &Field<'_>) -> Result<ValueKind, Mistake> {
    let types: Vec<String> = field.texts()?.into_iter().map(|t| t.to_uppercase()).collect();
    let unknown: Vec<&String> = types.iter().filter(|t| !CONNECTION_TYPES.contains(&t.as_str())).collect();
    if !unknown.is_empty() {
        return Err(field.mistake(format!("invalid connection types {unknown:?}")));
    }
    Ok(ValueKind::Array(types.into_iter().map(|t| Value::new(None, t)).collect()))
}

/// `publish`, `subscribe` and `allow_responses`.
fn permissions(field: &Field<'_>) -> Result<ValueKind, Mistake> {
    let mut table = Map::new();
    for (name, entry) in field.map()?.iter() {
        let field = Field { name, item: &entry.item };
        let (key, value) = match name.to_lowercase().as_str() {
            "publish" | "pub" | "import" => ("publish", subjects(&field, false)?),
            "subscribe" | "sub" | "export" => ("subscribe", subjects(&field, true)?),
            "allow_responses" | "allow_response" => match responses(&field)? {
                Some(value) => ("allow_responses", value),
                None => continue,
            },
            _ if entry.used => continue,
            _ => return Err(field.mistake(format!("Unknown field \"{name}\" parsing permissions"))),
        };
        table.insert(key.into(), Value::new(Some(&entry.item.at.to_string()), value));
    }
    Ok(ValueKind::Table(table))
}

/// A subject, a list of them, or `allow` and `deny` with one or the other each.
fn subjects(field: &Field<'_>, queues: bool) -> Result<ValueKind, Mistake> {
    let mut table = Map::new();
    let ConfValue::Map(map) = &field.item.value else {
        table.insert("allow".into(), subject_list(field, queues)?);
        return Ok(ValueKind::Table(table));
    };
    for (name, entry) in map.iter() {
        let field = Field { name, item: &entry.item };
        let key =
            match name.to_lowercase().as_str() {
                "allow" => "allow",
                "deny" => "deny",
                _ if entry.used => continue,
                _ => return Err(field.mistake(format!(
                    "Unknown field name \"{name}\" parsing subject permissions, only 'allow' or 'deny' are permitted"
                ))),
            };
        table.insert(key.into(), subject_list(&field, queues)?);
    }
    Ok(ValueKind::Table(table))
}

fn subject_list(field: &Field<'_>, queues: bool) -> Result<Value, Mistake> {
    let subjects = field.texts()?;
    for text in &subjects {
        // Behind a blank may stand a queue group, which is a pattern like a subject.
        let mut parts = text.split_whitespace();
        let valid = |part: Option<&str>| part.is_none_or(is_subject);
        let (subject, queue, more) = (parts.next(), parts.next(), parts.next());
        let good = subject.is_some() && valid(subject) && valid(queue) && more.is_none() && (queues || queue.is_none());
        if !good {
            return Err(field.mistake(format!("subject \"{text}\" is not a valid subject")));
        }
    }
    Ok(Value::new(None, subjects))
}

/// Tokens between dots, none of them empty, `>` only as the last.
fn is_subject(text: &str) -> bool {
    let mut tokens = text.split('.').peekable();
    while let Some(token) = tokens.next() {
        if token.is_empty() || (token == ">" && tokens.peek().is_some()) {
            return false;
        }
    }
    true
}

/// `true`, or how many and how long.
fn responses(field: &Field<'_>) -> Result<Option<ValueKind>, Mistake> {
    let mut table = Map::new();
    let map: &ConfMap = match &field.item.value {
        ConfValue::Bool(true) => return Ok(Some(ValueKind::Table(table))),
        ConfValue::Bool(false) => return Ok(None),
        ConfValue::Map(map) => map,
        _ => return Err(field.expected("a boolean or a map")),
    };
    for (name, entry) in map.iter() {
        let field = Field { name, item: &entry.item };
        match name.to_lowercase().as_str() {
            "max" | "max_msgs" | "max_messages" | "max_responses" => {
                // 0 leaves the default, a negative number is no limit.
                let max = field.integer()?;
                if max != 0 {
                    table.insert("max".into(), Value::new(None, max.max(-1)));
                }
            }
            "expires" | "expiration" | "ttl" => {
                let mut reading = Reading::default();
                let expires = reading.duration(&field)?;
                table.insert("expires".into(), Value::new(None, units::format_duration(expires)));
            }
            _ if entry.used => {}
            _ => return Err(field.mistake(format!("Unknown field \"{name}\" parsing permissions"))),
        }
    }
    Ok(Some(ValueKind::Table(table)))
}
