use std::ops::Range;

/// The longest control line that can be told apart, whatever the configuration says: its parts are kept as 16-bit offsets.
pub const LONGEST_CONTROL_LINE: usize = 60_000;

/// One operation of a client. Spans are offsets into the buffer that was parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    Pub(PubOp),
    Sub {
        subject: Range<usize>,
        queue: Option<Range<usize>>,
        sid: Range<usize>,
    },
    /// `max` is there if the client gave one: what is not a number counts as `-1`.
    Unsub {
        sid: Range<usize>,
        max: Option<i64>,
    },
    Connect {
        json: Range<usize>,
    },
    Info {
        json: Range<usize>,
    },
    Ping,
    Pong,
    Ok,
    Err,
}

/// A `PUB` or `HPUB` whose whole payload is in the buffer. Twenty-four bytes, because a read may hold thousands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PubOp {
    /// Where the subject begins; the other parts of the line are offsets from here.
    start: u32,
    /// Where the headers, or else the payload, begin.
    body: u32,
    /// Headers and payload together.
    size: u32,
    /// The size of the header block; [`HEADERLESS`] for a `PUB`.
    header: u32,
    subject_len: u16,
    reply_at: u16,
    reply_len: u16,
    flags: u16,
}

const HEADERLESS: u32 = u32::MAX;
/// The subject is that of the operation before.
const SAME_SUBJECT: u16 = 1;
/// The line is not written the usual way: the tail cannot be passed on as it is.
const ODD: u16 = 2;

impl PubOp {
    pub(super) fn new(line: PubLine, header: Option<u32>, body: usize, size: usize, odd: bool) -> Self {
        Self {
            start: line.subject.start as u32,
            body: body as u32,
            size: size as u32,
            header: header.unwrap_or(HEADERLESS),
            subject_len: line.subject.len() as u16,
            reply_at: line.reply.start.saturating_sub(line.subject.start) as u16,
            reply_len: line.reply.len() as u16,
            flags: if odd { ODD } else { 0 },
        }
    }

    /// The operation a whole `step` further on, whose line is byte for byte the same.
    #[inline]
    pub(super) fn repeated(mut self, step: u32) -> Self {
        self.start += step;
        self.body += step;
        self.flags |= SAME_SUBJECT;
        self
    }

    pub(super) fn mark_same_subject(&mut self) {
        self.flags |= SAME_SUBJECT;
    }

    /// Forgets that the operation before had the same subject: it has become the first of a batch.
    pub fn begin_batch(&mut self) {
        self.flags &= !SAME_SUBJECT;
    }

    #[inline]
    pub fn has_same_subject(&self) -> bool {
        self.flags & SAME_SUBJECT != 0
    }

    #[inline]
    pub fn subject<'a>(&self, buffer: &'a [u8]) -> &'a [u8] {
        let start = self.start as usize;
        &buffer[start..start + usize::from(self.subject_len)]
    }

    /// Empty if there is none.
    #[inline]
    pub fn reply<'a>(&self, buffer: &'a [u8]) -> &'a [u8] {
        let start = self.start as usize + usize::from(self.reply_at);
        &buffer[start..start + usize::from(self.reply_len)]
    }

    #[inline]
    pub fn has_reply(&self) -> bool {
        self.reply_len > 0
    }

    /// Whether subscribers with header support get an `HMSG`. An `HPUB` with no header bytes is an ordinary message.
    #[inline]
    pub fn has_headers(&self) -> bool {
        self.header != HEADERLESS && self.header != 0
    }

    /// The header block, empty if there is none.
    #[inline]
    pub fn headers<'a>(&self, buffer: &'a [u8]) -> &'a [u8] {
        let len = if self.header == HEADERLESS { 0 } else { self.header };
        &buffer[self.body as usize..(self.body + len) as usize]
    }

    #[inline]
    pub fn payload<'a>(&self, buffer: &'a [u8]) -> &'a [u8] {
        let len = if self.header == HEADERLESS { 0 } else { self.header };
        &buffer[(self.body + len) as usize..(self.body + self.size) as usize]
    }

    /// Bytes of headers and payload.
    #[inline]
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// All that follows the blank after the subject, final CR LF included: in the usual spelling it is byte for byte
    /// what a subscriber gets after its sid. `None` if the line must be written anew.
    #[inline]
    pub fn tail<'a>(&self, buffer: &'a [u8]) -> Option<&'a [u8]> {
        (self.flags & ODD == 0 && self.header != 0).then(|| {
            let start = self.start as usize + usize::from(self.subject_len) + 1;
            &buffer[start..self.end()]
        })
    }

    /// Just behind the CR LF after the payload.
    #[inline]
    pub fn end(&self) -> usize {
        (self.body + self.size) as usize + 2
    }

    #[inline]
    pub(super) fn start(&self) -> usize {
        self.start as usize
    }

    #[inline]
    pub(super) fn body(&self) -> usize {
        self.body as usize
    }
}

/// The parts of a publish line, as offsets into the buffer.
pub(super) struct PubLine {
    pub subject: Range<usize>,
    pub reply: Range<usize>,
}
