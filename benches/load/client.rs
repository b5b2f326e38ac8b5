//! A NATS connection on a blocking socket: writes what it is given, and walks every frame that comes back.

use std::io::{self, Error, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::Range;
use std::time::Duration;

use memchr::{memchr, memchr_iter};
use serde_json::Value;

/// A server that is silent for so long has lost something.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);
const READ_BUFFER: usize = 256 * 1024;
const CONNECT: &[u8] = b"CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true,\"name\":\"bench\"}\r\nPING\r\n";

/// One delivered message, borrowed from the read buffer.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    pub subject: &'a [u8],
    pub sid: &'a [u8],
    /// Empty if the message has none.
    pub reply: &'a [u8],
    /// The header block with its status line, empty for MSG.
    pub headers: &'a [u8],
    pub payload: &'a [u8],
}

pub struct Client {
    socket: TcpStream,
    buffer: Vec<u8>,
    /// The unread part of `buffer`.
    start: usize,
    end: usize,
    pongs: u64,
    next_inbox: u64,
}

impl Client {
    pub fn connect(addr: SocketAddr) -> io::Result<Self> {
        Self::over(TcpStream::connect(addr)?)
    }

    /// Shakes hands on an open socket; returns after the first PONG.
    pub fn over(socket: TcpStream) -> io::Result<Self> {
        Self::with_buffer(socket, READ_BUFFER)
    }

    /// As `over`, with a read buffer of `size` bytes for when there are thousands of connections.
    pub fn with_buffer(socket: TcpStream, size: usize) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(SILENCE_LIMIT))?;
        socket.set_write_timeout(Some(SILENCE_LIMIT))?;
        let mut client = Self { socket, buffer: vec![0; size], start: 0, end: 0, pongs: 0, next_inbox: 0 };
        client.write(CONNECT)?;
        client.wait_pong(1)?;
        Ok(client)
    }

    /// A second handle for writing from another thread.
    pub fn writer(&self) -> io::Result<TcpStream> {
        self.socket.try_clone()
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write_all(bytes)
    }

    /// Subscribes; in effect everywhere once `flush` returns.
    pub fn subscribe(&mut self, subject: &str, sid: &str) -> io::Result<()> {
        self.write(format!("SUB {subject} {sid}\r\n").as_bytes())
    }

    pub fn subscribe_queue(&mut self, subject: &str, queue: &str, sid: &str) -> io::Result<()> {
        self.write(format!("SUB {subject} {queue} {sid}\r\n").as_bytes())
    }

    /// PING and wait for the PONG: everything written before has been handled. Messages that come in between are lost.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write(b"PING\r\n")?;
        self.wait_pong(self.pongs + 1)
    }

    fn wait_pong(&mut self, number: u64) -> io::Result<()> {
        while self.pongs < number {
            self.read(|_| Ok(()))?;
        }
        Ok(())
    }

    /// Waits for bytes and hands every whole message among them to `each`; returns how many there were.
    pub fn read(&mut self, mut each: impl FnMut(Message<'_>) -> io::Result<()>) -> io::Result<u64> {
        self.fill()?;
        let mut messages = 0;
        loop {
            match self.step()? {
                Step::Starved => return Ok(messages),
                Step::Control => {}
                Step::Message(layout) => {
                    each(layout.message(&self.buffer))?;
                    messages += 1;
                }
            }
        }
    }

    /// Waits for bytes and counts the whole messages among them.
    pub fn count(&mut self) -> io::Result<u64> {
        self.count_until(b"").map(|(count, _)| count)
    }

    /// As `count`, but stops at a message with the sid `end`; returns the messages before it, and whether it came.
    ///
    /// A run of equal control lines is walked without parsing each again, so that the reader does not become what is
    /// measured.
    pub fn count_until(&mut self, end: &[u8]) -> io::Result<(u64, bool)> {
        self.fill()?;
        let mut messages = 0;
        loop {
            match self.step()? {
                Step::Starved => return Ok((messages, false)),
                Step::Control => {}
                Step::Message(layout) if self.buffer[layout.sid.clone()] == *end => return Ok((messages, true)),
                Step::Message(layout) => messages += 1 + self.skip_alike(&layout),
            }
        }
    }

    /// Takes the messages that follow with the same control line.
    fn skip_alike(&mut self, model: &Layout) -> u64 {
        let whole = model.payload.end + 2 - model.line.start;
        let mut skipped = 0;
        while self.end - self.start >= whole {
            let next = &self.buffer[self.start..self.start + whole];
            if !next.starts_with(&self.buffer[model.line.clone()]) || !next.ends_with(b"\r\n") {
                break;
            }
            self.start += whole;
            skipped += 1;
        }
        skipped
    }

    /// Takes the next frame from the buffer.
    fn step(&mut self) -> io::Result<Step> {
        let unread = &self.buffer[self.start..self.end];
        let Some(line_end) = memchr(b'\n', unread) else { return Ok(Step::Starved) };
        let line = unread[..line_end].strip_suffix(b"\r").unwrap_or(&unread[..line_end]);
        let body = self.start + line_end + 1;
        if line.starts_with(b"MSG ") || line.starts_with(b"HMSG ") {
            let layout = Layout::parse(line, self.start, body)?;
            let end = layout.payload.end;
            if self.end < end + 2 {
                self.make_room(end + 2 - self.start);
                return Ok(Step::Starved);
            }
            if self.buffer[end..end + 2] != *b"\r\n" {
                return Err(broken("a message does not end in CRLF", line));
            }
            self.start = end + 2;
            return Ok(Step::Message(layout));
        }
        match line {
            b"PONG" => self.pongs += 1,
            b"PING" => self.socket.write_all(b"PONG\r\n")?,
            b"+OK" => {}
            _ if line.starts_with(b"INFO ") => {}
            _ => return Err(broken("the server says", line)),
        }
        self.start = body;
        Ok(Step::Control)
    }

    /// Asks and waits for the answer; JSON answers with an `error` are errors.
    pub fn request(&mut self, subject: &str, body: &str) -> io::Result<Value> {
        self.next_inbox += 1;
        let (inbox, sid) = (format!("_INBOX.bench.ask.{}", self.next_inbox), format!("ask{}", self.next_inbox));
        let head = format!("SUB {inbox} {sid}\r\nUNSUB {sid} 1\r\n");
        self.write(format!("{head}PUB {subject} {inbox} {}\r\n{body}\r\n", body.len()).as_bytes())?;
        let mut answer = None;
        while answer.is_none() {
            self.read(|message| {
                if message.sid == sid.as_bytes() {
                    answer = Some(serde_json::from_slice::<Value>(message.payload)?);
                }
                Ok(())
            })?;
        }
        let answer = answer.unwrap_or_default();
        match answer.get("error") {
            Some(error) => Err(Error::other(format!("{subject}: {error}"))),
            None => Ok(answer),
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            self.make_room(0);
        }
        let count = self.socket.read(&mut self.buffer[self.end..]).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Error::new(ErrorKind::TimedOut, "the server fell silent"),
            _ => error,
        })?;
        if count == 0 {
            return Err(Error::new(ErrorKind::UnexpectedEof, "the server closed the connection"));
        }
        self.end += count;
        Ok(())
    }

    /// Moves the unread part to the front, and grows the buffer until a frame of `whole` bytes fits.
    fn make_room(&mut self, whole: usize) {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let wanted = whole.max(if self.end == self.buffer.len() { self.end * 2 } else { 0 });
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted.next_power_of_two(), 0);
        }
    }
}

