//! What may stand as a subject in which place (core reference 2.1).

/// The longest subject that is looked at: what fits the longest control line, that of a leaf node.
pub const MAX_SUBJECT_BYTES: usize = 64 * 1024;

/// The most tokens a subject can have: every second byte a dot.
pub const MAX_TOKENS: usize = MAX_SUBJECT_BYTES / 2;

pub(super) const ONE: &[u8] = b"*";
pub(super) const REST: &[u8] = b">";

/// The tokens of a subject, empty ones included; an empty subject is one empty token.
pub fn tokens(subject: &[u8]) -> Tokens<'_> {
    Tokens { rest: Some(subject) }
}

/// Iterates over the tokens of a subject; see [`tokens`].
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    rest: Option<&'a [u8]>,
}

impl Tokens<'_> {
    /// No token follows.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.rest.is_none()
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        // Tokens are a few bytes long: a plain loop beats a call of memchr.
        match rest.iter().position(|&byte| byte == b'.') {
            Some(dot) => {
                self.rest = Some(&rest[dot + 1..]);
                Some(&rest[..dot])
            }
            None => {
                self.rest = None;
                Some(rest)
            }
        }
    }
}

/// Whether a token is empty: `a..b`, `.a`, `a.` and the empty subject. Such a subject matches nothing, not even `>`.
pub fn has_empty_token(subject: &[u8]) -> bool {
    let mut after_dot = true;
    for &byte in subject {
        let dot = byte == b'.';
        if dot && after_dot {
            return true;
        }
        after_dot = dot;
    }
    after_dot
}

/// Whether a client may subscribe to it: no empty token, `>` only as the whole last token, not too long. Any byte is
/// fine, also such as are not UTF-8; blanks and line ends cannot get here through the protocol.
pub fn is_valid_subscription(subject: &[u8]) -> bool {
    if subject.len() > MAX_SUBJECT_BYTES {
        return false;
    }
    let mut tokens = tokens(subject);
    while let Some(token) = tokens.next() {
        if token.is_empty() || (token == REST && !tokens.is_done()) {
            return false;
        }
    }
    true
}

/// Whether it holds no wildcard token. Says nothing of empty tokens.
pub fn is_literal(subject: &[u8]) -> bool {
    !tokens(subject).any(|token| token == ONE || token == REST)
}

/// The pedantic check of a publish subject: literal, and no empty token.
pub fn is_publishable(subject: &[u8]) -> bool {
    subject.len() <= MAX_SUBJECT_BYTES && !has_empty_token(subject) && is_literal(subject)
}

/// Whether it may stand in a configuration, a stream, an export or a mapping: as for a subscription, and without
/// space, tab, CR, LF or FF.
pub fn is_valid_config_subject(subject: &[u8]) -> bool {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0c);
    is_valid_subscription(subject) && !subject.iter().any(blank)
}
