//! Sizes, durations and optional values as people write them, for serde: `#[serde(with = "units::size")]`.

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::time::Duration;

/// 1024 bytes.
pub const KIB: usize = 1024;
/// 1024 KiB.
pub const MIB: usize = 1024 * KIB;

/// A password or token: kept as given, never shown by `Debug`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The secret itself; do not log it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[REDACTED]")
    }
}

/// Bytes from `"64 MiB"`, `"10G"`, `"4096"`: k, m, g, t, p with or without `b`, `i`, `ib`, in any case, and all of
/// them powers of 1024, since buffers and disks are filled in those.
pub fn parse_size(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "ki" | "kib" => 10,
        "m" | "mb" | "mi" | "mib" => 20,
        "g" | "gb" | "gi" | "gib" => 30,
        "t" | "tb" | "ti" | "tib" => 40,
        "p" | "pb" | "pi" | "pib" => 50,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(1 << shift)
}

/// The shortest exact form: `64 MiB`, `4096 B` being `4 KiB`, 1000 staying `1000`.
pub fn format_size(bytes: i64) -> String {
    let exact = |shift: u32| bytes != 0 && bytes % (1i64 << shift) == 0;
    match [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")].into_iter().find(|(shift, _)| exact(*shift)) {
        Some((shift, unit)) => format!("{} {unit}", bytes >> shift),
        None => bytes.to_string(),
    }
}

/// A duration as Go writes it: `"1m30s"`, `"500ms"`, `"1.5h"`; units ns us (µs) ms s m h, and `"0"`. Not negative.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut nanos = 0u64;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(end);
        let unit_end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        let scale = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        nanos = nanos.checked_add(scaled(number, scale)?)?;
        rest = tail;
    }
    i64::try_from(nanos).ok().map(|_| Duration::from_nanos(nanos))
}

/// `number` times `scale`, with digits behind the point.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut sum = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()?.checked_mul(scale)? };
    let mut unit = scale;
    for digit in fraction.chars() {
        unit /= 10;
        sum = sum.checked_add(u64::from(digit.to_digit(10)?) * unit)?;
    }
    Some(sum)
}

/// The duration as Go prints it: `2m0s`, `1.5s`, `10ms`.
pub fn format_duration(duration: Duration) -> String {
    let (nanos, secs) = (duration.as_nanos(), duration.as_secs());
    let trimmed = |value: u128, unit: u128| {
        let text = format!("{}.{:0width$}", value / unit, value % unit, width = unit.ilog10() as usize);
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    match nanos {
        0 => "0s".into(),
        1..1_000 => format!("{nanos}ns"),
        1_000..1_000_000 => trimmed(nanos, 1_000) + "µs",
        1_000_000..1_000_000_000 => trimmed(nanos, 1_000_000) + "ms",
        _ => {
            let (hours, minutes) = (secs / 3600, secs / 60 % 60);
            let seconds = trimmed(nanos % 60_000_000_000, 1_000_000_000) + "s";
            match (hours, minutes) {
                (0, 0) => seconds,
                (0, m) => format!("{m}m{seconds}"),
                (h, m) => format!("{h}h{m}m{seconds}"),
            }
        }
    }
}

/// The shortest text that reads back as the same: `2m`, `1h`, `10ms`.
fn short_duration(duration: Duration) -> String {
    let text = format_duration(duration);
    let text = text.strip_suffix("m0s").map_or(text.clone(), |t| format!("{t}m"));
    text.strip_suffix("h0m").map_or(text.clone(), |t| format!("{t}h"))
}

/// What a human may write: a whole number or text.
enum Written {
    Number(i64),
    Text(String),
}

struct WrittenVisitor(&'static str);

impl Visitor<'_> for WrittenVisitor {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_i64<E: Error>(self, v: i64) -> Result<Written, E> {
        Ok(Written::Number(v))
    }

    fn visit_u64<E: Error>(self, v: u64) -> Result<Written, E> {
        i64::try_from(v).map(Written::Number).map_err(|_| E::invalid_value(Unexpected::Unsigned(v), &self))
    }

    fn visit_str<E: Error>(self, v: &str) -> Result<Written, E> {
        Ok(Written::Text(v.into()))
    }
}

