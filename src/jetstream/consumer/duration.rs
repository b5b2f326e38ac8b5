//! Durations in the manner of Go, as error texts and naks show them (consumers reference, section 0).

const MICROSECOND: i64 = 1_000;
const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000_000_000;

/// A duration in the manner of Go: `1h0m0s`, `1.5s`, `500ms`, `2.000001ms`, `1.5µs`, `3ns`.
pub fn show(nanoseconds: i64) -> String {
    if nanoseconds == 0 {
        return "0s".to_string();
    }
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let all = nanoseconds.unsigned_abs();
    let text = match all as i64 {
        n if (0..MICROSECOND).contains(&n) => format!("{n}ns"),
        n if (0..MILLISECOND).contains(&n) => decimal(all, MICROSECOND as u64) + "µs",
        n if (0..SECOND).contains(&n) => decimal(all, MILLISECOND as u64) + "ms",
        _ => {
            let (seconds, minutes) = (all % (60 * SECOND as u64), all / (60 * SECOND as u64));
            let seconds = decimal(seconds, SECOND as u64) + "s";
            match (minutes / 60, minutes % 60) {
                (0, 0) => seconds,
                (0, minutes) => format!("{minutes}m{seconds}"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}"),
            }
        }
    };
    format!("{sign}{text}")
}

/// Reads a duration in the manner of Go: `300ms`, `-1.5h`, `2h45m`. `None` if it is none or too long.
pub fn parse(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0f64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let unit = match &rest[..end] {
            "ns" => 1,
            "us" | "µs" | "μs" => MICROSECOND,
            "ms" => MILLISECOND,
            "s" => SECOND,
            "m" => 60 * SECOND,
            "h" => 3600 * SECOND,
            _ => return None,
        };
        total += number * unit as f64;
        rest = &rest[end..];
    }
    let total = if negative { -total } else { total };
    (total.abs() < i64::MAX as f64).then_some(total.round() as i64)
}

fn decimal(value: u64, unit: u64) -> String {
    let digits = unit.ilog10() as usize;
    let fraction = format!("{:0digits$}", value % unit);
    match fraction.trim_end_matches('0') {
        "" => (value / unit).to_string(),
        fraction => format!("{}.{fraction}", value / unit),
    }
}
