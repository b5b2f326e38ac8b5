use super::messages::{Outgoing, Publish, RouterId, ServiceId, Span};
use crate::account::AccountId;
use crate::protocol::StoredMessage;
use bytes::{BufMut, Bytes, BytesMut};

/// Gathers what a service publishes through one replica, until it leaves as one [`Publish`].
///
/// Used from a service's handlers, sent from its `wake`.
#[derive(Default)]
pub struct Outbox {
    buffer: BytesMut,
    messages: Vec<Outgoing>,
}

/// How a message out of a stream is to be shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Presentation<'a> {
    pub reply: &'a [u8],
    /// Header lines to append, each ending in CRLF, without the block's first line and its empty line.
    pub extra_headers: &'a [u8],
    pub headers_only: bool,
}

impl Outbox {
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Messages gathered.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Bytes gathered, without those of stored messages.
    pub fn bytes(&self) -> usize {
        self.buffer.len()
    }

    /// An ordinary message. `headers` is a whole block or empty.
    pub fn message(&mut self, subject: &[u8], reply: &[u8], headers: &[u8], payload: &[u8]) {
        let route = self.put(subject);
        let (reply, headers, payload) = (self.put(reply), self.put(headers), self.put(payload));
        let subject = route.clone();
        self.messages.push(Outgoing { route, subject, reply, headers, payload, stored: None, headers_only: false });
    }

    /// An ordinary message whose header block `headers` writes in place.
    pub fn compose(&mut self, subject: &[u8], headers: impl FnOnce(&mut BytesMut), payload: &[u8]) {
        let route = self.put(subject);
        let start = self.buffer.len() as u32;
        headers(&mut self.buffer);
        let headers = start..self.buffer.len() as u32;
        let payload = self.put(payload);
        let (subject, reply) = (route.clone(), 0..0);
        self.messages.push(Outgoing { route, subject, reply, headers, payload, stored: None, headers_only: false });
    }

    /// A message out of a stream, to whoever listens on `route`.
    pub fn stored(&mut self, route: &[u8], message: StoredMessage, shown: Presentation<'_>) {
        let (route, reply, headers) = (self.put(route), self.put(shown.reply), self.put(shown.extra_headers));
        let subject = route.clone();
        let headers_only = shown.headers_only;
        self.messages.push(Outgoing {
            route,
            subject,
            reply,
            headers,
            payload: 0..0,
            stored: Some(message),
            headers_only,
        });
    }

    /// Everything gathered, as one message for a replica; `None` if there is nothing.
    pub fn take(&mut self, id: ServiceId, account: AccountId, receipt: Option<u64>) -> Option<Publish> {
        if self.messages.is_empty() {
            return None;
        }
        let buffer = self.buffer.split().freeze();
        Some(Publish { id, account, buffer, messages: std::mem::take(&mut self.messages), receipt })
    }

    fn put(&mut self, bytes: &[u8]) -> Span {
        let start = self.buffer.len() as u32;
        self.buffer.put_slice(bytes);
        start..self.buffer.len() as u32
    }
}

/// Outboxes by replica: answers go back through the replica that brought the question.
#[derive(Default)]
pub struct Outboxes(Vec<Outbox>);

impl Outboxes {
    pub fn via(&mut self, router: RouterId) -> &mut Outbox {
        let at = usize::from(router.0);
        if self.0.len() <= at {
            self.0.resize_with(at + 1, Outbox::default);
        }
        &mut self.0[at]
    }

    /// Each replica that has something to publish, with it.
    pub fn drain(&mut self, id: ServiceId, account: AccountId) -> impl Iterator<Item = (RouterId, Publish)> + '_ {
        let full = self.0.iter_mut().enumerate();
        full.filter_map(move |(at, outbox)| Some((RouterId(at as u16), outbox.take(id, account, None)?)))
    }
}

/// The text of a span.
pub fn part<'a>(buffer: &'a Bytes, span: &Span) -> &'a [u8] {
    buffer.get(span.start as usize..span.end as usize).unwrap_or_default()
}
