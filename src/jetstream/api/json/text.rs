//! The text of a JSON string, and Go's way to quote.

/// What a string means, given with its quotes. The syntax has been checked; what is no UTF-8 or no whole surrogate
/// pair reads as U+FFFD.
pub(super) fn unquote(raw: &[u8]) -> String {
    let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
    let lossy = String::from_utf8_lossy(inner);
    if !lossy.contains('\\') {
        return lossy.into_owned();
    }
    let mut text = String::with_capacity(lossy.len());
    let mut rest = &*lossy;
    while let Some(place) = rest.find('\\') {
        text.push_str(&rest[..place]);
        let (c, after) = escaped(&rest[place + 1..]);
        text.push(c);
        rest = after;
    }
    text.push_str(rest);
    text
}

/// The character after a backslash, and what follows it.
fn escaped(rest: &str) -> (char, &str) {
    let mut chars = rest.chars();
    let c = match chars.next() {
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('u') => return unicode(chars.as_str()),
        Some(c) => c,
        None => char::REPLACEMENT_CHARACTER,
    };
    (c, chars.as_str())
}

fn unicode(rest: &str) -> (char, &str) {
    let unit = |text: &str| text.get(..4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let Some(first) = unit(rest) else { return (char::REPLACEMENT_CHARACTER, rest) };
    let after = &rest[4..];
    if let Some(c) = char::from_u32(first) {
        return (c, after);
    }
    let second = after.strip_prefix("\\u").and_then(unit).filter(|unit| (0xdc00..0xe000).contains(unit));
    match second {
        Some(second) if first < 0xdc00 => {
            let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), &after[6..])
        }
        _ => (char::REPLACEMENT_CHARACTER, after),
    }
}

/// Go's `%q` for a text.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\x{:02x}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
