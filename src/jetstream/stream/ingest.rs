//! One publish: checked in the order of the streams reference, section 3.2, numbered, staged.

use super::ack::TOO_MANY;
use super::actor::Stream;
use super::config::Retention;
use super::lifetimes::Life;
use super::publish_headers::{PublishHeaders, is_increment, sequence};
use super::rollup::Rollup;
use super::ttl::Ttl;
use crate::jetstream::error::{ApiError, ErrCode};
use crate::protocol::headers;
use crate::router::messages::{Incoming, Ingest};
use crate::router::part;
use crate::store::Draft;
use crate::subject::Filter;
use std::borrow::Cow;

/// The largest record of a file stream, as accounted.
const MAX_RECORD: usize = 32 * 1024 * 1024;

/// A publish as it came.
pub(super) struct Publication<'a> {
    pub subject: &'a [u8],
    pub headers: Cow<'a, [u8]>,
    pub payload: &'a [u8],
}

/// What became of a publish that was not refused.
enum Outcome {
    /// It has this sequence, stored or not.
    Taken(u64),
    /// It is the message with this sequence.
    Duplicate(u64),
}

impl Stream {
    /// Takes one publish, and writes its ack.
    pub(super) fn ingest(&mut self, ingest: &Ingest, message: &Incoming, now: i64) {
        let buffer = &ingest.buffer;
        let reply = part(buffer, &message.reply);
        let is_acked = !reply.is_empty() && !self.config.no_ack;
        let subject = part(buffer, &message.subject);
        let transformed = self.transforms.input.as_ref().and_then(|transform| transform.apply(subject));
        let publication = Publication {
            subject: transformed.as_deref().unwrap_or(subject),
            headers: Cow::Borrowed(part(buffer, &message.headers)),
            payload: part(buffer, &message.payload),
        };
        if self.is_overrun() {
            self.pipeline.tally.refused += 1;
            if is_acked {
                let error = ErrCode::StreamTooManyRequests.api();
                self.acks.refused(reply, &error, TOO_MANY, self.pipeline.open.acks(ingest.via));
            }
            return;
        }
        match self.take(publication, now) {
            Ok(outcome) => {
                self.pipeline.tally.published += 1;
                if !is_acked {
                    return;
                }
                let outbox = self.pipeline.open.acks(ingest.via);
                match outcome {
                    Outcome::Taken(seq) => self.acks.stored(reply, seq, outbox),
                    Outcome::Duplicate(seq) => {
                        self.pipeline.tally.duplicates += 1;
                        self.acks.duplicate(reply, seq, outbox);
                    }
                }
            }
            Err(error) => {
                self.pipeline.tally.refused += 1;
                if is_acked {
                    self.acks.refused(reply, &error, b"", self.pipeline.open.acks(ingest.via));
                }
            }
        }
    }

    /// Whether more waits for the disk than may.
    fn is_overrun(&self) -> bool {
        let limits = &self.setting.limits;
        self.pipeline.buffered_messages >= limits.max_buffered_messages
            || self.pipeline.buffered_bytes >= limits.max_buffered_bytes
    }

    fn take(&mut self, mut publication: Publication<'_>, now: i64) -> Result<Outcome, ApiError> {
        let size = self.accounted(publication.subject, publication.headers.len(), publication.payload.len());
        self.check_size(&publication, size)?;
        if publication.headers.is_empty() {
            self.check_bare(size, publication.subject)?;
            return Ok(Outcome::Taken(self.put(&publication, None, Life::default(), size, now)));
        }
        self.take_with_headers(&mut publication, now)
    }

    /// Sizes come before everything a header says.
    fn check_size(&self, publication: &Publication<'_>, size: u32) -> Result<(), ApiError> {
        if self.is_file() && size as usize > MAX_RECORD {
            return Err(ErrCode::StreamStoreFailed.text("message too large"));
        }
        if self.config.sealed {
            return Err(ErrCode::StreamSealed.api());
        }
        let most = usize::try_from(self.config.max_msg_size).unwrap_or(usize::MAX);
        if publication.headers.len() + publication.payload.len() > most {
            return Err(ErrCode::StreamMessageExceedsMaximum.api());
        }
        if publication.headers.len() > headers::MAX_STORED {
            return Err(ErrCode::StreamHeaderExceedsMaximum.api());
        }
        Ok(())
    }

