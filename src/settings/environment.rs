//! Settings from environment variables: `POSTROOM_SERVER__PORT=4333`.

use super::Settings;
use super::error::{Mistake, SettingsError};
use super::layer::Layer;
use super::toml_file::unknown;
use config::{Value, ValueKind};
use std::collections::BTreeMap;

/// What our variables begin with.
pub const PREFIX: &str = "POSTROOM_";

/// The layer that `variables` make. Two underscores stand for the dot of a path; lists are separated by commas.
///
/// A variable with our prefix but without two underscores is somebody else's: platforms set such by themselves for
/// every service they know (`POSTROOM_PORT=tcp://...`).
pub fn layer(variables: impl Iterator<Item = (String, String)>) -> Result<Layer, SettingsError> {
    let known = keys();
    let mut layer = Layer::default();
    let mut mistakes = Vec::new();
    for (name, text) in variables {
        let Some(path) = name.strip_prefix(PREFIX).filter(|rest| rest.contains("__")) else { continue };
        let path = path.to_lowercase().replace("__", ".");
        match known.get(&path) {
            Some(Shape::List) => {
                let items = text.split(',').map(str::trim).filter(|t| !t.is_empty());
                let items: Vec<Value> = items.map(|t| Value::new(Some(&name), t)).collect();
                layer.set(&path, ValueKind::Array(items), &name);
            }
            Some(Shape::One) => layer.set(&path, text, &name),
            None => mistakes.push(Mistake::new(&name, unknown(&path, &path, known.keys().map(String::as_str)))),
        }
    }
    if mistakes.is_empty() { Ok(layer) } else { Err(SettingsError::Mistakes(mistakes)) }
}

/// How a variable's text is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// As one value.
    One,
    /// As a list of texts.
    List,
}

/// Every setting that one variable can hold, by path: those that the defaults show, tables of free keys aside.
pub fn keys() -> BTreeMap<String, Shape> {
    let defaults = toml::Table::try_from(Settings::default()).expect("our own settings are a TOML table");
    let mut keys = BTreeMap::new();
    gather(&defaults, "", &mut keys);
    keys.remove("auth.users");
    keys
}

fn gather(table: &toml::Table, prefix: &str, keys: &mut BTreeMap<String, Shape>) {
    for (name, value) in table {
        let path = format!("{prefix}{name}");
        match value {
            toml::Value::Table(inner) => gather(inner, &format!("{path}."), keys),
            toml::Value::Array(_) => {
                keys.insert(path, Shape::List);
            }
            _ => {
                keys.insert(path, Shape::One);
            }
        }
    }
}
