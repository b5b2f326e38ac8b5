//! Comparing two subjects, token by token, without allocating.

use super::valid::{ONE, REST, tokens};

/// Whether a published subject matches a pattern. The `*` and `>` of the literal are ordinary tokens; a literal with an
/// empty token matches nothing.
pub fn matches(pattern: &[u8], literal: &[u8]) -> bool {
    let (mut pattern, mut literal) = (tokens(pattern), tokens(literal));
    loop {
        let (wanted, token) = match (pattern.next(), literal.next()) {
            (Some(wanted), Some(token)) => (wanted, token),
            (None, None) => return true,
            _ => return false,
        };
        if token.is_empty() {
            return false;
        }
        if wanted == REST && pattern.is_done() {
            return literal.all(|token| !token.is_empty());
        }
        if wanted != ONE && wanted != token {
            return false;
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