    /// The checks of a message without headers.
    fn check_bare(&mut self, size: u32, subject: &[u8]) -> Result<(), ApiError> {
        if self.config.retention == Retention::Interest && !self.consumers.audiences.has(subject) {
            return Ok(());
        }
        self.check_discard_new(subject, size, false)
    }

    fn take_with_headers(&mut self, publication: &mut Publication<'_>, now: i64) -> Result<Outcome, ApiError> {
        let block = std::mem::take(&mut publication.headers);
        let wanted = PublishHeaders::parse(&block);
        let stored = match wanted.has_request_info {
            true => Cow::Owned(headers::strip(&block, "Nats-Request-Info").into_owned()),
            false => Cow::Borrowed(&*block),
        };
        let stored = match headers::normalize(&stored) {
            Cow::Owned(block) => Cow::Owned(block),
            Cow::Borrowed(same) if same.len() == stored.len() => stored,
            Cow::Borrowed(other) => Cow::Owned(other.to_vec()),
        };
        let subject = publication.subject;
        // Taken one by one, a batch would be acknowledged as what it is not.
        if wanted.batch_id.is_some() {
            return Err(ErrCode::AtomicPublishDisabled.api());
        }
        self.check_counter(&wanted)?;
        self.check_expectations(&wanted, subject)?;
        if wanted.schedule.is_some() || wanted.scheduler.is_some() || wanted.schedule_next.is_some() {
            return Err(ErrCode::MessageSchedulesDisabled.api());
        }
        if wanted.stream_source.is_some() {
            return Err(ErrCode::MessageStreamSourceNotAllowed.api());
        }
        if let Some(seq) = wanted.msg_id.and_then(|id| self.dedupe.seen(id, now)) {
            return Ok(Outcome::Duplicate(seq));
        }
        if let Some(expected) = wanted.expected_last_msg_id
            && expected != self.dedupe.last()
        {
            let last = String::from_utf8_lossy(self.dedupe.last()).into_owned();
            return Err(ErrCode::StreamWrongLastMessageId.text(last));
        }
        let rollup = self.check_rollup(&wanted)?;
        let mut life = Life::of(&wanted, self.config.allow_msg_ttl);
        let stored = match self.raised_ttl(&mut life) {
            Some(seconds) => Cow::Owned(
                headers::Builder::extend(&headers::strip(&stored, "Nats-TTL")).header("Nats-TTL", seconds).finish(),
            ),
            None => stored,
        };
        let stored = Publication { subject, headers: stored, payload: publication.payload };
        let size = self.accounted(subject, stored.headers.len(), stored.payload.len());
        let is_wanted = self.config.retention != Retention::Interest || self.consumers.audiences.has(subject);
        if is_wanted {
            if wanted.ttl.is_some_and(|ttl| Ttl::parse(ttl).is_none()) {
                return Err(ErrCode::MessageTtlInvalid.api());
            }
            self.check_discard_new(subject, size, rollup.is_some())?;
        }
        if rollup == Some(Rollup::All) {
            self.make_way();
        }
        let seq = self.put(&stored, wanted.msg_id, life, size, now);
        if let Some(rollup) = rollup {
            self.roll_up(rollup, subject, seq);
        }
        Ok(Outcome::Taken(seq))
    }

    /// A delete marker is to outlive what it marks: a TTL shorter than that of markers becomes as long. The new one in
    /// seconds.
    fn raised_ttl(&self, life: &mut Life) -> Option<String> {
        let least = self.config.subject_delete_marker_ttl / 1_000_000_000;
        match life.ttl {
            Some(Ttl::Seconds(seconds)) if seconds < least && self.config.max_msgs_per_subject != 1 => {
                life.ttl = Some(Ttl::Seconds(least));
                Some(least.to_string())
            }
            _ => None,
        }
    }

    fn check_counter(&self, wanted: &PublishHeaders<'_>) -> Result<(), ApiError> {
        match wanted.increment {
            None => Ok(()),
            Some(value) if !is_increment(value) => Err(ErrCode::MessageCounterInvalid.api()),
            Some(_) => Err(ErrCode::MessageCounterDisabled.api()),
        }
    }