enum Step {
    /// No whole frame is left in the buffer.
    Starved,
    /// Something that is no message, dealt with.
    Control,
    Message(Layout),
}

/// Where the parts of a message lie in the buffer.
struct Layout {
    /// The control line up to its line feed.
    line: Range<usize>,
    subject: Range<usize>,
    sid: Range<usize>,
    reply: Range<usize>,
    headers: Range<usize>,
    payload: Range<usize>,
}

impl Layout {
    /// Parses a MSG or HMSG line that lies at `at`, with its body from `body` on.
    fn parse(line: &[u8], at: usize, body: usize) -> io::Result<Self> {
        let sizes = if line[0] == b'H' { 2 } else { 1 };
        let mut fields = [const { 0..0 }; 6];
        let (mut count, mut begin) = (0, 0);
        for end in memchr_iter(b' ', line).chain([line.len()]) {
            if let Some(field) = fields.get_mut(count) {
                *field = begin..end;
            }
            (count, begin) = (count + 1, end + 1);
        }
        if count != 3 + sizes && count != 4 + sizes {
            return Err(broken("a message with a strange control line", line));
        }
        let number = |field: &Range<usize>| {
            let digits = std::str::from_utf8(&line[field.clone()]).ok();
            digits.and_then(|d| d.parse::<usize>().ok()).ok_or_else(|| broken("no number of bytes", line))
        };
        let total = number(&fields[count - 1])?;
        let header = if sizes == 2 { number(&fields[count - 2])? } else { 0 };
        if header > total {
            return Err(broken("headers longer than the message", line));
        }
        let place = |field: &Range<usize>| at + field.start..at + field.end;
        let reply = if count == 4 + sizes { place(&fields[3]) } else { 0..0 };
        Ok(Self {
            line: at..body,
            subject: place(&fields[1]),
            sid: place(&fields[2]),
            reply,
            headers: body..body + header,
            payload: body + header..body + total,
        })
    }

    fn message<'a>(&self, buffer: &'a [u8]) -> Message<'a> {
        let part = |range: &Range<usize>| &buffer[range.clone()];
        Message {
            subject: part(&self.subject),
            sid: part(&self.sid),
            reply: part(&self.reply),
            headers: part(&self.headers),
            payload: part(&self.payload),
        }
    }
}

fn broken(what: &str, line: &[u8]) -> Error {
    Error::new(ErrorKind::InvalidData, format!("{what}: {}", String::from_utf8_lossy(line)))
}
