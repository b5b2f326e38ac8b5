//! The keys outside of every block.

use super::rules::{INT32, Key, Rule, key};
use super::{Field, Reading, auth, jetstream};
use crate::settings::error::Mistake;
use crate::settings::{MAX_SUB_TOKENS, MIN_LAME_DUCK_DURATION, units};
use config::{Map, Value, ValueKind};

/// Reference section 8.3, "Top level".
#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key(&["listen"], Rule::Special(listen)),
    key(&["port"], Rule::Special(port)),
    key(&["host", "net"], Rule::Special(host)),
    key(&["client_advertise"], Rule::Text("server.client_advertise")),
    key(&["server_name"], Rule::Special(server_name)),
    key(&["server_tags"], Rule::Special(server_tags)),
    key(&["server_metadata"], Rule::Special(server_metadata)),
    key(&["feature_flags"], Rule::Special(feature_flags)),
    key(&["debug"], Rule::Bool("log.debug")),
    key(&["trace"], Rule::Bool("log.trace")),
    key(&["trace_verbose"], Rule::Bool("log.trace_verbose")),
    key(&["trace_headers"], Rule::Bool("log.trace_headers")),
    key(&["max_traced_msg_len"], Rule::Positive { path: "log.max_traced_msg_len", max: i64::MAX }),
    key(&["logtime"], Rule::Bool("log.time")),
    key(&["logtime_utc"], Rule::Bool("log.utc")),
    key(&["log_file", "logfile"], Rule::Text("log.file")),
    key(&["log_size_limit", "logfile_size_limit"], Rule::Positive { path: "log.size_limit", max: i64::MAX }),
    key(&["log_max_num", "logfile_max_num"], Rule::Positive { path: "log.max_files", max: INT32 }),
    key(&["pid_file", "pidfile"], Rule::Text("server.pid_file")),
    key(&["ports_file_dir"], Rule::Text("server.ports_file_dir")),
    key(&["max_connections", "max_conn"], Rule::Special(max_connections)),
    key(&["max_subscriptions", "max_subs"], Rule::Special(max_subscriptions)),
    key(&["max_sub_tokens", "max_subscription_tokens"], Rule::Positive { path: "server.max_sub_tokens", max: MAX_SUB_TOKENS as i64 }),
    key(&["max_control_line"], Rule::Special(max_control_line)),
    key(&["max_payload"], Rule::Special(max_payload)),
    key(&["max_pending"], Rule::Special(max_pending)),
    key(&["max_closed_clients"], Rule::Positive { path: "server.max_closed_clients", max: INT32 }),
    key(&["ping_interval"], Rule::Special(ping_interval)),
    key(&["ping_max"], Rule::Special(ping_max)),
    key(&["write_deadline"], Rule::Special(write_deadline)),
    key(&["write_timeout"], Rule::Special(write_timeout)),
    key(&["lame_duck_duration"], Rule::Special(lame_duck_duration)),
    key(&["lame_duck_grace_period"], Rule::Duration("server.lame_duck_grace_period")),
    key(&["no_header_support"], Rule::Bool("server.no_header_support")),
    key(&["no_fast_producer_stall"], Rule::Bool("server.no_fast_producer_stall")),
    key(&["authorization"], Rule::Special(auth::authorization)),
    key(&["no_auth_user"], Rule::Text("auth.no_auth_user")),
    key(&["jetstream"], Rule::Special(jetstream::jetstream)),
    key(&["store_dir", "storedir"], Rule::Text("jetstream.store_dir")),

    key(&["prof_port", "prof_block_rate"], Rule::Ignored),
    key(&["disable_sublist_cache", "no_sublist_cache"], Rule::Ignored),
    key(&["connect_error_reports", "reconnect_error_reports"], Rule::Ignored),

    key(&["http", "http_port", "monitor_port", "https", "https_port", "http_base_path"], Rule::NotYet),
    key(&["syslog", "remote_syslog"], Rule::NotYet),
    key(&["accounts", "system_account", "system", "no_system_account", "no_system", "no_sys_acc"], Rule::NotYet),
    key(&["operator", "operators", "root", "roots", "root_operator", "root_operators", "trusted_keys", "trusted"], Rule::NotYet),
    key(&["resolver", "account_resolver", "accounts_resolver", "resolver_preload", "resolver_tls", "resolver_pinned_accounts"], Rule::NotYet),
    key(&["default_sentinel", "default_js_domain", "mappings", "maps"], Rule::NotYet),
    key(&["tls", "allow_non_tls", "ocsp", "ocsp_cache", "proxy_protocol", "proxies"], Rule::NotYet),
    key(&["websocket", "ws", "leafnodes", "leaf", "mqtt", "cluster", "gateway"], Rule::NotYet),
];

