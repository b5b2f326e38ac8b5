use serde::de::DeserializeOwned;

/// A struct that can be decoded from a request. Its `Deserialize` must take members left out for their defaults.
pub trait Decode: DeserializeOwned {
    const SCHEMA: &'static Schema;
}

/// The members of an object.
#[derive(Debug)]
pub struct Schema {
    /// The name of the type, as error texts show it.
    pub name: &'static str,
    /// In groups, so that a request can consist of a configuration and some members more.
    pub members: &'static [&'static [Member]],
}

#[derive(Debug)]
pub struct Member {
    /// Requests may spell it in any case.
    pub name: &'static str,
    pub kind: Kind,
}

/// What a value may be. `null` leaves a plain value as it is, and empties the others.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Bool,
    String,
    /// A count; `int` in error texts.
    Int,
    Int32,
    Int64,
    Uint64,
    /// Nanoseconds.
    Duration,
    /// RFC 3339, kept as it was sent.
    Time,
    Choice(&'static Choice),
    Object(&'static Schema),
    List(&'static Kind),
    /// Names of the sender's own with strings.
    Texts,
    /// Anything; not kept.
    Ignored,
}

/// One of a few texts.
#[derive(Debug)]
pub struct Choice {
    /// What may be sent, and what it means.
    pub texts: &'static [(&'static str, &'static str)],
    pub any_case: bool,
    pub refusal: Refusal,
}

/// How an unknown text of a [`Choice`] is refused.
#[derive(Clone, Copy, Debug)]
pub enum Refusal {
    /// `can not unmarshal "\"x\""`
    CanNotUnmarshal,
    /// A text of its own, followed by what was sent.
    With(&'static str),
    /// A text of its own.
    Plain(&'static str),
}

impl Member {
    pub const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind }
    }
}

impl Schema {
    /// The member of this name: exactly, or else in any case.
    pub(super) fn member(&self, name: &str) -> Option<&'static Member> {
        let all = || self.members.iter().flat_map(|group| group.iter());
        all().find(|m| m.name == name).or_else(|| all().find(|m| m.name.eq_ignore_ascii_case(name)))
    }
}

impl Kind {
    /// The type, as error texts show it.
    pub(super) fn type_name(&self) -> String {
        match self {
            Self::Bool => "bool".into(),
            Self::String | Self::Choice(_) => "string".into(),
            Self::Int => "int".into(),
            Self::Int32 => "int32".into(),
            Self::Int64 => "int64".into(),
            Self::Uint64 => "uint64".into(),
            Self::Duration => "time.Duration".into(),
            Self::Time => "time.Time".into(),
            Self::Object(schema) => format!("server.{}", schema.name),
            Self::List(Self::Object(schema)) => format!("[]*server.{}", schema.name),
            Self::List(of) => format!("[]{}", of.type_name()),
            Self::Texts => "map[string]string".into(),
            Self::Ignored => "interface {}".into(),
        }
    }

    /// The smallest and the largest value of a number.
    pub(super) fn range(&self) -> Option<(i128, i128)> {
        Some(match self {
            Self::Int32 => (i32::MIN.into(), i32::MAX.into()),
            Self::Int | Self::Int64 | Self::Duration => (i64::MIN.into(), i64::MAX.into()),
            Self::Uint64 => (0, u64::MAX.into()),
            _ => return None,
        })
    }
}
