//! Durations as Go writes them, which is what clients and configurations write: `1m30s`, `1.5ms`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Nanoseconds that read and write themselves as Go's durations do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GoDuration(pub i64);

/// Why a text is no duration, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadDuration {
    #[error("time: invalid duration {0:?}")]
    Invalid(String),
    #[error("time: missing unit in duration {0:?}")]
    MissingUnit(String),
    #[error("time: unknown unit {1:?} in duration {0:?}")]
    UnknownUnit(String, String),
}

const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000 * MICROSECOND;
const SECOND: u64 = 1_000 * MILLISECOND;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// The magnitude of the most negative duration.
const MOST: u64 = 1 << 63;

impl From<Duration> for GoDuration {
    /// What is longer than 292 years becomes that.
    fn from(duration: Duration) -> Self {
        Self(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for GoDuration {
    /// The largest unit first, all lower ones down to seconds; below a second one unit with its fraction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        match nanos {
            0 => f.write_str("0s"),
            _ if nanos < MICROSECOND => write!(f, "{sign}{nanos}ns"),
            _ if nanos < MILLISECOND => write!(f, "{sign}{}µs", Decimal(nanos, MICROSECOND)),
            _ if nanos < SECOND => write!(f, "{sign}{}ms", Decimal(nanos, MILLISECOND)),
            _ => {
                let seconds = Decimal(nanos % MINUTE, SECOND);
                let (hours, minutes) = (nanos / HOUR, nanos % HOUR / MINUTE);
                match (hours, minutes) {
                    (0, 0) => write!(f, "{sign}{seconds}s"),
                    (0, _) => write!(f, "{sign}{minutes}m{seconds}s"),
                    _ => write!(f, "{sign}{hours}h{minutes}m{seconds}s"),
                }
            }
        }
    }
}

/// A count in some unit, with the fraction's last zeroes trimmed.
struct Decimal(u64, u64);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count, unit) = *self;
        write!(f, "{}", count / unit)?;
        let fraction = count % unit;
        if fraction == 0 {
            return Ok(());
        }
        let digits = unit.ilog10() as usize;
        write!(f, ".{}", format!("{fraction:0digits$}").trim_end_matches('0'))
    }
}

impl FromStr for GoDuration {
    type Err = BadDuration;

    fn from_str(text: &str) -> Result<Self, BadDuration> {
        let invalid = || BadDuration::Invalid(text.to_owned());
        let (negative, mut rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if rest == "0" {
            return Ok(Self(0));
        }
        if rest.is_empty() {
            return Err(invalid());
        }
        let mut total: u64 = 0;
        while !rest.is_empty() {
            let (part, after) = part(rest, text)?;
            total = total.checked_add(part).filter(|&total| total <= MOST).ok_or_else(invalid)?;
            rest = after;
        }
        match (negative, i64::try_from(total)) {
            (false, Ok(nanos)) => Ok(Self(nanos)),
            (true, Ok(nanos)) => Ok(Self(-nanos)),
            (true, Err(_)) => Ok(Self(i64::MIN)),
            (false, Err(_)) => Err(invalid()),
        }
    }
}

/// Reads one number with its unit, such as the `1.5h` of `1.5h3s`; gives nanoseconds and what follows.
fn part<'t>(text: &'t str, whole: &str) -> Result<(u64, &'t str), BadDuration> {
    let invalid = || BadDuration::Invalid(whole.to_owned());
    let (integer, rest) = digits(text);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => digits(rest),
        None => ("", rest),
    };
    if integer.is_empty() && fraction.is_empty() {
        return Err(invalid());
    }
    let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let unit = match name {
        "" => return Err(BadDuration::MissingUnit(whole.to_owned())),
        "ns" => 1,
        "us" | "µs" | "μs" => MICROSECOND,
        "ms" => MILLISECOND,
        "s" => SECOND,
        "m" => MINUTE,
        "h" => HOUR,
        _ => return Err(BadDuration::UnknownUnit(whole.to_owned(), name.to_owned())),
    };
    let count: u64 = if integer.is_empty() { 0 } else { integer.parse().map_err(|_| invalid())? };
    let nanos = count.checked_mul(unit).and_then(|nanos| nanos.checked_add(fraction_of(fraction, unit)));
    nanos.filter(|&nanos| nanos <= MOST).map(|nanos| (nanos, rest)).ok_or_else(invalid)
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// The nanoseconds in `0.<digits>` of a unit; what is less than one is dropped.
fn fraction_of(digits: &str, unit: u64) -> u64 {
    // An hour has 3.6e12 nanoseconds: more than 18 digits cannot matter, and both factors fit 128 bits.
    let digits = &digits[..digits.len().min(18)];
    let value = digits.bytes().fold(0u128, |value, digit| value * 10 + u128::from(digit - b'0'));
    let scale = 10u128.pow(digits.len() as u32);
    (value * u128::from(unit) / scale) as u64
}
