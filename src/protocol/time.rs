//! Times as the wire writes them: RFC 3339, up to nine fractional digits with the last zeroes trimmed (streams
//! reference 0.1).

use jiff::tz::Offset;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smallvec::SmallVec;
use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

/// Nanoseconds since 1970, UTC; [`Timestamp::NEVER`] is Go's zero time. JSON shows it as text, other formats as a
/// number. Times that 64 bits of nanoseconds cannot hold (before 1677, after 2262) become the nearest that they can.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// A time that shows itself with the offset it was given with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetTime {
    pub at: Timestamp,
    /// Seconds east of UTC.
    pub offset: i32,
}

/// The text of a time.
pub type Spelled = SmallVec<[u8; 36]>;

/// The text is no RFC 3339 time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parsing time {0:?}: not as RFC 3339 has it")]
pub struct BadTime(String);

/// How the time that never was is written.
const ZERO: &str = "0001-01-01T00:00:00Z";

/// The same, from 1970: far outside of what 64 bits hold.
const ZERO_NANOS: i128 = -62_135_596_800 * NANOS_PER_SECOND as i128;

const EPOCH: jiff::civil::DateTime = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0);

const NANOS_PER_SECOND: i64 = 1_000_000_000;

impl Timestamp {
    /// The zero time: not given, never.
    pub const NEVER: Self = Self(i64::MIN);

    pub fn is_never(self) -> bool {
        self == Self::NEVER
    }

    /// As it is shown, in ASCII.
    pub fn spell(self) -> Spelled {
        spell(self, 0)
    }
}

impl Default for Timestamp {
    fn default() -> Self {
        Self::NEVER
    }
}

impl From<Option<i64>> for Timestamp {
    fn from(nanos: Option<i64>) -> Self {
        nanos.map_or(Self::NEVER, Self)
    }
}

impl From<Timestamp> for Option<i64> {
    fn from(time: Timestamp) -> Self {
        (!time.is_never()).then_some(time.0)
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let nanos = match time.duration_since(UNIX_EPOCH) {
            Ok(after) => i128::try_from(after.as_nanos()).unwrap_or(i128::MAX),
            Err(before) => i128::try_from(before.duration().as_nanos()).map_or(i128::MIN, |nanos| -nanos),
        };
        Self(clamp(nanos))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_time(f, *self, 0)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for OffsetTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_time(f, self.at, self.offset)
    }
}

impl FromStr for Timestamp {
    type Err = BadTime;

    fn from_str(text: &str) -> Result<Self, BadTime> {
        text.parse().map(|time: OffsetTime| time.at)
    }
}

impl FromStr for OffsetTime {
    type Err = BadTime;

    fn from_str(text: &str) -> Result<Self, BadTime> {
        let bad = || BadTime(text.to_owned());
        let Shape { seconds, nanos, zone } = Shape::of(text).ok_or_else(bad)?;
        let offset = if zone == "Z" { 0 } else { offset_of(zone).ok_or_else(bad)? };
        let civil: jiff::civil::DateTime = seconds.parse().map_err(|_| bad())?;
        let seconds = civil.duration_since(EPOCH).as_secs() - i64::from(offset);
        let since = i128::from(seconds) * i128::from(NANOS_PER_SECOND) + i128::from(nanos);
        let at = if since == ZERO_NANOS { Timestamp::NEVER } else { Timestamp(clamp(since)) };
        Ok(Self { at, offset })
    }
}

/// The parts of a time whose form is right: `2006-01-02T15:04:05`, the nanoseconds, `Z` or `+07:00`.
struct Shape<'t> {
    seconds: &'t str,
    nanos: u32,
    zone: &'t str,
}

