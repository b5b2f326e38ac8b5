//! What the keys of a `.conf` file mean: tables of keys with a [`Rule`] each, and one reader that follows them.
//!
//! Key names match in any case. Every mistake of a file is told, not only the first. Reference section 8.3.

mod auth;
mod jetstream;
mod rules;
mod top;

use super::value::{Entry, Item, Map, Value};
use crate::settings::error::{Mistake, nearest};
use crate::settings::layer::Layer;
use rules::{Key, Rule};

/// A file being understood.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) layer: Layer,
    pub(super) errors: Vec<Mistake>,
    pub(super) warnings: Vec<Mistake>,
}

impl Reading {
    /// The keys outside of every block.
    pub(super) fn top(&mut self, map: &Map) {
        self.block(map, top::KEYS);
    }

    /// Reads each key of a block as its table says.
    fn block(&mut self, map: &Map, keys: &[Key]) {
        for (name, entry) in map.iter() {
            if let Err(mistake) = self.key(name, entry, keys) {
                self.errors.push(mistake);
            }
        }
    }

    fn key(&mut self, name: &str, entry: &Entry, keys: &[Key]) -> Result<(), Mistake> {
        let lower = name.to_lowercase();
        let item = &entry.item;
        let Some(key) = keys.iter().find(|key| key.names.contains(&lower.as_str())) else {
            if entry.used {
                return Ok(());
            }
            let known = keys.iter().flat_map(|key| key.names.iter().copied());
            let hint = nearest(&lower, known).map(|k| format!(", did you mean \"{k}\"?")).unwrap_or_default();
            return Err(Mistake::new(&item.at, format!("unknown field \"{name}\"{hint}")));
        };
        let field = Field { name: key.names[0], item };
        match key.rule {
            Rule::Bool(path) => self.set(path, field.bool()?, item),
            Rule::Text(path) => self.set(path, field.text()?.to_string(), item),
            Rule::Count { path, max } => {
                let n = field.integer()?;
                if n > max {
                    return Err(field.mistake(format!("{} value is too big", field.name)));
                }
                self.set(path, n, item);
            }
            Rule::Positive { path, max } => {
                let n = field.integer()?;
                if n > max {
                    return Err(field.mistake(format!("{} value is too big", field.name)));
                }
                if n < 0 {
                    return Err(field.expected("a number that is not negative"));
                }
                self.set(path, n, item);
            }
            Rule::Duration(path) => {
                let duration = self.duration(&field)?;
                self.set(path, crate::settings::units::format_duration(duration), item);
            }
            Rule::Special(read) => read(self, &field)?,
            Rule::Ignored => {}
            Rule::NotYet => return Err(field.mistake(format!("\"{name}\" is not supported yet"))),
        }
        Ok(())
    }

    fn set(&mut self, path: &str, value: impl Into<config::ValueKind>, item: &Item) {
        self.layer.set(path, value, &item.at.to_string());
    }

    /// A duration in quotes; a bare integer means seconds, and is probably a mistake.
    fn duration(&mut self, field: &Field<'_>) -> Result<std::time::Duration, Mistake> {
        use crate::settings::units::parse_duration;
        match &field.item.value {
            Value::Text(text) => {
                // What is negative has passed already.
                let (negative, rest) = text.strip_prefix('-').map_or((false, text.as_str()), |rest| (true, rest));
                let parsed = parse_duration(rest).map(|d| if negative { std::time::Duration::ZERO } else { d });
                parsed.ok_or_else(|| {
                    field.mistake(format!("error parsing {}: time: invalid duration \"{text}\"", field.name))
                })
            }
            Value::Integer(seconds) => {
                self.warnings.push(field.mistake(format!(
                    "invalid use of field \"{0}\": {0} should be converted to a duration; {seconds} is taken as {seconds} seconds",
                    field.name
                )));
                let most = i64::MAX as u64 / 1_000_000_000;
                Ok(std::time::Duration::from_secs(u64::try_from(*seconds).unwrap_or(0).min(most)))
            }
            _ => Err(field.expected("a duration in quotes, as in \"10s\"")),
        }
    }
}

/// A key by its first name, with its value: the ways to take the value as some type, or to say why not.
struct Field<'a> {
    name: &'a str,
    item: &'a Item,
}

impl<'a> Field<'a> {
    fn mistake(&self, text: impl Into<String>) -> Mistake {
        Mistake::new(&self.item.at, text)
    }

    fn expected(&self, what: &str) -> Mistake {
        let value = &self.item.value;
        let hint = match value {
            Value::Integer(_) | Value::DateTime(_) | Value::Float(_) if what == A_STRING => "; put it in quotes",
            _ => "",
        };
        self.mistake(format!("{}: expected {what}, found {}{hint}", self.name, value.kind()))
    }

    fn bool(&self) -> Result<bool, Mistake> {
        match self.item.value {
            Value::Bool(b) => Ok(b),
            _ => Err(self.expected("a boolean, true or false")),
        }
    }

    fn text(&self) -> Result<&'a str, Mistake> {
        match &self.item.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.expected(A_STRING)),
        }
    }

    fn integer(&self) -> Result<i64, Mistake> {
        match self.item.value {
            Value::Integer(n) => Ok(n),
            _ => Err(self.expected("an integer")),
        }
    }

    fn map(&self) -> Result<&'a Map, Mistake> {
        match &self.item.value {
            Value::Map(map) => Ok(map),
            _ => Err(self.expected("a map")),
        }
    }

    fn list(&self) -> Result<&'a [Item], Mistake> {
        match &self.item.value {
            Value::Array(items) => Ok(items),
            _ => Err(self.expected("a list")),
        }
    }

    /// A string, or a list of strings.
    fn texts(&self) -> Result<Vec<String>, Mistake> {
        match &self.item.value {
            Value::Text(text) => Ok(vec![text.clone()]),
            Value::Array(items) => {
                items.iter().map(|item| Field { name: self.name, item }.text().map(String::from)).collect()
            }
            _ => Err(self.expected("a string or a list of strings")),
        }
    }
}

const A_STRING: &str = "a string";