/// A port, or `host:port` where the host may be left out.
fn listen(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    let text = match &field.item.value {
        crate::settings::conf::Value::Integer(_) => return port(reading, field),
        _ => field.text()?,
    };
    let bad = || field.mistake(format!("could not parse address string \"{text}\""));
    let (host, port) = text.rsplit_once(':').ok_or_else(bad)?;
    let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
    let port: i64 = port.parse().map_err(|_| field.mistake(format!("could not parse port \"{port}\"")))?;
    if !host.is_empty() {
        reading.set("server.host", host.to_string(), field.item);
    }
    set_port(reading, field, port)
}

fn port(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    set_port(reading, field, field.integer()?)
}

/// 0 is the usual port, as in the reference; -1 any free one.
fn set_port(reading: &mut Reading, field: &Field<'_>, port: i64) -> Result<(), Mistake> {
    match port {
        0 => {}
        -1..=65535 => reading.set("server.port", port, field.item),
        _ => return Err(field.mistake(format!("{}: expected a port from -1 to 65535, found {port}", field.name))),
    }
    Ok(())
}

fn host(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    let host = field.text()?;
    if !host.is_empty() {
        reading.set("server.host", host.to_string(), field.item);
    }
    Ok(())
}

fn server_name(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    let name = field.text()?;
    if name.contains(' ') {
        return Err(field.mistake("server name cannot contain spaces"));
    }
    reading.set("server.name", name.to_string(), field.item);
    Ok(())
}

fn server_tags(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    let tags = field.texts().map_err(|m| Mistake { text: format!("error parsing tags: {}", m.text), ..m })?;
    let tags: Vec<Value> = tags.into_iter().map(|tag| Value::new(None, tag.to_lowercase())).collect();
    reading.set("server.tags", ValueKind::Array(tags), field.item);
    Ok(())
}

fn server_metadata(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    let mut table = Map::new();
    for (name, entry) in field.map()?.iter() {
        let text = Field { name, item: &entry.item }.text()?;
        table.insert(name.to_string(), Value::new(None, text));
    }
    reading.set("server.metadata", ValueKind::Table(table), field.item);
    Ok(())
}

fn feature_flags(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    let mut table = Map::new();
    for (name, entry) in field.map()?.iter() {
        let flag = Field { name, item: &entry.item }.bool()?;
        table.insert(name.to_string(), Value::new(None, flag));
    }
    reading.set("server.feature_flags", ValueKind::Table(table), field.item);
    Ok(())
}

/// 0 refuses everybody, like a negative number.
fn max_connections(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    let n = field.integer()?;
    reading.set("server.max_connections", if n == 0 { -1 } else { n }, field.item);
    Ok(())
}

/// Nothing but a positive number is a limit.
fn max_subscriptions(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    reading.set("server.max_subscriptions", field.integer()?.max(0), field.item);
    Ok(())
}

/// A number of bytes within 32 bits; 0 leaves the default.
fn bytes(reading: &mut Reading, field: &Field<'_>, path: &str, min: i64, max: i64) -> Result<(), Mistake> {
    match field.integer()? {
        0 => {}
        n if n > max => return Err(field.mistake(format!("{} value is too big", field.name))),
        n if n < min => return Err(field.expected("a number that is not negative")),
        n => reading.set(path, n, field.item),
    }
    Ok(())
}

fn max_control_line(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    bytes(reading, field, "server.max_control_line", 0, INT32)
}

fn max_payload(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    bytes(reading, field, "server.max_payload", i64::MIN, INT32)
}

fn max_pending(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    bytes(reading, field, "server.max_pending", 0, i64::MAX)
}

/// As [`Reading::duration`]; 0 leaves the default.
fn duration_or_default(reading: &mut Reading, field: &Field<'_>, path: &str) -> Result<(), Mistake> {
    let negative = matches!(&field.item.value, crate::settings::conf::Value::Text(t) if t.starts_with('-'));
    let duration = reading.duration(field)?;
    if negative || !duration.is_zero() {
        reading.set(path, units::format_duration(duration), field.item);
    }
    Ok(())
}

fn ping_interval(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    duration_or_default(reading, field, "server.ping_interval")
}

fn write_deadline(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    duration_or_default(reading, field, "server.write_deadline")
}

/// 0 leaves the default; a negative number lets no PING pass unanswered.
fn ping_max(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    match field.integer()? {
        0 => {}
        n => reading.set("server.ping_max", n.clamp(0, INT32), field.item),
    }
    Ok(())
}

fn write_timeout(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    match field.text()? {
        text @ ("default" | "close" | "retry") => reading.set("server.write_timeout", text, field.item),
        _ => return Err(field.mistake("write_timeout must be 'default', 'close' or 'retry'")),
    }
    Ok(())
}

fn lame_duck_duration(reading: &mut Reading, field: &Field<'_>) -> Result<(), Mistake> {
    let duration = reading.duration(field)?;
    let text = units::format_duration(duration);
    if duration < MIN_LAME_DUCK_DURATION {
        return Err(field.mistake(format!("invalid lame_duck_duration of {text}, minimum is 30 seconds")));
    }
    reading.set("server.lame_duck_duration", text, field.item);
    Ok(())
}
