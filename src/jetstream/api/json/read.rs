use super::schema::{Choice, Kind, Refusal, Schema};
use super::syntax::{self, skip_blanks};
use super::text::{quote, unquote};
use crate::jetstream::time;
use serde_json::{Map, Value};

/// Reads one document, whose syntax has been checked, into the members of an object.
///
/// As in the reference, a wrong type or an unknown member is remembered and reading goes on: the first of them is the
/// error, unless a value that reads itself (a choice, a time) is wrong, which ends it at once.
pub(super) struct Reader {
    schema: &'static Schema,
    strict: bool,
    path: Vec<Step>,
    first_error: Option<String>,
}

enum Step {
    Member(String),
    Place(usize),
}

/// A value that ended reading; its text is the error.
struct Abort(String);

impl Reader {
    pub(super) fn new(schema: &'static Schema, strict: bool) -> Self {
        Self { schema, strict, path: Vec::new(), first_error: None }
    }

    /// What earlier documents left in `members` is kept where this one says nothing.
    pub(super) fn document(mut self, raw: &[u8], members: &mut Map<String, Value>) -> Result<(), String> {
        match raw.first() {
            Some(b'{') => self.object(raw, self.schema, members).map_err(|Abort(text)| text)?,
            Some(b'n') => {}
            _ => self.mismatch(raw, &Kind::Object(self.schema)),
        }
        self.first_error.map_or(Ok(()), Err)
    }

    fn object(&mut self, raw: &[u8], schema: &'static Schema, into: &mut Map<String, Value>) -> Result<(), Abort> {
        for (key, value) in pairs(raw) {
            let key = unquote(key);
            let Some(member) = schema.member(&key) else {
                if self.strict {
                    self.error(|| format!("json: unknown field {}", quote(&key)));
                }
                continue;
            };
            self.path.push(Step::Member(member.name.to_string()));
            let before = into.remove(member.name);
            if let Some(value) = self.value(value, &member.kind, before)? {
                into.insert(member.name.to_string(), value);
            }
            self.path.pop();
        }
        Ok(())
    }

    /// The new value of a member that was `before`; `None` for not given.
    fn value(&mut self, raw: &[u8], kind: &Kind, before: Option<Value>) -> Result<Option<Value>, Abort> {
        if raw == b"null" {
            return Ok(match kind {
                Kind::Choice(choice) => return Err(refusal(choice, raw)),
                Kind::Object(_) | Kind::List(_) | Kind::Texts | Kind::Time => None,
                _ => before,
            });
        }
        let fits = match (kind, raw.first()) {
            (Kind::Ignored, _) => return Ok(None),
            (Kind::Choice(choice), _) => return choose(choice, raw).map(Some),
            (Kind::Bool, Some(b't')) => Some(Value::Bool(true)),
            (Kind::Bool, Some(b'f')) => Some(Value::Bool(false)),
            (Kind::String, Some(b'"')) => Some(Value::String(unquote(raw))),
            (Kind::Time, Some(b'"')) => {
                let text = unquote(raw);
                time::parse(&text).map_err(Abort)?;
                Some(Value::String(text))
            }
            (Kind::Object(schema), Some(b'{')) => {
                let mut members = match before {
                    Some(Value::Object(members)) => members,
                    _ => Map::new(),
                };
                self.object(raw, schema, &mut members)?;
                Some(Value::Object(members))
            }
            (Kind::List(of), Some(b'[')) => Some(Value::Array(self.list(raw, of)?)),
            (Kind::Texts, Some(b'{')) => Some(Value::Object(self.texts(raw, before)?)),
            (kind, Some(b'-' | b'0'..=b'9')) => integer(raw, kind),
            _ => None,
        };
        if fits.is_none() {
            self.mismatch(raw, kind);
        }
        Ok(fits)
    }

    fn list(&mut self, raw: &[u8], of: &'static Kind) -> Result<Vec<Value>, Abort> {
        let mut list = Vec::new();
        for (place, item) in items(raw).enumerate() {
            self.path.push(Step::Place(place));
            // What is missing or wrong leaves a zero value in its place.
            list.push(self.value(item, of, None)?.unwrap_or_else(|| zero(of)));
            self.path.pop();
        }
        Ok(list)
    }

