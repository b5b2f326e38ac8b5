//! Whether bytes are a JSON document, and if not, what the reference says about them.

use super::MAX_DEPTH;

/// Why bytes are no document.
#[derive(Debug)]
pub(super) enum Fault {
    /// They end too early.
    Ended,
    Wrong(String),
}

type Checked<T = usize> = Result<T, Fault>;

/// Where the first byte that is not blank is, from `at` on; the length of the body if there is none.
pub(super) fn skip_blanks(body: &[u8], at: usize) -> usize {
    let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    at + body.get(at..).unwrap_or_default().iter().take_while(blank).count()
}

/// Where the document that begins at `at` ends.
pub(super) fn document(body: &[u8], at: usize) -> Checked {
    value(body, at, 0)
}

/// `invalid character 'x' looking for beginning of value at offset 1`: offsets count to the end of the character.
pub(super) fn unexpected(body: &[u8], at: usize, doing: &str) -> String {
    let (shown, len) = character(body.get(at..).unwrap_or_default());
    format!("invalid character {shown} {doing} at offset {}", at + len)
}

fn character(bytes: &[u8]) -> (String, usize) {
    let head = &bytes[..bytes.len().min(4)];
    let chunk = head.utf8_chunks().next();
    let Some(c) = chunk.and_then(|chunk| chunk.valid().chars().next()) else {
        return (format!("'\\x{:02x}'", bytes.first().copied().unwrap_or(0)), 1);
    };
    let shown = match c {
        '\'' => "'\\''".to_string(),
        '\n' => "'\\n'".to_string(),
        '\r' => "'\\r'".to_string(),
        '\t' => "'\\t'".to_string(),
        c if (c as u32) < 0x20 || c as u32 == 0x7f => format!("'\\x{:02x}'", c as u32),
        '\u{feff}' => "'\\ufeff'".to_string(),
        c => format!("'{c}'"),
    };
    (shown, c.len_utf8())
}

fn wrong<T>(body: &[u8], at: usize, doing: &str) -> Checked<T> {
    match at < body.len() {
        true => Err(Fault::Wrong(unexpected(body, at, doing))),
        false => Err(Fault::Ended),
    }
}

fn value(body: &[u8], at: usize, depth: usize) -> Checked {
    match body.get(at) {
        Some(b'{' | b'[') if depth >= MAX_DEPTH => {
            Err(Fault::Wrong(format!("exceeded max depth at offset {}", at + 1)))
        }
        Some(b'{') => object(body, at + 1, depth + 1),
        Some(b'[') => array(body, at + 1, depth + 1),
        Some(b'"') => string(body, at),
        Some(b't') => literal(body, at, "true"),
        Some(b'f') => literal(body, at, "false"),
        Some(b'n') => literal(body, at, "null"),
        Some(b'-' | b'0'..=b'9') => number(body, at),
        _ => wrong(body, at, "looking for beginning of value"),
    }
}

fn object(body: &[u8], at: usize, depth: usize) -> Checked {
    let mut at = skip_blanks(body, at);
    if body.get(at) == Some(&b'}') {
        return Ok(at + 1);
    }
    loop {
        if body.get(at) != Some(&b'"') {
            return wrong(body, at, "looking for beginning of object key string");
        }
        at = skip_blanks(body, string(body, at)?);
        if body.get(at) != Some(&b':') {
            return wrong(body, at, "after object key");
        }
        at = skip_blanks(body, value(body, skip_blanks(body, at + 1), depth)?);
        match body.get(at) {
            Some(b',') => at = skip_blanks(body, at + 1),
            Some(b'}') => return Ok(at + 1),
            _ => return wrong(body, at, "after object key:value pair"),
        }
    }
}

fn array(body: &[u8], at: usize, depth: usize) -> Checked {
    let mut at = skip_blanks(body, at);
    if body.get(at) == Some(&b']') {
        return Ok(at + 1);
    }
    loop {
        at = skip_blanks(body, value(body, at, depth)?);
        match body.get(at) {
            Some(b',') => at = skip_blanks(body, at + 1),
            Some(b']') => return Ok(at + 1),
            _ => return wrong(body, at, "after array element"),
        }
    }
}

/// `at` is the opening quote. Bytes that are no UTF-8 are let through: they read as U+FFFD.
fn string(body: &[u8], at: usize) -> Checked {
    let mut at = at + 1;
    loop {
        match body.get(at) {
            None => return Err(Fault::Ended),
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at = escape(body, at)?,
            Some(..0x20) => return wrong(body, at, "in string"),
            Some(_) => at += 1,
        }
    }
}

fn escape(body: &[u8], at: usize) -> Checked {
    let len = match body.get(at + 1) {
        None => return Err(Fault::Ended),
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => return Ok(at + 2),
        Some(b'u') => 6,
        Some(_) => 2,
    };
    let Some(sequence) = body.get(at..at + len) else { return Err(Fault::Ended) };
    if len == 6 && sequence[2..].iter().all(u8::is_ascii_hexdigit) {
        return Ok(at + 6);
    }
    let shown = String::from_utf8_lossy(sequence);
    Err(Fault::Wrong(format!("invalid escape sequence `{shown}` in string at offset {}", at + len)))
}

fn literal(body: &[u8], at: usize, whole: &'static str) -> Checked {
    for (i, expected) in whole.bytes().enumerate() {
        if body.get(at + i) != Some(&expected) {
            let doing = format!("in literal {whole} (expecting '{}')", char::from(expected));
            return wrong(body, at + i, &doing);
        }
    }
    Ok(at + whole.len())
}

fn number(body: &[u8], at: usize) -> Checked {
    let digits = |at: usize| at + body.get(at..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
    let some_digits = |at: usize, doing: &str| match digits(at) {
        end if end == at => wrong(body, at, doing),
        end => Ok(end),
    };
    let whole = if body.get(at) == Some(&b'-') { at + 1 } else { at };
    let mut end = match body.get(whole) {
        Some(b'0') => whole + 1,
        _ => some_digits(whole, "in numeric literal")?,
    };
    if body.get(end) == Some(&b'.') {
        end = some_digits(end + 1, "after decimal point in numeric literal")?;
    }
    if let Some(b'e' | b'E') = body.get(end) {
        let sign = usize::from(matches!(body.get(end + 1), Some(b'+' | b'-')));
        end = some_digits(end + 1 + sign, "in exponent of numeric literal")?;
    }
    Ok(end)
}
