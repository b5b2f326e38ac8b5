//! Whether settings fit together, wherever they came from.

use super::error::Mistake;
use super::units::format_duration;
use super::{AuthSettings, MAX_PAYLOAD_WARNING, MAX_SUB_TOKENS, MIN_LAME_DUCK_DURATION, Settings, UserSettings};
use std::collections::HashSet;

/// Everything that keeps a server with these settings from starting; empty if nothing does.
pub fn mistakes(settings: &Settings) -> Vec<Mistake> {
    let mut texts = Vec::new();
    server(settings, &mut texts);
    buffers(settings, &mut texts);
    auth(&settings.auth, &mut texts);
    waiting(settings, &mut texts);
    if settings.stats.enabled && !settings.stats.subject.is_empty() && !settings.stats.subject.ends_with(".>") {
        texts.push(format!("stats.subject (\"{}\") must end in \".>\"", settings.stats.subject));
    }
    if settings.stats.enabled && settings.stats.interval.is_zero() {
        texts.push("stats.interval must be more than zero".into());
    }
    texts.into_iter().map(|text| Mistake::new("", text)).collect()
}

/// What is worth telling at start.
pub fn warnings(settings: &Settings) -> Vec<Mistake> {
    let mut texts = Vec::new();
    if settings.server.max_payload > MAX_PAYLOAD_WARNING {
        texts.push(format!(
            "Maximum payloads over {MAX_PAYLOAD_WARNING} bytes are generally discouraged and could lead to poor performance"
        ));
    }
    texts.into_iter().map(|text| Mistake::new("", text)).collect()
}

fn server(settings: &Settings, texts: &mut Vec<String>) {
    let server = &settings.server;
    if server.name.as_deref().is_some_and(|name| name.contains(' ')) {
        texts.push("server name cannot contain spaces".into());
    }
    let pending = i64::try_from(server.max_pending).unwrap_or(i64::MAX);
    if server.max_payload > pending {
        texts.push(format!("max_payload ({}) cannot be higher than max_pending ({pending})", server.max_payload));
    }
    let (duration, grace) = (server.lame_duck_duration, server.lame_duck_grace_period);
    if duration < MIN_LAME_DUCK_DURATION {
        texts.push(format!("invalid lame_duck_duration of {}, minimum is 30 seconds", format_duration(duration)));
    }
    if grace >= duration {
        texts.push(format!(
            "lame duck grace period ({}) should be strictly lower than lame duck duration ({})",
            format_duration(grace),
            format_duration(duration)
        ));
    }
    if server.max_sub_tokens > MAX_SUB_TOKENS {
        texts.push("max_sub_tokens value is too big".into());
    }
}

/// Buffers that would stand still, or never be let go.
fn buffers(settings: &Settings, texts: &mut Vec<String>) {
    let (network, store) = (&settings.network, &settings.store);
    if network.stall_below > network.stall_above {
        texts.push("network.stall_below cannot be higher than network.stall_above".into());
    }
    if network.read_buffer > network.read_buffer_max {
        texts.push("network.read_buffer cannot be higher than network.read_buffer_max".into());
    }
    if store.journal_first_slot_bytes > store.journal_slot_bytes {
        texts.push("store.journal_first_slot_bytes cannot be higher than store.journal_slot_bytes".into());
    }
    let positive = [
        ("network.read_buffer", network.read_buffer as u64),
        ("network.drained_every", network.drained_every as u64),
        ("server.max_control_line", settings.server.max_control_line as u64),
        ("server.max_pending", settings.server.max_pending as u64),
        ("store.hot_bytes", store.hot_bytes as u64),
        ("store.journal_first_slot_bytes", store.journal_first_slot_bytes),
        ("jetstream.request_queue_limit", settings.jetstream.request_queue_limit as u64),
    ];
    texts.extend(positive.iter().filter(|(_, n)| *n == 0).map(|(key, _)| format!("{key} must be more than zero")));
}

/// Reference section 3.1, "Config conflicts".
fn auth(auth: &AuthSettings, texts: &mut Vec<String>) {
    let single = auth.user.is_some() || auth.password.is_some();
    if single && auth.token.is_some() {
        texts.push("Cannot have a user/pass and token".into());
    }
    if single && !auth.users.is_empty() {
        texts.push("Can not have a single user/pass and a users array".into());
    }
    if auth.token.is_some() && !auth.users.is_empty() {
        texts.push("Can not have a token and a users array".into());
    }
    let (mut users, mut nkeys) = (HashSet::new(), HashSet::new());
    for user in &auth.users {
        match (&user.user, &user.nkey) {
            (Some(_), Some(_)) => texts.push("Nkey users do not take usernames or passwords".into()),
            (None, None) => texts.push("User entry requires a user".into()),
            (Some(name), None) if !users.insert(name) => texts.push(format!("Duplicate user \"{name}\" detected")),
            (None, Some(nkey)) if !nkeys.insert(nkey) => texts.push(format!("Duplicate nkey \"{nkey}\" detected")),
            _ => {}
        }
    }
    if let Some(name) = &auth.no_auth_user {
        if auth.users.is_empty() {
            texts.push(format!("no_auth_user: \"{name}\" present, but users/nkeys are not defined"));
        } else if !users.contains(name) && !nkeys.contains(name) {
            texts.push(format!(
                "no_auth_user: \"{name}\" not present as user or nkey in authorization block or account configuration"
            ));
        }
    }
}

/// What can be said already but nothing in this server acts on yet. To ignore it could leave a door open.
fn waiting(settings: &Settings, texts: &mut Vec<String>) {
    let auth = &settings.auth;
    let any = |has: fn(&UserSettings) -> bool| auth.users.iter().any(has);
    let asked = [
        ("permissions", auth.default_permissions.is_some() || any(|user| user.permissions.is_some())),
        ("nkey", any(|user| user.nkey.is_some())),
        ("allowed_connection_types", any(|user| !user.allowed_connection_types.is_empty())),
    ];
    let asked = asked.iter().filter(|(_, asked)| *asked);
    texts.extend(asked.map(|(name, _)| format!("auth: \"{name}\" is not supported yet")));
}
