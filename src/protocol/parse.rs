//! The parser of what clients send. It keeps no state: it looks at a buffer, and an operation is there or is not yet.

use super::op::{LONGEST_CONTROL_LINE, Op, PubLine, PubOp};
use super::scan::{find_low, is_blank, size};
use super::violation::Violation;
use std::ops::Range;

/// What a client may send.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes after the verb of a line.
    pub max_control_line: usize,
    /// Headers and payload together. A negative number refuses every message.
    pub max_payload: i64,
    /// Whether `HPUB` was agreed on.
    pub headers: bool,
}

/// How far parsing came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// An operation, and where the next begins.
    Op(Op, usize),
    /// The operation is not all here. It ends no earlier than this offset, so there is no use in trying sooner.
    Partial(usize),
    Violation(Violation),
}

/// Parses the operation that begins at `from`.
pub fn parse(buffer: &[u8], from: usize, limits: &Limits) -> Parsed {
    let rest = buffer.get(from..).unwrap_or_default();
    let Some(&first) = rest.first() else { return Parsed::Partial(from + 1) };
    let second = rest.get(1).map(u8::to_ascii_lowercase);
    match (first.to_ascii_lowercase(), second) {
        (b'p', None) => Parsed::Partial(from + 2),
        (b'p', Some(b'u')) => with_arguments(buffer, from, b"pub", limits, publish),
        (b'p', Some(b'i')) => bare(buffer, from, b"ping", limits, Op::Ping),
        (b'p', Some(b'o')) => bare(buffer, from, b"pong", limits, Op::Pong),
        (b'h', _) => with_arguments(buffer, from, b"hpub", limits, publish_with_headers),
        (b's', _) => with_arguments(buffer, from, b"sub", limits, subscribe),
        (b'u', _) => with_arguments(buffer, from, b"unsub", limits, unsubscribe),
        (b'c', _) => with_json(buffer, from, b"connect", limits, |json| Op::Connect { json }),
        (b'i', _) => with_json(buffer, from, b"info", limits, |json| Op::Info { json }),
        (b'+', _) => bare(buffer, from, b"+ok", limits, Op::Ok),
        (b'-', _) => bare(buffer, from, b"-err", limits, Op::Err),
        _ => Parsed::Violation(Violation::UnknownOperation),
    }
}

/// Takes `PUB` operations from `from` on for as long as they are whole, written the usual way and to `admit`'s liking
/// (it is given subject and reply, once for a run of equal lines). Answers where it stopped; [`parse`] knows why.
pub fn take_pubs(
    buffer: &[u8],
    mut from: usize,
    limits: &Limits,
    ops: &mut Vec<PubOp>,
    mut admit: impl FnMut(&[u8], &[u8]) -> bool,
) -> usize {
    let mut last: Option<PubOp> = None;
    loop {
        // Most publishers repeat themselves: an equal line is found by one comparison.
        if let Some(previous) = last {
            let line = previous.start() - 4..previous.body();
            let step = from - line.start;
            if buffer.get(from..from + line.len()) == Some(&buffer[line]) {
                let op = previous.repeated(step as u32);
                if buffer.get(op.end() - 2..op.end()) != Some(b"\r\n") {
                    return from;
                }
                from = op.end();
                ops.push(op);
                last = Some(op);
                continue;
            }
        }
        let Some(mut op) = usual_pub(buffer, from, limits) else { return from };
        let (subject, reply) = (op.subject(buffer), op.reply(buffer));
        if !admit(subject, reply) {
            return from;
        }
        if last.is_some_and(|previous| previous.subject(buffer) == subject) {
            op.mark_same_subject();
        }
        from = op.end();
        ops.push(op);
        last = Some(op);
    }
}

/// A `PUB` in the usual spelling: capitals, one blank between arguments, CR LF.
#[inline]
fn usual_pub(buffer: &[u8], from: usize, limits: &Limits) -> Option<PubOp> {
    if buffer.get(from..from + 4)? != b"PUB " {
        return None;
    }
    let start = from + 4;
    let first = find_low(buffer, start)?;
    if first == start || buffer[first] != b' ' {
        return None;
    }
    let second = find_low(buffer, first + 1)?;
    let (reply, digits) = match buffer[second] {
        b'\r' => (start..start, first + 1..second),
        b' ' if second > first + 1 => {
            let third = find_low(buffer, second + 1)?;
            if buffer[third] != b'\r' {
                return None;
            }
            (first + 1..second, second + 1..third)
        }
        _ => return None,
    };
    let (end, size) = (digits.end, size(&buffer[digits])?);
    let body = end + 2;
    let fits = end - start <= limits.max_control_line.min(LONGEST_CONTROL_LINE) && size as i64 <= limits.max_payload;
    if !fits || buffer.get(end + 1)? != &b'\n' || buffer.get(body + size..body + size + 2)? != b"\r\n" {
        return None;
    }
    Some(PubOp::new(PubLine { subject: start..first, reply }, None, body, size, false))
}

