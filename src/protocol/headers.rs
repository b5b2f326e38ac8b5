//! Header blocks: `NATS/1.0[ status[ description]]`, lines of `Name: value`, an empty line (core reference 1.6,
//! streams reference 0.6). Nothing is validated; what is no header block simply holds no headers.

use std::borrow::Cow;

/// How every block begins.
pub const VERSION: &[u8] = b"NATS/1.0";

/// The largest block JetStream takes, in bytes.
pub const MAX_STORED: usize = 65_535;

const END: &[u8] = b"\r\n";

/// The value of the first header with exactly this name, case and all; blanks after the colon are skipped.
pub fn get<'b>(block: &'b [u8], name: &str) -> Option<&'b [u8]> {
    iter(block).find(|(known, _)| *known == name.as_bytes()).map(|(_, value)| value)
}

/// Names and values in the order of the block. Lines without a colon are passed over.
pub fn iter(block: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    lines(block).skip(1).filter_map(|line| {
        let colon = memchr::memchr(b':', line)?;
        Some((&line[..colon], without_leading_blanks(&line[colon + 1..])))
    })
}

/// What the first line says after the version: code and description, each perhaps empty. `None` if it says nothing.
pub fn status(block: &[u8]) -> Option<(&[u8], &[u8])> {
    let said = lines(block).next()?.strip_prefix(VERSION)?.trim_ascii();
    if said.is_empty() {
        return None;
    }
    let code = said.iter().position(|&byte| byte == b' ').unwrap_or(said.len());
    Some((&said[..code], said[code..].trim_ascii_start()))
}

/// The block of the 503 that says nobody listens (core reference 1.7).
pub fn no_responders(subject: &[u8]) -> Vec<u8> {
    Builder::status(503, "").header("Nats-Subject", subject).finish()
}

/// The block as it is stored: what the first line says after the version is dropped; if nothing else is left, so is
/// the block. An explicit empty block stays.
pub fn normalize(block: &[u8]) -> Cow<'_, [u8]> {
    let Some(end) = find_end(block) else { return Cow::Borrowed(block) };
    if !block.starts_with(VERSION) || end == VERSION.len() {
        return Cow::Borrowed(block);
    }
    let rest = &block[end..];
    if rest == b"\r\n\r\n" { Cow::Borrowed(&[]) } else { Cow::Owned([VERSION, rest].concat()) }
}

/// The block without any header of this name; empty if none is left. Borrowed if there was none.
pub fn strip<'b>(block: &'b [u8], name: &str) -> Cow<'b, [u8]> {
    strip_where(block, |known| known == name.as_bytes())
}

/// The block without any header whose name begins so; empty if none is left. Borrowed if there was none.
pub fn strip_prefix<'b>(block: &'b [u8], prefix: &str) -> Cow<'b, [u8]> {
    strip_where(block, |known| known.starts_with(prefix.as_bytes()))
}

fn strip_where(block: &[u8], unwanted: impl Fn(&[u8]) -> bool) -> Cow<'_, [u8]> {
    if !iter(block).any(|(name, _)| unwanted(name)) {
        return Cow::Borrowed(block);
    }
    let is_unwanted = |line: &[u8]| memchr::memchr(b':', line).is_some_and(|colon| unwanted(&line[..colon]));
    let mut kept = Vec::with_capacity(block.len());
    let mut any = false;
    for (place, line) in lines(block).enumerate() {
        if place > 0 && is_unwanted(line) {
            continue;
        }
        any |= place > 0 && !line.is_empty();
        kept.extend_from_slice(line);
        kept.extend_from_slice(END);
    }
    if any || status(block).is_some() { Cow::Owned(kept) } else { Cow::Borrowed(&[]) }
}

/// All lines, the empty one at the end too; the first is that of the version. Headers behind an empty line count:
/// how long the block is was said when it was sent.
fn lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = block;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = find_end(rest).unwrap_or(rest.len());
        let line = &rest[..end];
        rest = rest.get(end + END.len()..).unwrap_or(&[]);
        Some(line)
    })
}

/// Where the first line end begins.
fn find_end(bytes: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'\n', bytes).find(|&feed| feed > 0 && bytes[feed - 1] == b'\r').map(|feed| feed - 1)
}

fn without_leading_blanks(value: &[u8]) -> &[u8] {
    let blanks = value.iter().take_while(|&&byte| byte == b' ').count();
    &value[blanks..]
}

/// Writes a header block, new or continued.
#[derive(Clone, Debug)]
pub struct Builder {
    /// Without the empty line at the end.
    block: Vec<u8>,
}

impl Builder {
    pub fn new() -> Self {
        Self { block: [VERSION, END].concat() }
    }

    /// A block that begins with a status, such as `404 No Messages`; the description may be empty.
    pub fn status(code: u16, description: &str) -> Self {
        let mut first = format!("NATS/1.0 {code}");
        if !description.is_empty() {
            first.push(' ');
            first.push_str(description);
        }
        first.push_str("\r\n");
        Self { block: first.into_bytes() }
    }

    /// Goes on where a block ends; a new one if it is empty.
    pub fn extend(block: &[u8]) -> Self {
        if block.is_empty() {
            return Self::new();
        }
        let mut block = block.strip_suffix(b"\r\n\r\n").unwrap_or(block).to_vec();
        if !block.ends_with(END) {
            block.extend_from_slice(END);
        }
        Self { block }
    }

    /// Appends `Name: value`. A line end within the value would begin another header; it becomes a blank.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.block.extend_from_slice(name.as_bytes());
        self.block.extend_from_slice(b": ");
        let one_line = |&byte: &u8| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte };
        self.block.extend(value.as_ref().iter().map(one_line));
        self.block.extend_from_slice(END);
        self
    }

    /// Appends `Name: number`.
    #[must_use]
    pub fn number(self, name: &str, value: impl itoa::Integer) -> Self {
        self.header(name, itoa::Buffer::new().format(value))
    }

    /// The block with its empty line.
    pub fn finish(mut self) -> Vec<u8> {
        self.block.extend_from_slice(END);
        self.block
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}
