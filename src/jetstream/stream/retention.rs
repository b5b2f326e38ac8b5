//! Work-queue and interest retention: messages go when all who wanted them are done (streams reference 3.10, consumers
//! reference 8.1 and 8.2).

use super::actor::{Later, Stream};
use super::batch::Effect;
use super::config::Retention;
use super::consumers::Matching;
use super::contents::Cause;
use crate::jetstream::messages::{Purged, Save, TellSettled};
use crate::store::Change;

/// Messages looked at in one turn.
const SLICE: usize = 8192;

/// Messages to look at, whether anybody needs them still.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    pub from: u64,
    pub upto: u64,
}

impl Stream {
    /// A consumer's steps, and the removals they cause: one commit.
    pub(super) fn save(&mut self, save: Save) {
        let Save { consumer, ticket, deltas, state, settled, settled_upto, answer } = save;
        if self.closing {
            return;
        }
        let has_retention = self.has_retention();
        let Some(member) = self.consumers.get(consumer) else { return };
        let need = state.as_ref().filter(|_| has_retention && member.owes_need);
        let need = need.map(|state| self.need_by(state, &member.filter));
        let Some(member) = self.consumers.get_mut(consumer) else { return };
        if !member.is_volatile {
            if let Some(state) = state {
                self.store.stage(Change::SetConsumer { consumer, state });
            }
            if !deltas.is_empty() {
                self.store.stage(Change::Consumed { consumer, deltas });
            }
        }
        if answer {
            self.pipeline.open.effects.push(Effect::Saved { consumer, ticket });
        }
        if !has_retention {
            return;
        }
        if let Some(need) = need {
            (member.need, member.owes_need) = (need, false);
            return self.sweep_all();
        }
        let floor = member.need.floor();
        settled.iter().for_each(|seq| member.need.settle(*seq));
        member.need.settle_up_to(settled_upto);
        settled.into_iter().for_each(|seq| self.remove_if_unneeded(seq));
        if settled_upto > floor {
            self.sweep(Sweep { from: floor + 1, upto: settled_upto });
        }
    }

    /// Looks at messages, whether anybody needs them still; in slices.
    pub(super) fn sweep(&mut self, sweep: Sweep) {
        if !self.has_retention() {
            return;
        }
        if self.config.retention == Retention::Interest && self.consumers.is_empty() {
            self.wipe_and_tell();
            return;
        }
        let here: Vec<u64> = {
            let scan = self.contents.index.scan(sweep.from).map(|(seq, _)| seq);
            scan.take_while(|seq| *seq <= sweep.upto).take(SLICE).collect()
        };
        let more = (here.len() == SLICE).then(|| here.last().copied()).flatten();
        here.into_iter().for_each(|seq| self.remove_if_unneeded(seq));
        if let Some(last) = more {
            self.later(Later::Sweep(Sweep { from: last + 1, upto: sweep.upto }));
        }
    }

    /// Messages begin to leave because they have been consumed: consumers are asked what they have.
    pub(super) fn begin_retention(&mut self) {
        for member in self.consumers.iter_mut() {
            member.owes_need = true;
            member.port.tell_settled.send(TellSettled);
        }
        self.sweep_all();
    }

    /// All messages, as after the deletion of a consumer.
    pub(super) fn sweep_all(&mut self) {
        let (from, upto) = (self.contents.first(), self.contents.last());
        self.sweep(Sweep { from, upto });
    }

    pub(super) fn remove_if_unneeded(&mut self, seq: u64) {
        let Some(entry) = self.contents.index.get(seq) else {
            self.consumers.iter_mut().for_each(|member| member.need.forget(seq));
            return;
        };
        let slot = self.contents.subjects.slot_mut(entry.subject);
        let audience = self.consumers.audiences.number(slot);
        let listeners = self.consumers.audiences.set(audience).clone();
        // What no consumer of a work queue matches stays for one that will.
        if listeners.is_empty() && self.config.retention == Retention::WorkQueue {
            return;
        }
        let needs = |id| self.consumers.get(id).is_some_and(|member| member.need.needs(seq));
        if !listeners.iter().any(|id| needs(*id)) {
            self.remove(seq, Cause::Settled);
        }
    }

    /// Empties the stream in one step, as the first change of a commit.
    pub(in crate::jetstream) fn wipe(&mut self) -> u64 {
        self.hand_over();
        self.consumers.iter_mut().for_each(|member| member.matching = Matching::Unknown);
        self.contents.wipe()
    }

    /// Empties the stream, and tells its consumers when that is durable.
    pub(in crate::jetstream) fn wipe_and_tell(&mut self) -> u64 {
        if self.contents.messages() == 0 {
            return 0;
        }
        let count = self.wipe();
        let (first, last) = (self.contents.first(), self.contents.last());
        let purged = Purged { first, last, filter: None, first_matching: first };
        self.pipeline.open.effects.push(Effect::Purged(purged));
        count
    }
}