/// How much of `verb` (in lower case) stands at `from`.
enum Verb {
    Whole,
    Begun,
    Other,
}

fn verb(buffer: &[u8], from: usize, verb: &[u8]) -> Verb {
    let have = &buffer[from..buffer.len().min(from + verb.len())];
    match have.eq_ignore_ascii_case(&verb[..have.len()]) {
        true if have.len() == verb.len() => Verb::Whole,
        true => Verb::Begun,
        false => Verb::Other,
    }
}

/// The arguments of the line from `from` on: without leading blanks, the line end, and where the next line begins.
/// `Err` if the line is not whole or too long.
fn arguments(buffer: &[u8], from: usize, limits: &Limits) -> Result<(Range<usize>, usize), Parsed> {
    let longest = limits.max_control_line.min(LONGEST_CONTROL_LINE);
    let rest = &buffer[from..];
    let blanks = rest.iter().position(|&byte| !is_blank(byte)).unwrap_or(rest.len());
    let start = from + blanks;
    match memchr::memchr(b'\n', &buffer[start..]) {
        Some(len) => {
            let line = &buffer[start..start + len];
            let end = start + line.strip_suffix(b"\r").unwrap_or(line).len();
            if end - start > longest || blanks > longest {
                return Err(Parsed::Violation(Violation::ControlLine));
            }
            Ok((start..end, start + len + 1))
        }
        // A CR may still be on its way to its LF.
        None if buffer.len() - start > longest + 1 || blanks > longest => {
            Err(Parsed::Violation(Violation::ControlLine))
        }
        None => Err(Parsed::Partial(buffer.len() + 1)),
    }
}

/// A verb whose line says nothing more: what stands there is passed over.
fn bare(buffer: &[u8], from: usize, name: &[u8], limits: &Limits, op: Op) -> Parsed {
    match verb(buffer, from, name) {
        Verb::Other => Parsed::Violation(Violation::UnknownOperation),
        Verb::Begun => Parsed::Partial(from + name.len()),
        Verb::Whole => match arguments(buffer, from + name.len(), limits) {
            Ok((_, next)) => Parsed::Op(op, next),
            Err(why) => why,
        },
    }
}

fn with_json(buffer: &[u8], from: usize, name: &[u8], limits: &Limits, op: impl FnOnce(Range<usize>) -> Op) -> Parsed {
    match verb(buffer, from, name) {
        Verb::Other => Parsed::Violation(Violation::UnknownOperation),
        Verb::Begun => Parsed::Partial(from + name.len()),
        Verb::Whole => match arguments(buffer, from + name.len(), limits) {
            Ok((json, next)) => Parsed::Op(op(json), next),
            Err(why) => why,
        },
    }
}

/// Reads the arguments of a line: the buffer, the line, where the next begins, the limits.
type Reader = fn(&[u8], Range<usize>, usize, &Limits) -> Parsed;

fn with_arguments(buffer: &[u8], from: usize, name: &[u8], limits: &Limits, read: Reader) -> Parsed {
    match verb(buffer, from, name) {
        Verb::Other => return Parsed::Violation(Violation::UnknownOperation),
        Verb::Begun => return Parsed::Partial(from + name.len()),
        Verb::Whole => {}
    }
    let after = from + name.len();
    match buffer.get(after) {
        None => Parsed::Partial(after + 1),
        Some(&byte) if !is_blank(byte) => Parsed::Violation(Violation::UnknownOperation),
        Some(_) => match arguments(buffer, after, limits) {
            Ok((line, next)) => read(buffer, line, next, limits),
            Err(why) => why,
        },
    }
}

/// The most arguments a line can have, and one more to notice.
const MOST: usize = 5;