    fn check_expectations(&self, wanted: &PublishHeaders<'_>, subject: &[u8]) -> Result<(), ApiError> {
        if wanted.expected_stream.is_some_and(|expected| expected != self.name.as_bytes()) {
            return Err(ErrCode::StreamNotMatch.api());
        }
        if !self.config.allow_msg_ttl && wanted.ttl.is_some_and(|ttl| Ttl::parse(ttl).is_some()) {
            return Err(ErrCode::MessageTtlDisabled.api());
        }
        let wrong = |actual: u64| Err(ErrCode::StreamWrongLastSequence.text(actual));
        match (wanted.expected_last_subject_seq, wanted.expected_last_subject) {
            (Some(expected), filter) => {
                let actual = self.last_on(filter.unwrap_or(subject));
                if sequence(expected) != actual {
                    return wrong(actual);
                }
            }
            (None, Some(_)) => return Err(ErrCode::StreamExpectedLastSequencePerSubjectInvalid.api()),
            (None, None) => {}
        }
        match wanted.expected_last_seq {
            Some(expected) if sequence(expected) != self.contents.last() => wrong(self.contents.last()),
            _ => Ok(()),
        }
    }

    /// The last sequence stored on a subject, wildcards allowed; 0 if there is none.
    fn last_on(&self, subject: &[u8]) -> u64 {
        if let Some(seqs) = self.contents.subjects.seqs(subject) {
            return seqs.last().unwrap_or(0);
        }
        if crate::subject::is_literal(subject) {
            return 0;
        }
        self.contents.last_matching(&Filter::new([subject]), u64::MAX).unwrap_or(0)
    }

    /// Gives a message its sequence, and stores it if it is to be stored.
    pub(super) fn put(
        &mut self,
        publication: &Publication<'_>,
        id: Option<&[u8]>,
        life: Life,
        size: u32,
        now: i64,
    ) -> u64 {
        let Publication { subject, headers, payload } = publication;
        // Times do not decrease with sequences: that makes the search by time exact.
        let timestamp = self.contents.last_timestamp().map_or(now, |last| now.max(last + 1));
        let bytes = headers.len() + payload.len();
        self.pipeline.open.messages += 1;
        self.pipeline.open.bytes += bytes;
        self.pipeline.buffered_messages += 1;
        self.pipeline.buffered_bytes += bytes;
        let wanted = self.config.retention != Retention::Interest || self.consumers.audiences.has(subject);
        let seq = match wanted {
            true => {
                let previous =
                    self.transforms.republish.as_ref().and_then(|_| self.contents.subjects.seqs(subject)?.last());
                let seq = self.store_message(subject, [headers, b""], payload, size, timestamp);
                self.lifetimes.add(seq, life, timestamp);
                self.republish(publication, seq, timestamp, previous.unwrap_or(0));
                match life.end(timestamp) {
                    Some(end) => self.watch(end),
                    None if self.config.max_age > 0 && !self.expiry.is_watching() => self.watch_age(),
                    None => {}
                }
                seq
            }
            false => {
                self.pipeline.advance = true;
                self.contents.skip(timestamp)
            }
        };
        self.remember(id, seq, timestamp);
        if wanted {
            self.enforce_limits(subject);
        }
        seq
    }

    /// Appends a message to contents and store, and counts it for the consumers.
    pub(super) fn store_message(
        &mut self,
        subject: &[u8],
        headers: [&[u8]; 2],
        payload: &[u8],
        size: u32,
        timestamp: i64,
    ) -> u64 {
        let stored = self.contents.append(subject, timestamp, size);
        self.store.append(Draft { seq: stored.seq, timestamp, subject, headers, payload });
        if !self.consumers.audiences.is_empty() {
            let slot = self.contents.subjects.slot_mut(stored.subject);
            let audience = self.consumers.audiences.number(slot);
            if stored.is_new_subject {
                self.consumers.meet_subject(stored.subject, audience);
            }
            self.pipeline.open.count(audience, self.consumers.audiences.base());
        }
        stored.seq
    }

    fn remember(&mut self, id: Option<&[u8]>, seq: u64, timestamp: i64) {
        if self.pipeline.open.last_msg_id.is_none() && (id.is_some() || !self.dedupe.last().is_empty()) {
            self.pipeline.open.last_msg_id = Some(self.dedupe.last().to_vec());
        }
        match id {
            Some(id) => {
                self.dedupe.remember(id, seq, timestamp);
                self.watch_ids();
            }
            None => self.dedupe.set_last(b""),
        }
    }

    /// What a message counts for (streams reference 3.11).
    pub(super) fn accounted(&self, subject: &[u8], headers: usize, payload: usize) -> u32 {
        let overhead = match (self.is_file(), headers) {
            (true, 0) => 30,
            (true, _) => 34,
            (false, _) => 16,
        };
        u32::try_from(overhead + subject.len() + headers + payload).unwrap_or(u32::MAX)
    }
}
