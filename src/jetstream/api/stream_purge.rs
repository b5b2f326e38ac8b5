//! `STREAM.PURGE.<stream>` (streams reference 1.8).

use super::answer::{AnswerKind, kinds};
use super::json::{self, Decode, Kind, Member, Schema};
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::{ApiRequest, Purged};
use crate::jetstream::stream::actor::{Later, Stream};
use crate::jetstream::stream::batch::Effect;
use crate::jetstream::stream::contents::Cause;
use crate::subject::Filter;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

const KIND: AnswerKind = kinds::STREAM_PURGE;

/// Messages removed in one turn.
const SLICE: usize = 8192;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PurgeRequest {
    filter: String,
    seq: u64,
    keep: u64,
}

impl Decode for PurgeRequest {
    const SCHEMA: &'static Schema = &Schema {
        name: "JSApiStreamPurgeRequest",
        members: &[&[
            Member::new("seq", Kind::Uint64),
            Member::new("keep", Kind::Uint64),
            Member::new("filter", Kind::String),
        ]],
    };
}

#[derive(Serialize)]
struct Answer {
    success: bool,
    purged: u64,
}

/// A purge on its way: message by message, a slice in each turn.
pub struct Purging {
    request: ApiRequest,
    filter: Filter,
    /// The filter as it was given; none if everything goes.
    given: Option<Bytes>,
    /// Everything that matches below this goes.
    below: u64,
    /// Looked at so far.
    next: u64,
    purged: u64,
}

impl Stream {
    pub(in crate::jetstream) fn purge_stream(&mut self, request: ApiRequest) {
        match self.purgeable(&request) {
            Ok(asked) => self.purge(asked, request),
            Err(error) => self.refuse(request, KIND, &error),
        }
    }

    fn purgeable(&self, request: &ApiRequest) -> Result<PurgeRequest, ApiError> {
        let asked = match json::is_jsonish(&request.body) {
            true => json::request::<PurgeRequest>(&request.body, self.setting.limits.strict)?,
            false => PurgeRequest::default(),
        };
        if asked.seq > 0 && asked.keep > 0 {
            return Err(ErrCode::BadRequest.api());
        }
        if self.config.sealed {
            return Err(ErrCode::StreamSealed.api());
        }
        if self.config.deny_purge {
            return Err(ErrCode::StreamPurgeFailed.text("stream purge not permitted"));
        }
        Ok(asked)
    }

    fn purge(&mut self, asked: PurgeRequest, request: ApiRequest) {
        let filter = Filter::new([&asked.filter]);
        let last = self.contents.last();
        if filter.is_everything() && asked.keep == 0 && (asked.seq == 0 || asked.seq > last) {
            return self.purge_everything(asked.seq, request);
        }
        let below = match (asked.seq, asked.keep) {
            (0, 0) => last + 1,
            (0, keep) => self.kept_from(&filter, keep),
            (seq, _) => seq.min(last + 1),
        };
        let given = (!filter.is_everything()).then(|| Bytes::from(asked.filter));
        let next = self.contents.first();
        self.go_on_purging(Purging { request, filter, given, below, next, purged: 0 });
    }

    /// With a sequence beyond the end, the stream moves forward to it.
    fn purge_everything(&mut self, seq: u64, request: ApiRequest) {
        let purged = self.contents.messages();
        if purged > 0 {
            self.wipe();
        }
        if seq > self.contents.last() + 1 {
            self.contents.move_forward(seq);
            self.pipeline.advance = true;
        }
        let first = self.contents.first();
        let told = Purged { first, last: self.contents.last(), filter: None, first_matching: first };
        self.pipeline.open.effects.push(Effect::Purged(told));
        self.purged(request, purged);
    }

    /// The first of the newest messages that stay.
    fn kept_from(&self, filter: &Filter, keep: u64) -> u64 {
        let count = self.contents.count_matching(filter, 0);
        let Some(gone) = count.checked_sub(keep) else { return 0 };
        if let Some(subject) = filter.literal() {
            let seqs = self.contents.subjects.seqs(subject);
            return seqs.and_then(|seqs| seqs.at(gone)).unwrap_or(self.contents.last() + 1);
        }
        let matching = self.contents.index.scan(0).filter(|(_, entry)| {
            filter.is_everything() || filter.matches(&self.contents.subjects.slot(entry.subject).name)
        });
        matching
            .map(|(seq, _)| seq)
            .nth(usize::try_from(gone).unwrap_or(usize::MAX))
            .unwrap_or(self.contents.last() + 1)
    }

    /// Removes a slice; answers after the last one.
    pub(in crate::jetstream) fn go_on_purging(&mut self, mut purging: Purging) {
        let Purging { filter, below, next, .. } = &purging;
        let here: Vec<u64> = match filter.literal() {
            Some(subject) => {
                let seqs = self.contents.subjects.seqs(subject);
                let ranks = seqs.map(|seqs| (seqs, seqs.rank(*next), seqs.rank(*below)));
                ranks.map_or(Vec::new(), |(seqs, from, to)| {
                    (from..to).filter_map(|at| seqs.at(at)).take(SLICE).collect()
                })
            }
            None => {
                let subjects = &self.contents.subjects;
                let scan = self.contents.index.scan(*next).take_while(|(seq, _)| seq < below);
                let wanted = scan
                    .filter(|(_, entry)| filter.is_everything() || filter.matches(&subjects.slot(entry.subject).name));
                wanted.map(|(seq, _)| seq).take(SLICE).collect()
            }
        };
        let is_last = here.len() < SLICE;
        purging.purged += here.len() as u64;
        purging.next = here.last().map_or(purging.next, |last| last + 1);
        // A purge of a single message is like its deletion (consumers reference 8.3).
        let single = is_last && purging.purged == 1 && purging.given.is_some();
        let cause = if single { Cause::Gone } else { Cause::Purged };
        here.into_iter().for_each(|seq| self.remove(seq, cause));
        if !is_last {
            return self.later(Later::Purge(Box::new(purging)));
        }
        let Purging { request, filter, given, purged, .. } = purging;
        if purged > 0 && !single {
            let (first, last) = (self.contents.first(), self.contents.last());
            let first_matching = match &given {
                Some(_) => self.contents.next_matching(&filter, 0).unwrap_or(last + 1),
                None => first,
            };
            self.pipeline.open.effects.push(Effect::Purged(Purged { first, last, filter: given, first_matching }));
        }
        self.purged(request, purged);
    }

    fn purged(&mut self, request: ApiRequest, purged: u64) {
        let body = KIND.success(&Answer { success: true, purged });
        self.answer_with(request, KIND, body, true, |text| ErrCode::StreamGeneral.text(text));
    }
}
