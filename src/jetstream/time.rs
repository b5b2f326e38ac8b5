//! Times as the API writes and reads them: RFC 3339, up to nine fractional digits, UTC where the server speaks
//! (streams reference, section 0.1).

use std::fmt::Write;

/// "Never".
pub const ZERO_TIME: &str = "0001-01-01T00:00:00Z";

/// Stands for [`ZERO_TIME`], which is further back than nanoseconds in 64 bits reach.
pub const NEVER: i64 = i64::MIN;

const DAY: i64 = 86_400;
const SECOND: i64 = 1_000_000_000;

/// Nanoseconds since 1970 as text; [`ZERO_TIME`] for [`NEVER`].
pub fn rfc3339(nanos: i64) -> String {
    if nanos == NEVER {
        return ZERO_TIME.to_string();
    }
    let (seconds, fraction) = (nanos.div_euclid(SECOND), nanos.rem_euclid(SECOND));
    let (year, month, day) = civil(seconds.div_euclid(DAY));
    let second = seconds.rem_euclid(DAY);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if fraction != 0 {
        let _ = write!(text, ".{fraction:09}");
        text.truncate(text.trim_end_matches('0').len());
    }
    text.push('Z');
    text
}

/// A time as text, in nanoseconds since 1970; times that these cannot reach become the nearest that they can, the
/// earliest being [`NEVER`]. The error is the reference's text.
pub fn parse(text: &str) -> Result<i64, String> {
    let mut rest = Rest { whole: text, left: text };
    let year = rest.number(4, "2006")?;
    rest.sign("-")?;
    let month = rest.number(2, "01")?;
    rest.sign("-")?;
    let day = rest.number(2, "02")?;
    rest.sign("T")?;
    let hour = rest.number(2, "15")?;
    rest.sign(":")?;
    let minute = rest.number(2, "04")?;
    rest.sign(":")?;
    let second = rest.number(2, "05")?;
    let fraction = rest.fraction();
    let offset = rest.offset()?;
    let ranges = [
        (month, 1..=12, "month"),
        (day, 1..=days_in(year, month), "day"),
        (hour, 0..=23, "hour"),
        (minute, 0..=59, "minute"),
        (second, 0..=59, "second"),
    ];
    for (value, range, name) in ranges {
        if !range.contains(&value) {
            return Err(format!("parsing time {text:?}: {name} out of range"));
        }
    }
    let seconds = days(year, month, day) * DAY + hour * 3600 + minute * 60 + second - offset;
    Ok(seconds.saturating_mul(SECOND).saturating_add(fraction))
}

/// What is left to read of a time.
struct Rest<'a> {
    whole: &'a str,
    left: &'a str,
}

impl Rest<'_> {
    fn error<T>(&self, element: &str) -> Result<T, String> {
        let (whole, left) = (self.whole, self.left);
        Err(format!("parsing time {whole:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {left:?} as {element:?}"))
    }

    fn number(&mut self, width: usize, element: &str) -> Result<i64, String> {
        match self.left.get(..width) {
            Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
                self.left = &self.left[width..];
                digits.parse().or_else(|_| self.error(element))
            }
            _ => self.error(element),
        }
    }

    fn sign(&mut self, sign: &str) -> Result<(), String> {
        match self.left.strip_prefix(sign) {
            Some(left) => self.left = left,
            None => return self.error(sign),
        }
        Ok(())
    }

    /// Nanoseconds; digits beyond the ninth are dropped.
    fn fraction(&mut self) -> i64 {
        let Some(left) = self.left.strip_prefix(['.', ',']) else { return 0 };
        let count = left.bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return 0;
        }
        self.left = &left[count..];
        let digits = left[..count].bytes().chain(std::iter::repeat(b'0')).take(9);
        digits.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'))
    }

    /// Seconds east of UTC.
    fn offset(&mut self) -> Result<i64, String> {
        const ELEMENT: &str = "Z07:00";
        let sign = match self.left.bytes().next() {
            Some(b'Z') => 0,
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return self.error(ELEMENT),
        };
        let zone = self.left;
        self.left = &zone[1..];
        let mut offset = 0;
        if sign != 0 {
            let start = Self { whole: self.whole, left: zone };
            let wrong = |_| start.error::<i64>(ELEMENT).unwrap_err();
            let hours = self.number(2, ELEMENT).map_err(wrong)?;
            self.sign(":").map_err(wrong)?;
            offset = sign * (hours * 3600 + self.number(2, ELEMENT).map_err(wrong)? * 60);
        }
        match self.left.is_empty() {
            true => Ok(offset),
            false => Err(format!("parsing time {:?}: extra text: {:?}", self.whole, self.left)),
        }
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date. Years begin in March here, so that the leap day is the last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date that is so many days from 1970-01-01: year, month, day.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn written_as_the_reference_writes() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(1_709_164_800 * SECOND + 120_000_000), "2024-02-29T00:00:00.12Z");
        assert_eq!(rfc3339(-1), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(rfc3339(NEVER), ZERO_TIME);
    }

    #[test]
    fn offsets_and_fractions() {
        assert_eq!(parse("1970-01-01T01:00:00.5+01:00"), Ok(SECOND / 2));
        assert_eq!(parse("1970-01-01T00:00:00.1234567899Z"), Ok(123_456_789));
        assert_eq!(parse(ZERO_TIME), Ok(NEVER));
    }

    #[test]
    fn errors_are_the_references() {
        let layout = "as \"2006-01-02T15:04:05Z07:00\"";
        assert_eq!(parse("x"), Err(format!("parsing time \"x\" {layout}: cannot parse \"x\" as \"2006\"")));
        assert_eq!(
            parse("2024-02-30T00:00:00Z"),
            Err("parsing time \"2024-02-30T00:00:00Z\": day out of range".into())
        );
        assert!(parse("2024-02-03T00:00:00").is_err_and(|text| text.ends_with("cannot parse \"\" as \"Z07:00\"")));
        assert!(parse("2024-02-03T00:00:00Zx").is_err_and(|text| text.ends_with("extra text: \"x\"")));
    }

    proptest! {
        #[test]
        fn what_is_written_can_be_read(nanos in any::<i64>()) {
            prop_assert_eq!(parse(&rfc3339(nanos)), Ok(nanos));
        }

        #[test]
        fn any_text_is_taken_calmly(text in "\\PC*|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.+Z-]*") {
            let _ = parse(&text);
        }
    }
}
