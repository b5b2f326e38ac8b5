//! The limits of a stream: what they refuse, and what they push out (streams reference 3.10).

use super::actor::Stream;
use super::config::Discard;
use super::contents::Cause;
use crate::jetstream::error::{ApiError, ErrCode};

impl Stream {
    /// With `discard: new`, whether there is room for one more message of this size.
    pub(super) fn check_discard_new(&self, subject: &[u8], size: u32, is_rollup: bool) -> Result<(), ApiError> {
        let config = &self.config;
        if config.discard != Discard::New {
            return Ok(());
        }
        let full = |text| Err(ErrCode::StreamStoreFailed.text(text));
        let seqs = match config.max_msgs_per_subject > 0 {
            true => self.contents.subjects.seqs(subject),
            false => None,
        };
        let replaced = seqs.filter(|seqs| seqs.len() >= config.max_msgs_per_subject as u64);
        if replaced.is_some() && config.discard_new_per_subject && !is_rollup {
            return full("maximum messages per subject exceeded");
        }
        if config.max_msgs > 0 && self.contents.messages() >= config.max_msgs as u64 && replaced.is_none() {
            return full("maximum messages exceeded");
        }
        if config.max_bytes > 0 && self.contents.bytes() + u64::from(size) > config.max_bytes as u64 {
            let oldest = replaced.and_then(|seqs| self.contents.index.get(seqs.first()?));
            if oldest.is_none_or(|oldest| oldest.size < size) {
                return full("maximum bytes exceeded");
            }
        }
        Ok(())
    }

    /// Pushes out what is too much after a message has been stored on this subject.
    pub(super) fn enforce_limits(&mut self, subject: &[u8]) {
        if self.config.max_msgs_per_subject > 0 {
            self.enforce_per_subject(subject);
        }
        self.enforce_totals();
    }

    fn enforce_per_subject(&mut self, subject: &[u8]) {
        let most = self.config.max_msgs_per_subject as u64;
        while let Some(oldest) =
            self.contents.subjects.seqs(subject).filter(|seqs| seqs.len() > most).and_then(|seqs| seqs.first())
        {
            self.remove(oldest, Cause::Gone);
        }
    }

    /// `max_msgs` and `max_bytes`: the oldest go.
    pub(super) fn enforce_totals(&mut self) {
        if self.config.discard != Discard::Old {
            return;
        }
        let most = u64::try_from(self.config.max_msgs).ok().filter(|most| *most > 0).unwrap_or(u64::MAX);
        let most_bytes = u64::try_from(self.config.max_bytes).ok().filter(|most| *most > 0).unwrap_or(u64::MAX);
        while self.contents.messages() > most || self.contents.bytes() > most_bytes {
            self.remove(self.contents.first(), Cause::Gone);
        }
    }

    /// After an update: every subject within its limit.
    pub(super) fn enforce_all_subjects(&mut self) {
        if self.config.max_msgs_per_subject <= 0 {
            return;
        }
        let most = self.config.max_msgs_per_subject as u64;
        let mut surplus = Vec::new();
        self.contents.subjects.matching(b">", &mut |_, slot| {
            let much = slot.seqs.len().saturating_sub(most);
            surplus.extend((0..much).filter_map(|at| slot.seqs.at(at)));
        });
        surplus.sort_unstable();
        surplus.into_iter().for_each(|seq| self.remove(seq, Cause::Gone));
    }

    /// Takes a message out, for whatever cause.
    pub(in crate::jetstream) fn remove(&mut self, seq: u64, cause: Cause) {
        if self.contents.remove(seq, cause).is_some() && self.has_retention() {
            self.consumers.iter_mut().for_each(|member| member.need.forget(seq));
        }
    }
}
