//! `DIRECT.GET.<stream>` and `DIRECT.GET.<stream>.<subject>` (streams reference 5): answered by the stream itself, with
//! the message as it is stored.
//!
//! The usual request asks for one message, by sequence or as the last of a subject, and the message is in memory: it is
//! answered on the spot, straight out of the buffer it came in. Everything else takes the long way.

use super::json;
use super::level;
use super::msg_get::GetRequest;
use crate::jetstream::stream::actor::{Later, Stream};
use crate::jetstream::stream::reads::Then;
use crate::protocol::{StoredMessage, Timestamp, headers};
use crate::router::messages::{Incoming, Ingest, RouterId};
use crate::router::part;
use crate::store::Lookup;
use crate::subject::{Filter, is_literal};
use bytes::{BufMut, BytesMut};
use std::collections::VecDeque;

/// Subjects that one `multi_last` may match.
const MOST_SUBJECTS: usize = 1024;

/// Messages sent in one turn.
const SLICE: usize = 256;

/// Answers that leave without waiting for the end of the mailbox: while the rest is looked up, the asker has work too.
const ANSWERS_AT_ONCE: usize = 32;

/// The most bytes of one answer of several messages, if the request does not say.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A direct get as it came. Small, and kept apart from the buffer it came in.
#[derive(Clone, Debug)]
pub struct Asked {
    via: RouterId,
    reply: Vec<u8>,
    headers: Vec<u8>,
    /// Of the form that has it.
    subject: Option<Vec<u8>>,
    body: Vec<u8>,
}

/// An answer on its way.
pub struct DirectGet {
    asked: Asked,
    no_hdr: bool,
    kind: Several,
    /// Messages that match and have not been sent.
    pending: u64,
    /// The last sequence sent.
    last: u64,
    /// How many messages may still be sent.
    room: u64,
    /// How many bytes.
    bytes: u64,
    is_exhausted: bool,
}

/// Which messages are sent.
enum Several {
    /// One, and no end marker.
    One,
    /// What matches, from a sequence on.
    From { next: u64, filter: Filter },
    /// These: `multi_last`.
    These { seqs: VecDeque<u64>, upto: u64 },
}

