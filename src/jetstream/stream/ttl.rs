//! `Nats-TTL` (streams reference 3.7).

use crate::protocol::GoDuration;

/// How long a message lives, by its own header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ttl {
    Never,
    Seconds(i64),
}

impl Ttl {
    /// `never`, whole seconds, or a duration as Go writes it, cut to seconds; at least one second.
    pub fn parse(value: &[u8]) -> Option<Self> {
        if value.eq_ignore_ascii_case(b"never") {
            return Some(Self::Never);
        }
        let text = std::str::from_utf8(value).ok()?;
        let seconds = match text.parse::<i64>() {
            Ok(_) if text.starts_with('+') => return None,
            Ok(seconds) => seconds,
            Err(_) => text.parse::<GoDuration>().ok()?.0 / 1_000_000_000,
        };
        (seconds > 0).then_some(Self::Seconds(seconds))
    }
}
