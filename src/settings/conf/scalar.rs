//! Single values: words, numbers, dates, quoted text and blocks. Reference section 9.2.

use super::cursor::{Cursor, ends_word, is_blank, is_line_end};
use super::error::ConfError;
use super::value::Value;

/// A single value, or the name of a variable that stands for one.
pub(super) enum Scalar {
    Value(Value),
    Variable(String),
}

/// Reads the single value that begins here.
pub(super) fn scalar(cursor: &mut Cursor<'_>) -> Result<Scalar, ConfError> {
    let value = match cursor.peek() {
        None => Value::Text(String::new()),
        Some('"') => Value::Text(double_quoted(cursor)?),
        Some('\'') => Value::Text(verbatim(cursor)?),
        Some('(') => Value::Text(block(cursor)?),
        Some('-') => negative(cursor)?,
        Some('.') => return Err(cursor.error("Floats must start with a digit")),
        Some(c) if c.is_ascii_digit() => number_or_word(cursor)?,
        Some(_) => return word(cursor),
    };
    Ok(Scalar::Value(value))
}

fn word(cursor: &mut Cursor<'_>) -> Result<Scalar, ConfError> {
    let raw_start = cursor.rest();
    let text = bare(cursor)?;
    let raw = &raw_start[..raw_start.len() - cursor.rest().len()];
    if let Some(name) = raw.strip_prefix('$')
        && !is_bcrypt(raw)
    {
        return Ok(Scalar::Variable(name.into()));
    }
    Ok(Scalar::Value(match raw.to_ascii_lowercase().as_str() {
        "true" | "on" | "yes" => Value::Bool(true),
        "false" | "off" | "no" => Value::Bool(false),
        _ => Value::Text(text),
    }))
}

/// `$2a$`, `$2b$` and the like begin a password hash, not a variable.
fn is_bcrypt(raw: &str) -> bool {
    matches!(raw.as_bytes(), [b'$', b'2', b'a' | b'b' | b'x' | b'y', b'$', ..])
}

/// A word up to whatever ends one; it has the escapes of double quotes.
fn bare(cursor: &mut Cursor<'_>) -> Result<String, ConfError> {
    let mut text = String::new();
    while let Some(c) = cursor.peek().filter(|c| !ends_word(*c)) {
        cursor.next();
        text.push(if c == '\\' { escape(cursor)? } else { c });
    }
    Ok(text)
}

fn double_quoted(cursor: &mut Cursor<'_>) -> Result<String, ConfError> {
    cursor.next();
    let mut text = String::new();
    loop {
        match cursor.next() {
            None => return Err(cursor.error("Unexpected EOF.")),
            Some('"') => return Ok(text),
            Some('\\') => text.push(escape(cursor)?),
            Some(c) => text.push(c),
        }
    }
}

/// Text between two equal quotes, without any escapes.
pub(super) fn verbatim(cursor: &mut Cursor<'_>) -> Result<String, ConfError> {
    let quote = cursor.next();
    let text = cursor.take_while(|c| Some(c) != quote);
    match cursor.next() {
        Some(_) => Ok(text.into()),
        None => Err(cursor.error("Unexpected EOF.")),
    }
}

/// What stands behind a backslash. `\xXX` gives the character of that number.
fn escape(cursor: &mut Cursor<'_>) -> Result<char, ConfError> {
    match cursor.next() {
        Some('t') => Ok('\t'),
        Some('n') => Ok('\n'),
        Some('r') => Ok('\r'),
        Some('"') => Ok('"'),
        Some('\\') => Ok('\\'),
        Some('x') => {
            let mut digit = || cursor.next().and_then(|c| c.to_digit(16));
            let code = digit().and_then(|high| Some(high * 16 + digit()?));
            code.and_then(char::from_u32).ok_or_else(|| cursor.error("Expected two hexadecimal digits after '\\x'."))
        }
        Some(c) => Err(cursor.error(format!(
            "Invalid escape character '{c}'. Only the following escape characters are allowed: \\xXX, \\t, \\n, \\r, \\\", \\\\."
        ))),
        None => Err(cursor.error("Unexpected EOF.")),
    }
}

/// `(`, a line end, anything, and `)` alone at the begin of its line. The first line end is part of the text.
fn block(cursor: &mut Cursor<'_>) -> Result<String, ConfError> {
    cursor.next();
    let mut text = String::new();
    loop {
        let line = cursor.take_while(|c| c != '\n');
        text.push_str(line);
        if cursor.next().is_none() {
            return Err(cursor.error("Unexpected EOF processing block."));
        }
        text.push('\n');
        let indent = cursor.take_while(is_blank);
        let rest = cursor.rest();
        if let Some(behind) = rest.strip_prefix(')')
            && behind.chars().next().is_none_or(|c| is_line_end(c) || is_blank(c))
        {
            cursor.next();
            return Ok(text);
        }
        text.push_str(indent);
    }
}