const A_SIZE: &str = "a size in bytes, as in 4096 or \"64 MiB\"";
const A_DURATION: &str = "a duration, as in \"10s\", \"1m30s\" or \"500ms\"";
const A_PORT: &str = "a port from 0 to 65535, or -1 for any free one";

/// Reads a size, -1 and the like included.
fn written_size<'de, D: Deserializer<'de>>(deserializer: D, expected: &'static str) -> Result<i64, D::Error> {
    match deserializer.deserialize_any(WrittenVisitor(expected))? {
        Written::Number(n) => Ok(n),
        Written::Text(text) => {
            parse_size(&text).ok_or_else(|| D::Error::invalid_value(Unexpected::Str(&text), &expected))
        }
    }
}

/// A port; -1 is 0, any free one.
pub fn port<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    let n = match deserializer.deserialize_any(WrittenVisitor(A_PORT))? {
        Written::Number(n) => Some(n),
        Written::Text(text) => text.trim().parse().ok(),
    };
    match n {
        Some(-1) => Ok(0),
        Some(n) => u16::try_from(n).map_err(|_| D::Error::invalid_value(Unexpected::Signed(n), &A_PORT)),
        None => Err(D::Error::custom(format_args!("expected {A_PORT}"))),
    }
}

/// Sizes that are not negative.
pub mod size {
    use super::*;

    pub fn serialize<T: Copy + TryInto<i64>, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: i64 = (*value).try_into().map_err(|_| serde::ser::Error::custom("size out of range"))?;
        serializer.serialize_str(&format_size(bytes))
    }

    pub fn deserialize<'de, T: TryFrom<i64>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let bytes = written_size(deserializer, A_SIZE)?;
        T::try_from(bytes).map_err(|_| D::Error::invalid_value(Unexpected::Signed(bytes), &A_SIZE))
    }
}

/// Sizes where a negative number means something.
pub mod signed_size {
    use super::*;

    pub fn serialize<S: Serializer>(value: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        if *value < 0 { serializer.serialize_i64(*value) } else { serializer.serialize_str(&format_size(*value)) }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        written_size(deserializer, A_SIZE)
    }
}

/// Sizes that may be left to us: `"auto"`, or -1.
pub mod auto_size {
    use super::*;

    const EXPECTED: &str = "a size in bytes, as in 4096 or \"64 MiB\", or \"auto\"";

    pub fn serialize<S: Serializer>(value: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        match value.and_then(|bytes| i64::try_from(bytes).ok()) {
            Some(bytes) => serializer.serialize_str(&format_size(bytes)),
            None => serializer.serialize_str("auto"),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        let bytes = match deserializer.deserialize_any(WrittenVisitor(EXPECTED))? {
            Written::Number(n) => n,
            Written::Text(text) if text.trim().eq_ignore_ascii_case("auto") => return Ok(None),
            Written::Text(text) => {
                parse_size(&text).ok_or_else(|| D::Error::invalid_value(Unexpected::Str(&text), &EXPECTED))?
            }
        };
        match bytes {
            -1 => Ok(None),
            n => u64::try_from(n).map(Some).map_err(|_| D::Error::invalid_value(Unexpected::Signed(n), &EXPECTED)),
        }
    }
}

/// Durations as text with units; a bare number is refused, since nobody can tell its unit.
pub mod duration {
    use super::*;

    pub fn serialize<S: Serializer>(value: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&short_duration(*value))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        match deserializer.deserialize_any(WrittenVisitor(A_DURATION))? {
            Written::Number(0) => Ok(Duration::ZERO),
            Written::Number(n) => Err(D::Error::invalid_type(Unexpected::Signed(n), &A_DURATION)),
            Written::Text(text) => {
                parse_duration(&text).ok_or_else(|| D::Error::invalid_value(Unexpected::Str(&text), &A_DURATION))
            }
        }
    }
}

/// Values that need not be there: the empty text stands for nothing, so that a file can name every key.
pub mod optional {
    use super::*;

    pub fn serialize<T: Serialize, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => value.serialize(serializer),
            None => serializer.serialize_str(""),
        }
    }

    pub fn deserialize<'de, T: From<String>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok((!text.is_empty()).then(|| T::from(text)))
    }
}