/// A status instead of messages.
type Status = (u16, &'static str);

const EMPTY: Status = (408, "Empty Request");
const MALFORMED: Status = (408, "Malformed Request");
const BAD: Status = (408, "Bad Request");
const NOT_FOUND: Status = (404, "Message Not Found");
const NO_RESULTS: Status = (404, "No Results");
const TOO_MANY: Status = (413, "Too Many Results");
const LEVEL: Status = (412, "Required Api Level");

impl Asked {
    /// `subject_at`: where the subject begins in the subject of the request, for the form that has one.
    pub fn of(ingest: &Ingest, message: &Incoming, subject_at: Option<usize>) -> Self {
        let buffer = &ingest.buffer;
        let subject = part(buffer, &message.subject);
        Self {
            via: ingest.via,
            reply: part(buffer, &message.reply).to_vec(),
            headers: part(buffer, &message.headers).to_vec(),
            subject: subject_at.map(|at| subject.get(at..).unwrap_or_default().to_vec()),
            body: part(buffer, &message.payload).to_vec(),
        }
    }
}

impl GetRequest {
    fn names_nothing(&self) -> bool {
        self.seq == 0
            && self.last_by_subj.is_empty()
            && self.next_by_subj.is_empty()
            && self.start_time.is_none()
            && self.multi_last.is_empty()
    }

    fn contradicts_itself(&self) -> bool {
        let (last, next) = (!self.last_by_subj.is_empty(), !self.next_by_subj.is_empty());
        let (seq, time, multi) = (self.seq > 0, self.start_time.is_some(), !self.multi_last.is_empty());
        (seq && (last || time))
            || (time && last)
            || (last && (next || self.batch > 0 || multi))
            || (next && multi)
            || (self.up_to_seq > 0 && self.up_to_time.is_some())
    }
}

impl Stream {
    /// A direct get, as it lies in a batch. `subject_at`: see [`Asked::of`].
    pub(in crate::jetstream) fn get_directly(
        &mut self,
        ingest: &Ingest,
        message: &Incoming,
        subject_at: Option<usize>,
    ) {
        if !self.answer_at_once(ingest, message, subject_at) {
            self.asked(Asked::of(ingest, message, subject_at));
        }
    }

    /// Answers the usual request. Whether it was one.
    fn answer_at_once(&mut self, ingest: &Ingest, message: &Incoming, subject_at: Option<usize>) -> bool {
        let buffer = &ingest.buffer;
        let (reply, body) = (part(buffer, &message.reply), part(buffer, &message.payload));
        let may_be_answered = !self.closing && self.config.allow_direct && !self.is_ahead();
        if reply.is_empty() || !message.headers.is_empty() || !may_be_answered {
            return false;
        }
        let seq = match subject_at {
            None => just_a_sequence(body),
            Some(_) if !body.is_empty() => None,
            Some(at) => {
                let subject = part(buffer, &message.subject).get(at..).filter(|subject| is_literal(subject));
                subject.and_then(|subject| self.contents.subjects.seqs(subject)?.last())
            }
        };
        let Some(seq) = seq.filter(|seq| self.contents.index.contains(*seq)) else { return false };
        let Lookup::Here(found) = self.store.get(seq) else { return false };
        let outbox = self.pipeline.open.replies(ingest.via);
        let headers = |block: &mut BytesMut| {
            put_shown(block, self.name.as_bytes(), &found);
            block.put_slice(b"\r\n");
        };
        outbox.compose(reply, headers, found.payload());
        // Those that would be given anew should a commit fail must not have left.
        if outbox.len() >= ANSWERS_AT_ONCE && self.pipeline.open.gets.is_empty() {
            self.send_replies();
        }
        true
    }

    /// Answers a direct get. Without a reply subject it is ignored.
    pub(in crate::jetstream) fn asked(&mut self, asked: Asked) {
        if asked.reply.is_empty() || self.closing || !self.config.allow_direct {
            return;
        }
        if self.is_ahead() {
            self.pipeline.open.gets.push(asked.clone());
        }
        match self.plan(&asked) {
            Ok((get, Some(seq))) => self.gather(vec![seq], Then::Direct(Box::new(get))),
            Ok((get, None)) => self.go_on_getting(get),
            Err(status) => self.say(&asked, status),
        }
    }

    /// What to send, or a status. With a sequence: just that.
    fn plan(&self, asked: &Asked) -> Result<(DirectGet, Option<u64>), Status> {
        if !level::is_met(&asked.headers) {
            return Err(LEVEL);
        }
        let request = self.request(asked)?;
        let bytes = u64::try_from(request.max_bytes).ok().filter(|bytes| *bytes > 0).unwrap_or(MAX_BYTES);
        let room = if request.batch == 0 { u64::MAX } else { u64::try_from(request.batch).unwrap_or(0) };
        let mut get = DirectGet {
            asked: asked.clone(),
            no_hdr: request.no_hdr,
            kind: Several::One,
            pending: 0,
            last: 0,
            room,
            bytes,
            is_exhausted: false,
        };
        if !request.multi_last.is_empty() {
            return self.plan_multi(&request, get).map(|get| (get, None));
        }
        if request.batch == 0 {
            let seq = self.find(&request).ok_or(NOT_FOUND)?;
            return Ok((get, Some(seq)));
        }
        let next = match request.start_time {
            Some(_) => self.contents.index.first_since(request.since().ok_or(NOT_FOUND)?).ok_or(NOT_FOUND)?.0,
            None => request.seq,
        };
        let filter = Filter::new([&request.next_by_subj]);
        get.pending = self.contents.count_matching(&filter, next);
        if get.pending == 0 {
            return Err(NOT_FOUND);
        }
        get.kind = Several::From { next, filter };
        Ok((get, None))
    }

    fn request(&self, asked: &Asked) -> Result<GetRequest, Status> {
        if let Some(subject) = &asked.subject {
            let request: GetRequest = match asked.body.is_empty() {
                true => GetRequest::default(),
                false => json::decode_lenient(&asked.body).map_err(|_| MALFORMED)?,
            };
            let has_selector = !request.names_nothing();
            let last_by_subj = String::from_utf8_lossy(subject).into_owned();
            let request = GetRequest { last_by_subj: last_by_subj.clone(), ..request };
            if has_selector || request.contradicts_itself() {
                return Err(BAD);
            }
            return Ok(GetRequest { last_by_subj, no_hdr: request.no_hdr, ..GetRequest::default() });
        }
        if json::is_empty_request(&asked.body) {
            return Err(EMPTY);
        }
        let request: GetRequest = json::decode_lenient(&asked.body).map_err(|_| MALFORMED)?;
        match () {
            _ if request.names_nothing() => Err(EMPTY),
            _ if request.contradicts_itself() => Err(BAD),
            _ => Ok(request),
        }
    }

    fn plan_multi(&self, request: &GetRequest, mut get: DirectGet) -> Result<DirectGet, Status> {
        let last = self.contents.last();
        let upto = match (request.up_to_seq, request.until()) {
            (0, None) => last,
            (0, Some(time)) => match self.contents.index.first_since(time) {
                Some((seq, _)) if seq <= self.contents.first() => return Err(NO_RESULTS),
                Some((seq, _)) => seq - 1,
                None => last,
            },
            (seq, _) => seq.min(last),
        };
        let seqs = self.contents.last_of_each(&Filter::new(&request.multi_last), upto);
        if seqs.len() > MOST_SUBJECTS {
            return Err(TOO_MANY);
        }
        if seqs.is_empty() {
            return Err(NO_RESULTS);
        }
        get.no_hdr = false;
        let seqs: VecDeque<u64> = seqs.into_iter().filter(|seq| *seq >= request.seq).collect();
        get.pending = seqs.len() as u64;
        get.kind = Several::These { seqs, upto };
        Ok(get)
    }

    /// Sends a slice of several messages.
    pub(in crate::jetstream) fn go_on_getting(&mut self, mut get: DirectGet) {
        let wanted = usize::try_from(get.room).unwrap_or(SLICE).min(SLICE);
        let mut picked = Vec::with_capacity(wanted.min(16));
        while picked.len() < wanted {
            let seq = match &mut get.kind {
                Several::One => None,
                Several::These { seqs, .. } => seqs.pop_front(),
                Several::From { next, filter } => {
                    let found = self.contents.next_matching(filter, *next);
                    *next = found.map_or(*next, |seq| seq + 1);
                    found
                }
            };
            match seq {
                Some(seq) => picked.push(seq),
                None => break,
            }
        }
        get.is_exhausted = picked.len() < wanted || get.room <= picked.len() as u64;
        match picked.is_empty() {
            true => self.end_of_batch(&get),
            false => self.gather(picked, Then::Direct(Box::new(get))),
        }
    }

    pub(in crate::jetstream) fn got_directly(&mut self, mut get: DirectGet, messages: Vec<StoredMessage>) {
        if let Several::One = get.kind {
            return match messages.first() {
                Some(message) => self.send_one(&mut get, message),
                None => self.say(&get.asked, NOT_FOUND),
            };
        }
        for message in &messages {
            let size = message.subject().len() + message.headers().len() + message.payload().len();
            self.send_one(&mut get, message);
            get.last = message.seq;
            get.room = get.room.saturating_sub(1);
            get.bytes = get.bytes.saturating_sub(size as u64);
            if get.bytes == 0 {
                get.is_exhausted = true;
                break;
            }
        }
        match get.is_exhausted {
            true => self.end_of_batch(&get),
            false => self.later(Later::Direct(Box::new(get))),
        }
    }

    fn send_one(&mut self, get: &mut DirectGet, message: &StoredMessage) {
        let outbox = self.pipeline.open.replies(get.asked.via);
        if get.no_hdr {
            return outbox.message(&get.asked.reply, b"", b"", message.payload());
        }
        let numbers = !matches!(get.kind, Several::One);
        get.pending = get.pending.saturating_sub(u64::from(numbers));
        let headers = |block: &mut BytesMut| {
            put_shown(block, self.name.as_bytes(), message);
            if numbers {
                number(block, "Nats-Num-Pending", get.pending);
                number(block, "Nats-Last-Sequence", get.last);
            }
            block.put_slice(b"\r\n");
        };
        outbox.compose(&get.asked.reply, headers, message.payload());
    }

    fn end_of_batch(&mut self, get: &DirectGet) {
        let headers = |block: &mut BytesMut| {
            block.put_slice(b"NATS/1.0 204 EOB\r\n");
            number(block, "Nats-Num-Pending", get.pending);
            number(block, "Nats-Last-Sequence", get.last);
            if let Several::These { upto, .. } = get.kind {
                number(block, "Nats-UpTo-Sequence", upto);
            }
            block.put_slice(b"\r\n");
        };
        self.pipeline.open.replies(get.asked.via).compose(&get.asked.reply, headers, b"");
    }

    fn say(&mut self, asked: &Asked, (code, text): Status) {
        let block = headers::Builder::status(code, text).finish();
        self.pipeline.open.replies(asked.via).message(&asked.reply, b"", &block, b"");
    }
}

/// The sequence of a body that says nothing else, in the spelling of the usual clients. Others are for the decoder.
fn just_a_sequence(body: &[u8]) -> Option<u64> {
    let digits = body.strip_prefix(b"{\"seq\":")?.strip_suffix(b"}")?.trim_ascii();
    let plain = matches!(digits, [b'1'..=b'9', rest @ ..] if rest.iter().all(u8::is_ascii_digit));
    plain.then(|| std::str::from_utf8(digits).ok()?.parse().ok())?
}

/// The headers of a message that is shown, without their end: those stored, and where it is from.
fn put_shown(block: &mut BytesMut, stream: &[u8], message: &StoredMessage) {
    let stored = message.headers();
    block.reserve(stored.len() + stream.len() + message.subject().len() + 160);
    match stored.strip_suffix(b"\r\n").filter(|rest| rest.ends_with(b"\r\n")) {
        Some(rest) => block.put_slice(rest),
        None => block.put_slice(b"NATS/1.0\r\n"),
    }
    line(block, "Nats-Stream", stream);
    line(block, "Nats-Subject", message.subject());
    number(block, "Nats-Sequence", message.seq);
    line(block, "Nats-Time-Stamp", &Timestamp(message.timestamp).spell());
}

fn line(block: &mut BytesMut, name: &str, value: &[u8]) {
    for piece in [name.as_bytes(), b": ", value, b"\r\n"] {
        block.put_slice(piece);
    }
}

fn number(block: &mut BytesMut, name: &str, value: u64) {
    line(block, name, itoa::Buffer::new().format(value).as_bytes());
}