/// Splits at blanks; what is more than [`MOST`] is left out.
fn split(buffer: &[u8], line: Range<usize>) -> ([Range<usize>; MOST], usize) {
    let mut words = [const { 0..0 }; MOST];
    let (mut count, mut at) = (0, line.start);
    while at < line.end && count < MOST {
        if is_blank(buffer[at]) {
            at += 1;
            continue;
        }
        let word = &buffer[at..line.end];
        let len = word.iter().position(|&byte| is_blank(byte)).unwrap_or(word.len());
        words[count] = at..at + len;
        (count, at) = (count + 1, at + len);
    }
    (words, count)
}

fn publish(buffer: &[u8], line: Range<usize>, next: usize, limits: &Limits) -> Parsed {
    let (words, count) = split(buffer, line.clone());
    let [subject, second, third, ..] = words;
    let (reply, digits) = match count {
        2 => (subject.start..subject.start, second),
        3 => (second, third),
        _ => return Parsed::Violation(Violation::Argument),
    };
    let Some(size) = size(&buffer[digits.clone()]) else { return Parsed::Violation(Violation::Argument) };
    let odd = is_odd(buffer, &line, next, &[&subject, &reply, &digits]);
    body(buffer, PubLine { subject, reply }, None, next, size, odd, limits)
}

fn publish_with_headers(buffer: &[u8], line: Range<usize>, next: usize, limits: &Limits) -> Parsed {
    if !limits.headers {
        return Parsed::Violation(Violation::Argument);
    }
    let (words, count) = split(buffer, line.clone());
    let [subject, second, third, fourth, ..] = words;
    let (reply, inner, outer) = match count {
        3 => (subject.start..subject.start, second, third),
        4 => (second, third, fourth),
        _ => return Parsed::Violation(Violation::Argument),
    };
    let sizes = (size(&buffer[inner.clone()]), size(&buffer[outer.clone()]));
    let (Some(header), Some(size)) = sizes else { return Parsed::Violation(Violation::Argument) };
    if header > size {
        return Parsed::Violation(Violation::Argument);
    }
    let odd = is_odd(buffer, &line, next, &[&subject, &reply, &inner, &outer]);
    body(buffer, PubLine { subject, reply }, Some(header as u32), next, size, odd, limits)
}

/// Whether a publish line is written otherwise than with one blank between its words and CR LF after them.
fn is_odd(buffer: &[u8], line: &Range<usize>, next: usize, words: &[&Range<usize>]) -> bool {
    let bytes: usize = words.iter().map(|word| word.len()).sum();
    let blanks = words.iter().filter(|word| !word.is_empty()).count() - 1;
    line.len() != bytes + blanks || next != line.end + 2 || buffer[line.clone()].contains(&b'\t')
}

fn body(
    buffer: &[u8],
    line: PubLine,
    header: Option<u32>,
    start: usize,
    size: usize,
    odd: bool,
    limits: &Limits,
) -> Parsed {
    if size as i64 > limits.max_payload {
        return Parsed::Violation(Violation::MaxPayload);
    }
    let end = start + size;
    // A wrong end is told as soon as it is there.
    match (buffer.get(end), buffer.get(end + 1)) {
        (Some(b'\r'), Some(b'\n')) => Parsed::Op(Op::Pub(PubOp::new(line, header, start, size, odd)), end + 2),
        (None, _) | (Some(b'\r'), None) => Parsed::Partial(end + 2),
        _ => Parsed::Violation(Violation::UnknownOperation),
    }
}

fn subscribe(buffer: &[u8], line: Range<usize>, next: usize, _: &Limits) -> Parsed {
    let ([subject, second, third, ..], count) = split(buffer, line);
    match count {
        2 => Parsed::Op(Op::Sub { subject, queue: None, sid: second }, next),
        3 => Parsed::Op(Op::Sub { subject, queue: Some(second), sid: third }, next),
        _ => Parsed::Violation(Violation::Argument),
    }
}

fn unsubscribe(buffer: &[u8], line: Range<usize>, next: usize, _: &Limits) -> Parsed {
    let ([sid, limit, ..], count) = split(buffer, line);
    match count {
        1 => Parsed::Op(Op::Unsub { sid, max: None }, next),
        2 => Parsed::Op(Op::Unsub { sid, max: Some(size(&buffer[limit]).map_or(-1, |max| max as i64)) }, next),
        _ => Parsed::Violation(Violation::Argument),
    }
}
