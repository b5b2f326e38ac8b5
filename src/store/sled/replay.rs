use super::model::Model;
use crate::store::journal::{Frame, scan::Event};
use crate::store::record::{decode_change, layout};
use crate::store::tail::Tail;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Takes the journal into a model: changes are applied, messages gathered. The same for recovery and for sealing.
#[derive(Debug, Default)]
pub struct Replay {
    pub model: Model,
    /// Whole entries of messages that are in no volume, by stream.
    pub fresh: BTreeMap<u64, Tail<Bytes>>,
    /// Stretches of the journal that cannot be read.
    pub unreadable: u64,
    /// Damage found: stream, sequences, bytes.
    pub damage: Vec<(u64, RangeInclusive<u64>, u64)>,
}

impl Replay {
    pub fn new(model: Model) -> Self {
        Self { model, ..Self::default() }
    }

    pub fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Frame(frame) => self.frame(&frame),
            Event::Unreadable { from, to } => {
                self.unreadable += 1;
                let bytes = to - from;
                tracing::error!("journal: {bytes} bytes at position {from} are damaged (checksum mismatch or missing)");
            }
        }
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        let head = &frame.head;
        let stream = head.stream;
        if head.is_mark() {
            return;
        }
        self.model.next_stream = self.model.next_stream.max(stream + 1);
        let begins_with_message = frame.entries.first().is_some_and(|(_, found)| !found.is_change);
        if self.unreadable > 0 && begins_with_message {
            // Frames before this one may be gone: what they held of this stream is what is missing now.
            let last = self.model.streams.get(&stream).map_or(u64::MAX, |model| model.last);
            if last < head.first_seq.saturating_sub(1) {
                self.lose(stream, last + 1..=head.first_seq - 1, 0);
            }
        }
        let mut messages = 0;
        let mut changes = 0;
        let mut size = 0;
        let mut entries = frame.entries.iter().peekable();
        while let Some(&&(at, found)) = entries.peek() {
            size += found.size as u64;
            let entry = frame.body.slice(at..at + found.size);
            if found.is_change {
                entries.next();
                changes += 1;
                match decode_change(&entry) {
                    Some(change) => {
                        if let Some(fresh) = self.fresh.get_mut(&stream) {
                            fresh.apply(&change);
                        }
                        self.model.apply(stream, change);
                    }
                    None => tracing::error!("journal: a change of stream {stream} is damaged and lost"),
                }
                continue;
            }
            // A run of messages: look the stream up once.
            let Some(model) = self.model.streams.get_mut(&stream) else {
                entries.next();
                messages += 1;
                continue;
            };
            let fresh = self.fresh.entry(stream).or_default();
            let mut last_entry = None;
            while let Some(&&(at, found)) = entries.peek()
                && !found.is_change
            {
                entries.next();
                messages += 1;
                if found.seq <= model.last {
                    continue;
                }
                model.last = found.seq;
                if found.seq >= model.first {
                    fresh.push(found.seq, found.size, frame.body.slice(at..at + found.size));
                }
                last_entry = Some(at..at + found.size);
            }
            if let Some(at) = last_entry.and_then(|at| layout(&frame.body[at])) {
                model.last_timestamp = at.timestamp;
            }
        }
        if !frame.is_whole {
            self.damaged(frame, messages, changes, size);
        }
    }

    /// Names what a frame has lost.
    fn damaged(&mut self, frame: &Frame<'_>, messages: u32, changes: u32, size: u64) {
        let head = &frame.head;
        let name = self.name(head.stream);
        if head.entries.saturating_sub(head.messages) > changes {
            tracing::error!("stream {name}: a change in the journal is damaged (checksum mismatch) and lost");
        }
        if head.messages <= messages {
            return;
        }
        let mut next = head.first_seq;
        let bytes = (head.length as u64).saturating_sub(size);
        let found = frame.entries.iter().filter(|(_, found)| !found.is_change).map(|(_, found)| found.seq);
        let mut first = true;
        for seq in found.chain([head.last_seq.saturating_add(1)]) {
            if seq > next {
                self.lose(head.stream, next..=seq - 1, if first { bytes } else { 0 });
                first = false;
            }
            next = seq.saturating_add(1);
        }
        if let Some(model) = self.model.streams.get_mut(&head.stream) {
            model.last = model.last.max(head.last_seq);
        }
    }

    fn lose(&mut self, stream: u64, range: RangeInclusive<u64>, bytes: u64) {
        let name = self.name(stream);
        tracing::error!(
            "stream {name}: messages {} to {} are damaged in the journal (checksum mismatch) and lost",
            range.start(),
            range.end()
        );
        if let Some(model) = self.model.streams.get_mut(&stream) {
            model.lose(range.clone(), bytes);
        }
        self.damage.push((stream, range, bytes));
    }

    fn name(&self, stream: u64) -> String {
        self.model.streams.get(&stream).map_or(format!("number {stream}"), |m| format!("{} > {}", m.account, m.name))
    }
}
