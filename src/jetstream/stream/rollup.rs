//! `Nats-Rollup`: a message that takes the place of all before it (streams reference 3.3).

use super::actor::Stream;
use super::batch::Effect;
use super::contents::Cause;
use super::publish_headers::PublishHeaders;
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::Purged;
use bytes::Bytes;

/// From so many messages on, a stream is emptied in one step instead of one by one.
const MANY: u64 = 1024;

/// What a message takes the place of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rollup {
    Subject,
    All,
}

impl Stream {
    pub(super) fn check_rollup(&self, wanted: &PublishHeaders<'_>) -> Result<Option<Rollup>, ApiError> {
        let Some(value) = wanted.rollup else { return Ok(None) };
        if !self.config.allow_rollup_hdrs || self.config.deny_purge {
            return Err(ErrCode::StreamRollupFailed.text("rollup not permitted"));
        }
        match value {
            _ if value.eq_ignore_ascii_case(b"sub") => Ok(Some(Rollup::Subject)),
            _ if value.eq_ignore_ascii_case(b"all") => Ok(Some(Rollup::All)),
            _ => {
                let value = String::from_utf8_lossy(value).to_lowercase();
                Err(ErrCode::StreamRollupFailed.text(format!("rollup value invalid: {value:?}")))
            }
        }
    }

    /// Before a message that takes the place of all: many go in one step.
    pub(super) fn make_way(&mut self) {
        if self.contents.messages() >= MANY {
            self.wipe();
        }
    }

    /// After it has been stored.
    pub(super) fn roll_up(&mut self, rollup: Rollup, subject: &[u8], seq: u64) {
        let older: Vec<u64> = match rollup {
            Rollup::All => self.contents.index.scan(0).map(|(seq, _)| seq).take_while(|known| *known < seq).collect(),
            Rollup::Subject => match self.contents.subjects.seqs(subject) {
                Some(seqs) => (0..seqs.rank(seq)).filter_map(|at| seqs.at(at)).collect(),
                None => Vec::new(),
            },
        };
        // A purge of a single message is like its deletion (consumers reference 8.3).
        let cause = if older.len() == 1 { Cause::Gone } else { Cause::Purged };
        let count = older.len();
        older.into_iter().for_each(|seq| self.remove(seq, cause));
        if count > 1 {
            let filter = (rollup == Rollup::Subject).then(|| Bytes::copy_from_slice(subject));
            let first_matching = if filter.is_some() { seq } else { self.contents.first() };
            let (first, last) = (self.contents.first(), self.contents.last());
            self.pipeline.open.effects.push(Effect::Purged(Purged { first, last, filter, first_matching }));
        }
    }
}