impl<'t> Shape<'t> {
    /// jiff takes more forms than RFC 3339 has, so the form is checked here and the values there.
    fn of(text: &'t str) -> Option<Self> {
        const FORM: &[u8] = b"0000-00-00T00:00:00";
        let (seconds, rest) = text.split_at_checked(FORM.len())?;
        let fits = |(&form, byte): (&u8, u8)| if form == b'0' { byte.is_ascii_digit() } else { byte == form };
        if !FORM.iter().zip(seconds.bytes()).all(fits) || seconds.ends_with("60") {
            return None;
        }
        let (nanos, zone) = match rest.strip_prefix('.') {
            None => (0, rest),
            Some(rest) => {
                let (digits, zone) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
                if digits.is_empty() {
                    return None;
                }
                // What is finer than a nanosecond is dropped.
                let nine: String = digits.chars().chain("000000000".chars()).take(9).collect();
                (nine.parse().ok()?, zone)
            }
        };
        Some(Self { seconds, nanos, zone })
    }
}

/// The seconds of `+07:00`.
fn offset_of(zone: &str) -> Option<i32> {
    let two = |at: usize| -> Option<i32> {
        let digits = zone.get(at..at + 2)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let sign = match zone.as_bytes() {
        [b'+', _, _, b':', _, _] => 1,
        [b'-', _, _, b':', _, _] => -1,
        _ => return None,
    };
    let (hours, minutes) = (two(1)?, two(4)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// Within 64 bits, and not by chance the zero time.
fn clamp(nanos: i128) -> i64 {
    nanos.clamp(i128::from(i64::MIN) + 1, i128::from(i64::MAX)) as i64
}

fn write_time(f: &mut fmt::Formatter<'_>, time: Timestamp, offset: i32) -> fmt::Result {
    f.write_str(std::str::from_utf8(&spell(time, offset)).map_err(|_| fmt::Error)?)
}

/// By hand: answers to gets carry a time each, and formatting it would be a tenth of their cost.
fn spell(time: Timestamp, offset: i32) -> Spelled {
    if time.is_never() {
        return Spelled::from_slice(ZERO.as_bytes());
    }
    let (seconds, nanos) = (time.0.div_euclid(NANOS_PER_SECOND), time.0.rem_euclid(NANOS_PER_SECOND));
    // 64 bits of nanoseconds are within the years jiff knows by millennia.
    let shown = jiff::Timestamp::from_second(seconds + i64::from(offset)).unwrap_or_default();
    let civil = Offset::UTC.to_datetime(shown);
    let mut text = Spelled::new();
    let year = civil.year().unsigned_abs();
    put_two(&mut text, (year / 100) as u8);
    put_two(&mut text, (year % 100) as u8);
    let rest = [civil.month(), civil.day(), civil.hour(), civil.minute(), civil.second()];
    for (before, value) in b"--T::".iter().zip(rest) {
        text.push(*before);
        put_two(&mut text, value.unsigned_abs());
    }
    if nanos > 0 {
        let mut digits = *b".000000000";
        let mut left = nanos as u32;
        for digit in digits[1..].iter_mut().rev() {
            *digit = b'0' + (left % 10) as u8;
            left /= 10;
        }
        let end = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
        text.extend_from_slice(&digits[..end]);
    }
    if offset == 0 {
        text.push(b'Z');
        return text;
    }
    let minutes = offset.abs() / 60;
    text.push(if offset < 0 { b'-' } else { b'+' });
    put_two(&mut text, (minutes / 60) as u8);
    text.push(b':');
    put_two(&mut text, (minutes % 60) as u8);
    text
}

/// Two decimal digits of a number below 100.
fn put_two(text: &mut Spelled, value: u8) {
    text.push(b'0' + value / 10);
    text.push(b'0' + value % 10);
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.collect_str(self) } else { serializer.serialize_i64(self.0) }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(Text).map(|time| time.at)
        } else {
            i64::deserialize(deserializer).map(Self)
        }
    }
}

impl Serialize for OffsetTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for OffsetTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text)
    }
}

struct Text;

impl Visitor<'_> for Text {
    type Value = OffsetTime;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an RFC 3339 time")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<OffsetTime, E> {
        text.parse().map_err(E::custom)
    }
}
