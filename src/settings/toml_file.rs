//! Our own file format: TOML, checked so that a mistake is told by file, line, column and key.

use super::Settings;
use super::error::{Mistake, SettingsError, nearest};
use std::ops::Range;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// Checks that `text` is settings and nothing else; `path` names it in errors.
pub fn check(text: &str, path: &Path) -> Result<(), SettingsError> {
    let error = match toml::from_str::<Settings>(text) {
        Ok(_) => return Ok(()),
        Err(error) => error,
    };
    let span = error.span().unwrap_or(0..0);
    let (line, column) = line_and_column(text, span.start);
    let place = format!("{}:{line}:{column}", path.display());
    let key = DeTable::parse(text).ok().and_then(|table| key_at(table.get_ref(), &span)).unwrap_or_default();
    Err(Mistake::new(place, explain(error.message(), &key)).into())
}

/// The parser's message in terms of our keys.
fn explain(message: &str, key: &str) -> String {
    let message = message.trim().replace('\n', ", ");
    if let Some(rest) = message.strip_prefix("unknown field `") {
        let mut names = rest.split('`').step_by(2);
        let word = names.next().unwrap_or_default();
        let known = names.collect::<Vec<_>>();
        return unknown(if key.is_empty() { word } else { key }, word, known);
    }
    let message = in_words(&message);
    if key.is_empty() { message } else { format!("{key}: {message}") }
}

/// The names of our types say nothing to whoever writes a file.
fn in_words(message: &str) -> String {
    let Some((before, name)) = message.rsplit_once("expected ") else { return message.into() };
    let words = match name {
        "usize" | "u32" | "u64" => "a whole number from 0",
        "i64" => "a whole number",
        other => other,
    };
    format!("{before}expected {words}")
}

/// `unknown key "server.prot", did you mean "port"?`
pub fn unknown<'a>(path: &str, word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(word, known) {
        Some(near) => format!("unknown key \"{path}\", did you mean \"{near}\"?"),
        None => format!("unknown key \"{path}\""),
    }
}

/// Line and column, from 1, of a byte.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// The path of the innermost key that stands at `span`, or whose value does.
fn key_at(table: &DeTable<'_>, span: &Range<usize>) -> Option<String> {
    for (key, value) in table.iter() {
        let inside = |outer: Range<usize>| outer.start <= span.start && span.end <= outer.end;
        let name = key.get_ref();
        if inside(key.span()) {
            return Some(name.to_string());
        }
        let deeper = match value.get_ref() {
            DeValue::Table(table) => key_at(table, span),
            DeValue::Array(items) => items.iter().find_map(|item| match item.get_ref() {
                DeValue::Table(table) => key_at(table, span),
                _ => None,
            }),
            _ => None,
        };
        if let Some(deeper) = deeper {
            return Some(format!("{name}.{deeper}"));
        }
        if inside(value.span()) {
            return Some(name.to_string());
        }
    }
    None
}