fn negative(cursor: &mut Cursor<'_>) -> Result<Value, ConfError> {
    cursor.next();
    match cursor.peek() {
        Some(c) if c.is_ascii_digit() => {}
        Some(c) => return Err(cursor.error(format!("Expected a digit but got '{c}'."))),
        None => return Err(cursor.error("Expected a digit but got the end of the file.")),
    }
    let digits = cursor.take_while(|c| c.is_ascii_digit());
    if let Some(fraction) = cursor.rest().strip_prefix('.') {
        if fraction.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('.') {
            return Ok(Value::Text(format!("-{digits}{}", bare(cursor)?)));
        }
        return float(cursor, "-", digits);
    }
    let suffix = size_suffix(cursor.rest());
    cursor.advance(suffix.map_or(0, |(len, _)| len));
    integer(cursor, "-", digits, suffix.map_or(1, |(_, scale)| scale))
}

/// Something that begins with a digit: a number, a date, or after all a word such as `127.0.0.1` or `10s`.
fn number_or_word(cursor: &mut Cursor<'_>) -> Result<Value, ConfError> {
    let all = cursor.rest();
    let raw = &all[..all.find(ends_word).unwrap_or(all.len())];
    let digits = &raw[..raw.find(|c: char| !c.is_ascii_digit()).unwrap_or(raw.len())];
    let rest = &raw[digits.len()..];
    if digits.len() == 4 && rest.starts_with('-') {
        return date(cursor, raw);
    }
    if let Some(fraction) = rest.strip_prefix('.') {
        let places = fraction.find(|c: char| !c.is_ascii_digit()).unwrap_or(fraction.len());
        // A second point makes it an address or a version.
        if fraction[places..].starts_with('.') {
            return bare(cursor).map(Value::Text);
        }
        cursor.advance(digits.len());
        return float(cursor, "", digits);
    }
    match size_suffix(rest) {
        Some((len, scale)) if len == rest.len() => {
            cursor.advance(raw.len());
            integer(cursor, "", digits, scale)
        }
        _ if rest.is_empty() => {
            cursor.advance(raw.len());
            integer(cursor, "", digits, 1)
        }
        _ => bare(cursor).map(Value::Text),
    }
}

fn float(cursor: &mut Cursor<'_>, sign: &str, whole: &str) -> Result<Value, ConfError> {
    cursor.next();
    let fraction = cursor.take_while(|c| c.is_ascii_digit());
    if fraction.is_empty() {
        return Err(cursor.expected("a digit after the '.'"));
    }
    let value: f64 = format!("{sign}{whole}.{fraction}").parse().map_err(|_| cursor.error("Expected a number."))?;
    if value.is_finite() {
        Ok(Value::Float(value))
    } else {
        Err(cursor.error(format!("float '{sign}{whole}.{fraction}' is out of the range")))
    }
}

fn integer(cursor: &Cursor<'_>, sign: &str, digits: &str, scale: i64) -> Result<Value, ConfError> {
    let number = format!("{sign}{digits}").parse::<i64>().ok().and_then(|n| n.checked_mul(scale));
    number
        .map(Value::Integer)
        .ok_or_else(|| cursor.error(format!("integer '{sign}{digits}' is out of the range of 64 bits")))
}

/// The size suffix that `text` begins with: its length and what it multiplies by.
fn size_suffix(text: &str) -> Option<(usize, i64)> {
    let power = match text.bytes().next()?.to_ascii_lowercase() {
        b'k' => 1,
        b'm' => 2,
        b'g' => 3,
        b't' => 4,
        b'p' => 5,
        b'e' => 6,
        _ => return None,
    };
    let tail = &text.as_bytes()[1..];
    let (len, base) = match tail.get(..2).map(|t| t.to_ascii_lowercase()).as_deref() {
        Some(b"ib") => (3, 1024i64),
        _ => match tail.first().map(u8::to_ascii_lowercase) {
            Some(b'b' | b'i') => (2, 1024),
            _ => (1, 1000),
        },
    };
    Some((len, base.pow(power)))
}

/// `YYYY-MM-DDThh:mm:ssZ`, each part a number that a clock or calendar can show.
fn date(cursor: &mut Cursor<'_>, raw: &str) -> Result<Value, ConfError> {
    const SHAPE: &str = "0000-00-00T00:00:00Z";
    let fits = raw.len() == SHAPE.len()
        && raw.chars().zip(SHAPE.chars()).all(|(c, s)| if s == '0' { c.is_ascii_digit() } else { c == s });
    if !fits || raw.parse::<jiff::Timestamp>().is_err() {
        return Err(
            cursor.error(format!("Expected an ISO8601 datetime as in 2026-01-31T08:30:00Z, but got '{raw}' instead."))
        );
    }
    cursor.advance(raw.len());
    Ok(Value::DateTime(raw.into()))
}
