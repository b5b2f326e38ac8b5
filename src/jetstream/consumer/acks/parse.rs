use crate::protocol::GoDuration;
use crate::subject::tokens;

/// The numbers in the subject of an acknowledgement (consumers reference, section 3.1). What is no number reads as the
/// largest: no delivery has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckNumbers {
    pub delivered: u64,
    pub stream: u64,
    pub consumer: u64,
}

impl AckNumbers {
    /// `tail` is the subject from the token `delivered` on; what follows the five tokens is of no interest.
    pub fn parse(tail: &[u8]) -> Self {
        let mut tokens = tokens(tail).map(number);
        let mut next = || tokens.next().unwrap_or(u64::MAX);
        Self { delivered: next(), stream: next(), consumer: next() }
    }
}

/// What an acknowledgement says (consumers reference, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckVerb<'a> {
    Ack,
    /// Again, after so many nanoseconds, or now.
    Nak(Option<i64>),
    Progress,
    /// An acknowledgement and a pull request: its body.
    Next(&'a [u8]),
    /// With a reason, which may be empty.
    Term(&'a [u8]),
    Unknown,
}

impl<'a> AckVerb<'a> {
    pub fn parse(body: &'a [u8]) -> Self {
        match body {
            b"" | b"+ACK" | b"+OK" => Self::Ack,
            b"+WPI" => Self::Progress,
            _ => {
                if let Some(rest) = body.strip_prefix(b"+NXT") {
                    return Self::Next(rest);
                }
                if let Some(rest) = body.strip_prefix(b"+TERM") {
                    return Self::Term(rest.trim_ascii());
                }
                if let Some(rest) = body.strip_prefix(b"-NAK") {
                    return Self::Nak(delay(rest.trim_ascii()));
                }
                Self::Unknown
            }
        }
    }
}

/// The argument of a nak: `{"delay":<ns>}` or a duration in the manner of Go. Nothing that can be read: no delay.
fn delay(text: &[u8]) -> Option<i64> {
    #[derive(serde::Deserialize)]
    struct Options {
        delay: i64,
    }
    if text.is_empty() {
        return None;
    }
    if text[0] == b'{' {
        return serde_json::from_slice::<Options>(text).ok().map(|options| options.delay);
    }
    let text = std::str::from_utf8(text).ok()?;
    text.parse().ok().map(|GoDuration(nanos)| nanos)
}

fn number(token: &[u8]) -> u64 {
    let digit = |sum: u64, &byte: &u8| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    };
    match token {
        b"" => u64::MAX,
        _ => token.iter().try_fold(0, digit).unwrap_or(u64::MAX),
    }
}