    fn texts(&mut self, raw: &[u8], before: Option<Value>) -> Result<Map<String, Value>, Abort> {
        let mut texts = match before {
            Some(Value::Object(texts)) => texts,
            _ => Map::new(),
        };
        for (key, value) in pairs(raw) {
            let key = unquote(key);
            self.path.push(Step::Member(key.clone()));
            let text = self.value(value, &Kind::String, None)?.unwrap_or_else(|| zero(&Kind::String));
            texts.insert(key, text);
            self.path.pop();
        }
        Ok(texts)
    }

    fn error(&mut self, text: impl FnOnce() -> String) {
        if self.first_error.is_none() {
            self.first_error = Some(text());
        }
    }

    fn mismatch(&mut self, raw: &[u8], kind: &Kind) {
        if self.first_error.is_none() {
            let into = self.place();
            let text = format!("json: cannot unmarshal {} into {into} of type {}", shown(raw, kind), kind.type_name());
            self.first_error = Some(text);
        }
    }

    /// `Go struct field StreamConfigRequest.sources.0.name`
    fn place(&self) -> String {
        let mut text = match self.path.last() {
            None => return "Go value".to_string(),
            Some(Step::Member(_)) => "Go struct field ".to_string(),
            Some(Step::Place(_)) => String::new(),
        };
        text.push_str(self.schema.name);
        for step in &self.path {
            text.push('.');
            match step {
                Step::Member(name) => text.push_str(name),
                Step::Place(place) => text.push_str(&place.to_string()),
            }
        }
        text
    }
}

/// The kind of a value as error texts name it; a number that does not fit is shown itself.
fn shown(raw: &[u8], kind: &Kind) -> String {
    match raw.first() {
        Some(b'{') => "object".into(),
        Some(b'[') => "array".into(),
        Some(b'"') => "string".into(),
        Some(b't' | b'f') => "bool".into(),
        _ if kind.range().is_some() => format!("number {}", String::from_utf8_lossy(raw)),
        _ => "number".into(),
    }
}

fn integer(raw: &[u8], kind: &Kind) -> Option<Value> {
    let (least, most) = kind.range()?;
    let number: i128 = std::str::from_utf8(raw).ok()?.parse().ok()?;
    if number < least || number > most {
        return None;
    }
    Some(match i64::try_from(number) {
        Ok(number) => number.into(),
        Err(_) => u64::try_from(number).ok()?.into(),
    })
}

fn choose(choice: &Choice, raw: &[u8]) -> Result<Value, Abort> {
    let sent = String::from_utf8_lossy(raw);
    let text = sent.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let known = |text: &str| {
        let same = |known: &str| if choice.any_case { known.eq_ignore_ascii_case(text) } else { known == text };
        choice.texts.iter().find(|(known, _)| same(known)).map(|(_, meaning)| Value::from(*meaning))
    };
    text.and_then(known).ok_or_else(|| refusal(choice, raw))
}

fn refusal(choice: &Choice, raw: &[u8]) -> Abort {
    let sent = String::from_utf8_lossy(raw);
    Abort(match choice.refusal {
        Refusal::CanNotUnmarshal => format!("can not unmarshal {}", quote(&sent)),
        Refusal::With(text) => format!("{text}{sent}"),
        Refusal::Plain(text) => text.to_string(),
    })
}

fn zero(kind: &Kind) -> Value {
    match kind {
        Kind::Bool => false.into(),
        Kind::String => "".into(),
        Kind::List(_) => Value::Array(Vec::new()),
        Kind::Object(_) | Kind::Texts => Value::Object(Map::new()),
        Kind::Choice(choice) => choice.texts.first().map_or(Value::Null, |(_, meaning)| (*meaning).into()),
        Kind::Time | Kind::Ignored => Value::Null,
        Kind::Int | Kind::Int32 | Kind::Int64 | Kind::Uint64 | Kind::Duration => 0.into(),
    }
}

/// The names, with their quotes, and the values of an object.
fn pairs(raw: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut at = 1;
    std::iter::from_fn(move || {
        let key = next(raw, &mut at)?;
        let value = next(raw, &mut at)?;
        Some((key, value))
    })
}

/// The elements of an array.
fn items(raw: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 1;
    std::iter::from_fn(move || next(raw, &mut at))
}

/// The next value in an object or array, past the punctuation before it.
fn next<'a>(raw: &'a [u8], at: &mut usize) -> Option<&'a [u8]> {
    let mut start = skip_blanks(raw, *at);
    while let Some(b',' | b':') = raw.get(start) {
        start = skip_blanks(raw, start + 1);
    }
    let end = syntax::document(raw, start).ok()?;
    *at = end;
    raw.get(start..end)
}
