//! What a `.conf` file says once parsed: values, each with the place it was written at, and their digest.

use indexmap::IndexMap;
use sha2::{Digest, Sha256};
use std::fmt::{self, Write};
use std::sync::Arc;

/// Where something stands: file, line and column, both from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The file as it was named.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A value of a config file. Reference section 9.2.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true`, `yes`, `on` and their opposites, unquoted.
    Bool(bool),
    /// Digits, with their size suffix already applied.
    Integer(i64),
    /// Digits, a point, digits.
    Float(f64),
    /// Anything quoted, blocks, and bare words that are nothing else.
    Text(String),
    /// `YYYY-MM-DDThh:mm:ssZ`, as written.
    DateTime(String),
    /// `[ ... ]`
    Array(Vec<Item>),
    /// `{ ... }`
    Map(Map),
}

impl Value {
    /// What kind of value it is, with its article.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Bool(_) => "a boolean",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a number with a point",
            Value::Text(_) => "a string",
            Value::DateTime(_) => "a date",
            Value::Array(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    /// A measure of the memory it takes: one for itself, its members, and every 16 bytes of text.
    pub fn weight(&self) -> usize {
        1 + match self {
            Value::Text(text) | Value::DateTime(text) => text.len() / 16,
            Value::Array(items) => items.iter().map(|i| i.value.weight()).sum(),
            Value::Map(map) => map.iter().map(|(key, e)| key.len() / 16 + e.item.value.weight()).sum(),
            _ => 0,
        }
    }

    /// How deep maps and lists are nested in it.
    pub fn depth(&self) -> usize {
        match self {
            Value::Array(items) => 1 + items.iter().map(|i| i.value.depth()).max().unwrap_or(0),
            Value::Map(map) => 1 + map.iter().map(|(_, e)| e.item.value.depth()).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// The value as JSON text: keys in order, escapes as the reference's encoder has them.
    fn write_json(&self, out: &mut String) {
        match self {
            Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Value::Integer(n) => push(out, format_args!("{n}")),
            Value::Float(x) => push(out, format_args!("{x}")),
            Value::Text(text) | Value::DateTime(text) => write_json_text(text, out),
            Value::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.value.write_json(out);
                }
                out.push(']');
            }
            Value::Map(map) => map.write_json(out),
        }
    }
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The value.
    pub value: Value,
    /// Where its key stands, or itself in a list.
    pub at: Position,
}

/// The value of a key, and whether a `$variable` was resolved by it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The value, at its key's place.
    pub item: Item,
    /// A key that serves as a variable need not mean anything else.
    pub used: bool,
}

/// A map in the order it was written; a key written twice has its last value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map(IndexMap<String, Entry>);

impl Map {
    /// The entries, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.0.iter().map(|(key, entry)| (key.as_str(), entry))
    }

    /// The entry of exactly this key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.0.get(key)
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn insert(&mut self, key: String, item: Item) {
        // A variable stays one when its key is written again.
        let used = self.0.get(&key).is_some_and(|old| old.used);
        self.0.insert(key, Entry { item, used });
    }

    pub(super) fn merge(&mut self, other: Map) {
        self.0.extend(other.0);
    }

    pub(super) fn use_as_variable(&mut self, key: &str) -> Option<Value> {
        let entry = self.0.get_mut(key)?;
        entry.used = true;
        Some(entry.item.value.clone())
    }

    /// `sha256:<hex>` over what the file says, whatever its spelling: the reference's `config_digest`.
    pub fn digest(&self) -> String {
        let mut json = String::new();
        self.write_json(&mut json);
        json.push('\n');
        let mut out = String::from("sha256:");
        for byte in Sha256::digest(json.as_bytes()) {
            push(&mut out, format_args!("{byte:02x}"));
        }
        out
    }

    fn write_json(&self, out: &mut String) {
        let mut sorted: Vec<_> = self.0.iter().collect();
        sorted.sort_by_key(|(key, _)| key.as_str());
        out.push('{');
        for (i, (key, entry)) in sorted.into_iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            write_json_text(key, out);
            out.push(':');
            entry.item.value.write_json(out);
        }
        out.push('}');
    }
}

fn write_json_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => push(out, format_args!("\\u{:04x}", c as u32)),
            c if (c as u32) < 0x20 => push(out, format_args!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn push(out: &mut String, text: fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a String does not fail");
}
