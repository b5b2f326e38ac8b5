//! The encoder of what subscribers get.

use super::op::PubOp;

/// A message in parts, as it goes to one subscriber.
#[derive(Clone, Copy, Debug, Default)]
pub struct Letter<'a> {
    pub subject: &'a [u8],
    pub reply: &'a [u8],
    /// The whole header block; empty if there is none.
    pub headers: &'a [u8],
    pub payload: &'a [u8],
}

/// Copies go in blocks of this size where both sides have the room: moves of a known size need no call.
const BLOCK: usize = 64;

/// Appends a run of operations on one subject, as one subscriber gets them. `headers` says whether it takes `HMSG`.
pub fn encode_run(out: &mut Vec<u8>, buffer: &[u8], ops: &[PubOp], sid: &[u8], headers: bool) {
    let Some(first) = ops.first() else { return };
    let subject = first.subject(buffer);
    let line = subject.len() + sid.len() + 6;
    let usual = ops.iter().all(|op| !op.has_headers() && op.tail(buffer).is_some());
    if ops.len() == 1 || !usual || line > BLOCK {
        return ops.iter().for_each(|op| encode_one(out, buffer, op, sid, headers));
    }
    let mut prefix = [0; BLOCK];
    let mut filled = 0;
    for part in [b"MSG ", subject, b" ", sid, b" "] {
        prefix[filled..filled + part.len()].copy_from_slice(part);
        filled += part.len();
    }
    let tails: usize = ops.iter().map(|op| op.tail(buffer).map_or(0, <[u8]>::len)).sum();
    let begin = out.len();
    out.resize(begin + ops.len() * filled + tails + BLOCK, 0);
    let space = &mut out[begin..];
    let mut at = 0;
    for op in ops {
        let Some(tail) = op.tail(buffer) else { continue };
        space[at..at + BLOCK].copy_from_slice(&prefix);
        at += filled;
        let from = op.end() - tail.len();
        match (buffer.get(from..from + BLOCK), space.get_mut(at..at + BLOCK)) {
            (Some(block), Some(place)) if tail.len() <= BLOCK => place.copy_from_slice(block),
            _ => space[at..at + tail.len()].copy_from_slice(tail),
        }
        at += tail.len();
    }
    out.truncate(begin + at);
}

/// Appends one operation as one subscriber gets it.
#[inline]
pub fn encode_one(out: &mut Vec<u8>, buffer: &[u8], op: &PubOp, sid: &[u8], headers: bool) {
    let subject = op.subject(buffer);
    match op.tail(buffer) {
        Some(tail) if headers || !op.has_headers() => {
            let verb: &[u8] = if op.has_headers() { b"HMSG " } else { b"MSG " };
            out.reserve(verb.len() + subject.len() + sid.len() + tail.len() + 2);
            for part in [verb, subject, b" ", sid, b" ", tail] {
                out.extend_from_slice(part);
            }
        }
        _ => {
            let (reply, block, payload) = (op.reply(buffer), op.headers(buffer), op.payload(buffer));
            encode(out, &Letter { subject, reply, headers: block, payload }, sid, headers);
        }
    }
}

/// Appends a message as one subscriber gets it: with its headers if it takes them, else without.
pub fn encode(out: &mut Vec<u8>, letter: &Letter<'_>, sid: &[u8], headers: bool) {
    let block = if headers { letter.headers } else { b"" };
    out.reserve(letter.subject.len() + letter.reply.len() + sid.len() + block.len() + letter.payload.len() + 48);
    out.extend_from_slice(if block.is_empty() { b"MSG " } else { b"HMSG " });
    for part in [letter.subject, sid, letter.reply] {
        if !part.is_empty() {
            out.extend_from_slice(part);
            out.push(b' ');
        }
    }
    let mut digits = itoa::Buffer::new();
    if !block.is_empty() {
        out.extend_from_slice(digits.format(block.len()).as_bytes());
        out.push(b' ');
    }
    out.extend_from_slice(digits.format(block.len() + letter.payload.len()).as_bytes());
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(block);
    out.extend_from_slice(letter.payload);
    out.extend_from_slice(b"\r\n");
}

/// Appends the answer to a request that reached nobody (core reference 1.7).
pub fn encode_no_responders(out: &mut Vec<u8>, reply: &[u8], sid: &[u8], subject: &[u8]) {
    let mut headers = Vec::with_capacity(subject.len() + 32);
    headers.extend_from_slice(b"NATS/1.0 503\r\nNats-Subject: ");
    headers.extend_from_slice(subject);
    headers.extend_from_slice(b"\r\n\r\n");
    encode(out, &Letter { subject: reply, headers: &headers, ..Letter::default() }, sid, true);
}
