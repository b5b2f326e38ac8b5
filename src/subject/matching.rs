//! Comparing two subjects, token by token, without allocating.

use super::valid::{ONE, REST, has_empty_token, tokens};

/// Whether a published subject matches a pattern. The `*` and `>` of the literal are ordinary tokens; a literal with an
/// empty token matches nothing.
///
/// Goes by bytes, not by tokens: filters ask this once for each message.
pub fn matches(pattern: &[u8], literal: &[u8]) -> bool {
    let (mut pattern, mut literal) = (pattern, literal);
    loop {
        // Both stand at the beginning of a token.
        let length = match pattern {
            REST => return !has_empty_token(literal),
            [b'*', rest @ ..] if matches!(rest, [] | [b'.', ..]) => {
                pattern = rest;
                literal.iter().take_while(|&&byte| byte != b'.').count()
            }
            _ => {
                let same = pattern.iter().zip(literal).take_while(|&(wanted, byte)| wanted == byte && *byte != b'.');
                let length = same.count();
                pattern = &pattern[length..];
                length
            }
        };
        if length == 0 {
            return false;
        }
        match (pattern, &literal[length..]) {
            ([], []) => return true,
            ([b'.', next_wanted @ ..], [b'.', next @ ..]) => (pattern, literal) = (next_wanted, next),
            _ => return false,
        }
    }
}

/// Whether some literal subject matches both patterns.
pub fn collides(a: &[u8], b: &[u8]) -> bool {
    let (mut a, mut b) = (tokens(a), tokens(b));
    loop {
        let (left, right) = match (a.next(), b.next()) {
            (Some(left), Some(right)) => (left, right),
            (None, None) => return true,
            _ => return false,
        };
        if (left == REST && a.is_done()) || (right == REST && b.is_done()) {
            return true;
        }
        if left != ONE && right != ONE && left != right {
            return false;
        }
    }
}

/// Whether every literal subject that matches `a` matches `of` too.
pub fn is_subset(a: &[u8], of: &[u8]) -> bool {
    let (mut a, mut of) = (tokens(a), tokens(of));
    loop {
        let (token, wanted) = match (a.next(), of.next()) {
            (Some(token), Some(wanted)) => (token, wanted),
            (None, None) => return true,
            _ => return false,
        };
        if wanted == REST && of.is_done() {
            return true;
        }
        // One token of the outer pattern cannot cover the many that a trailing `>` stands for.
        if token == REST && a.is_done() {
            return false;
        }
        if wanted != ONE && wanted != token {
            return false;
        }
    }
}
