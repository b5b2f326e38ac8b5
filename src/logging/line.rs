//! One line of the log, as text or JSON.

use crate::settings::{LogFormat, LogSettings};
use jiff::{Timestamp, tz::TimeZone};
use serde_json::{Map, Value};
use std::fmt::{self, Write};
use tracing::field::{Field, Visit};
use tracing::{Level, Metadata};

/// The target of an event that makes the server end; see [`fatal!`](crate::fatal).
pub const FATAL: &str = "postroom::fatal";

/// The tag of an event's level.
pub(super) fn tag(metadata: &Metadata<'_>) -> &'static str {
    match *metadata.level() {
        Level::ERROR if metadata.target() == FATAL => "FTL",
        Level::ERROR => "ERR",
        Level::WARN => "WRN",
        Level::INFO => "INF",
        Level::DEBUG => "DBG",
        Level::TRACE => "TRC",
    }
}

/// The zone of this machine. `TimeZone::system` asks a database that lists some twenty folders first, a millisecond of
/// a start; the file that says what time it is here is enough, unless `TZ` says otherwise.
fn local_zone() -> TimeZone {
    let told = std::env::var_os("TZ").is_some();
    let file = || TimeZone::tzif("Local", &std::fs::read("/etc/localtime").ok()?).ok();
    (!told).then(file).flatten().unwrap_or_else(TimeZone::system)
}

/// Writes lines in one form.
#[derive(Clone, Debug)]
pub(super) struct Form {
    json: bool,
    time: bool,
    zone: TimeZone,
    pid: u32,
}

impl Form {
    pub(super) fn new(settings: &LogSettings) -> Self {
        Self {
            json: settings.format == LogFormat::Json,
            time: settings.time,
            zone: if settings.utc { TimeZone::UTC } else { local_zone() },
            pid: std::process::id(),
        }
    }

    /// The line of something told at `now`, with its line end.
    pub(super) fn line(&self, now: Timestamp, tag: &str, told: &Told) -> String {
        if self.json { self.json(now, tag, told) } else { self.text(now, tag, told) }
    }

    fn text(&self, now: Timestamp, tag: &str, told: &Told) -> String {
        let mut line = format!("[{}] ", self.pid);
        if self.time {
            let zoned = now.to_zoned(self.zone.clone());
            put(&mut line, format_args!("{} ", zoned.strftime("%Y/%m/%d %H:%M:%S.%6f")));
        }
        put(&mut line, format_args!("[{tag}] "));
        put_printable(&mut line, &told.message);
        for (name, value) in &told.fields {
            put(&mut line, format_args!(" {name}="));
            match value {
                Value::String(text) if text.is_empty() || text.contains([' ', '"', '=']) => {
                    put(&mut line, format_args!("{text:?}"));
                }
                Value::String(text) => put_printable(&mut line, text),
                value => put(&mut line, format_args!("{value}")),
            }
        }
        line.push('\n');
        line
    }

    fn json(&self, now: Timestamp, tag: &str, told: &Told) -> String {
        let mut object = Map::new();
        if self.time {
            object.insert("time".into(), Value::String(now.to_string()));
        }
        object.insert("level".into(), tag.into());
        object.insert("pid".into(), self.pid.into());
        object.insert("message".into(), told.message.clone().into());
        for (name, value) in &told.fields {
            object.entry(*name).or_insert_with(|| value.clone());
        }
        format!("{}\n", Value::Object(object))
    }
}

/// What an event says: its message, and its other fields in order.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) message: String,
    pub(super) fields: Vec<(&'static str, Value)>,
}

impl Visit for Told {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        match field.name() {
            "message" => self.message = text,
            name => self.fields.push((name, Value::String(text))),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message = value.into(),
            name => self.fields.push((name, value.into())),
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.fields.push((field.name(), value.into()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.fields.push((field.name(), value.into()));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.fields.push((field.name(), value.into()));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.fields.push((field.name(), value.into()));
    }
}

/// Appends text that may come from clients: what would move the cursor or begin a new line is shown, not done.
fn put_printable(line: &mut String, text: &str) {
    for c in text.chars() {
        if c.is_control() && c != '\t' { line.extend(c.escape_default()) } else { line.push(c) }
    }
}

fn put(line: &mut String, text: fmt::Arguments<'_>) {
    // Writing to a String fails only if a value's own formatting does; the line is then shorter.
    let _ = line.write_fmt(text);
}
