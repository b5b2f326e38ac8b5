//! From one message to everybody who is to have it.

use super::client::FromRouter;
use super::destination::{Destination, FLUSH_AT, Kind};
use super::directory::Directory;
use super::matchset::MatchSet;
use super::messages::RouterId;
use super::subscription::SubKey;
use crate::protocol::{Letter, PubOp, encode, encode_no_responders, encode_one, encode_run};
use bytes::Bytes;
use std::rc::Rc;

/// A run of so many bytes is encoded once for all subscribers that share a sid, and shared; less is copied.
const SHARE_FROM: usize = 2048;

/// The state of a round: between two moments at which the mailbox is empty.
pub(super) struct Round {
    pub id: RouterId,
    /// Destinations with something gathered.
    pub touched: Vec<usize>,
    /// More than this before a destination holds publishers back.
    pub stall_above: usize,
    /// Every replica counts for itself; with several, a limit is watched over by the connection.
    pub counted_here: bool,
    pub random: Random,
    pub messages_in: u64,
    pub messages_out: u64,
}

/// One message, as it came from a client or from a service.
#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    Op { buffer: &'a [u8], op: &'a PubOp },
    Letter(&'a Letter<'a>),
}

impl<'a> Item<'a> {
    fn letter(&self) -> Letter<'a> {
        match *self {
            Self::Letter(letter) => *letter,
            Self::Op { buffer, op } => Letter {
                subject: op.subject(buffer),
                reply: op.reply(buffer),
                headers: op.headers(buffer),
                payload: op.payload(buffer),
            },
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Op { op, .. } => op.size(),
            Self::Letter(letter) => letter.headers.len() + letter.payload.len(),
        }
    }
}

/// Who published, as far as routing cares.
#[derive(Clone, Copy)]
pub(super) struct Source {
    pub slot: usize,
    pub id: u64,
    pub echo: bool,
    pub no_responders: bool,
}

/// What became of the messages of a batch.
#[derive(Default)]
pub(super) struct Outcome {
    /// The destination that has too much before it, if one has.
    pub congested: Option<u64>,
}

impl Round {
    /// Routes operations of one subject.
    pub(super) fn route_run(
        &mut self,
        directory: &mut Directory,
        source: &Source,
        set: &Rc<MatchSet>,
        buffer: &[u8],
        ops: &[PubOp],
        outcome: &mut Outcome,
    ) {
        self.messages_in += ops.len() as u64;
        let limited = |&key: &SubKey| directory.subs.get(key).is_some_and(|sub| sub.is_limited());
        if set.plain.iter().any(limited) {
            // The set may change with each message.
            let account = directory.destinations[source.slot].account;
            for op in ops {
                let set = directory.find(account, op.subject(buffer));
                let taken = self.deliver(directory, source, &set, &Item::Op { buffer, op }, outcome);
                self.answer_nobody(directory, source, buffer, op, taken);
            }
            return;
        }
        let mut taken = self.run_to_all(directory, source, &set.plain, buffer, ops, outcome);
        if !set.groups.is_empty() {
            for op in ops {
                for group in &set.groups {
                    taken |= self.deliver_to_one_of(directory, source, group, &Item::Op { buffer, op }, outcome);
                }
            }
        }
        if !taken && source.no_responders {
            ops.iter().for_each(|op| self.answer_nobody(directory, source, buffer, op, false));
        }
    }

    /// Gives each of `subs` the whole run. Answers whether anybody took it.
    fn run_to_all(
        &mut self,
        directory: &mut Directory,
        source: &Source,
        subs: &[SubKey],
        buffer: &[u8],
        ops: &[PubOp],
        outcome: &mut Outcome,
    ) -> bool {
        let (Some(first), Some(last)) = (ops.first(), ops.last()) else { return false };
        let bytes = last.end() - first.end();
        let payload: u64 = ops.iter().map(|op| op.size() as u64).sum();
        let share = subs.len() > 1 && bytes >= SHARE_FROM;
        let mut shared: Option<(SubKey, bool, Bytes)> = None;
        let mut taken = false;
        for &key in subs {
            let Some(sub) = directory.subs.get_mut(key) else { continue };
            if sub.slot == source.slot && !source.echo {
                continue;
            }
            let Some(destination) = directory.destinations.get_mut(sub.slot) else { continue };
            taken = true;
            if is_overflowing(destination) {
                self.touch(sub.slot, destination, outcome);
                continue;
            }
            sub.delivered += ops.len() as u64;
            let (slot, tag) = (sub.slot, sub.key);
            let headers = destination.traits().headers;
            if let Kind::Service { .. } = destination.kind {
                for op in ops {
                    destination.push_incoming(tag, source.id, &Item::Op { buffer, op }.letter());
                }
            } else if !share {
                encode_run(destination.open(), buffer, ops, &sub.sid, headers);
            } else {
                let sid = sub.sid.clone();
                let same = |(other, with, _): &&(SubKey, bool, Bytes)| {
                    *with == headers && directory.subs.get(*other).is_some_and(|other| other.sid == sid)
                };
                let run = match shared.as_ref().filter(same) {
                    Some((.., run)) => run.clone(),
                    None => {
                        let mut run = Vec::with_capacity(bytes + bytes / 4 + 1024);
                        encode_run(&mut run, buffer, ops, &sid, headers);
                        let run = Bytes::from(run);
                        shared = Some((key, headers, run.clone()));
                        run
                    }
                };
                destination.push_shared(run);
            }
            destination.count(ops.len() as u64, payload);
            self.messages_out += ops.len() as u64;
            self.touch(slot, destination, outcome);
        }
        taken
    }

    /// Routes one message. Answers whether anybody took it.
    pub(super) fn deliver(
        &mut self,
        directory: &mut Directory,
        source: &Source,
        set: &Rc<MatchSet>,
        item: &Item<'_>,
        outcome: &mut Outcome,
    ) -> bool {
        let mut taken = false;
        for &key in &set.plain {
            taken |= self.deliver_to(directory, source, key, item, outcome);
        }
        for group in &set.groups {
            taken |= self.deliver_to_one_of(directory, source, group, item, outcome);
        }
        taken
    }

    /// A random member of the group, or the next that can take it.
    fn deliver_to_one_of(
        &mut self,
        directory: &mut Directory,
        source: &Source,
        group: &[SubKey],
        item: &Item<'_>,
        outcome: &mut Outcome,
    ) -> bool {
        let start = self.random.below(group.len());
        let (before, from) = group.split_at(start);
        from.iter().chain(before).any(|&key| self.deliver_to(directory, source, key, item, outcome))
    }

    #[inline]
    fn deliver_to(
        &mut self,
        directory: &mut Directory,
        source: &Source,
        key: SubKey,
        item: &Item<'_>,
        outcome: &mut Outcome,
    ) -> bool {
        // A limit may have been reached since the set was made.
        let Some(sub) = directory.subs.get_mut(key) else { return false };
        if (sub.slot == source.slot && !source.echo) || sub.delivered >= sub.max {
            return false;
        }
        let Some(destination) = directory.destinations.get_mut(sub.slot) else { return false };
        let slot = sub.slot;
        if is_overflowing(destination) {
            self.touch(slot, destination, outcome);
            return true;
        }
        sub.delivered += 1;
        let headers = destination.traits().headers;
        let counted_there = sub.is_limited() && !self.counted_here;
        match &destination.kind {
            Kind::Service { .. } => destination.push_incoming(sub.key, source.id, &item.letter()),
            Kind::Connection { .. } => {
                if counted_there {
                    destination.close_open();
                }
                let open = destination.open();
                match item {
                    Item::Op { buffer, op } => encode_one(open, buffer, op, &sub.sid, headers),
                    Item::Letter(letter) => encode(open, letter, &sub.sid, headers),
                }
                if counted_there {
                    destination.close_counted(sub.key);
                }
            }
        }
        destination.count(1, item.size() as u64);
        self.messages_out += 1;
        let (spent, key) = (sub.delivered >= sub.max && self.counted_here, sub.key);
        self.touch(slot, destination, outcome);
        if spent {
            // Behind its last message, so that the connection knows the sid is free before the client does.
            destination.flush(self.id);
            destination.tell(FromRouter::Spent { key });
            let id = destination.id;
            directory.unsubscribe(id, key);
        }
        true
    }

    /// A destination has been given something: it will be flushed, and it may hold the publisher back.
    #[inline]
    fn touch(&mut self, slot: usize, destination: &mut Destination, outcome: &mut Outcome) {
        if !destination.touched {
            destination.touched = true;
            self.touched.push(slot);
        }
        if destination.gathered() >= FLUSH_AT {
            destination.flush(self.id);
        }
        if destination.owed() > self.stall_above {
            outcome.congested = Some(destination.id);
        }
    }

    /// Tells a requester that nobody took its request (core reference 1.7).
    fn answer_nobody(&mut self, directory: &mut Directory, source: &Source, buffer: &[u8], op: &PubOp, taken: bool) {
        if taken || !source.no_responders || !op.has_reply() {
            return;
        }
        let (subject, reply) = (op.subject(buffer), op.reply(buffer));
        let account = directory.destinations[source.slot].account;
        let Some(sub) = directory.listens_to(source.slot, account, reply) else { return };
        let sid = sub.sid.clone();
        let destination = &mut directory.destinations[source.slot];
        encode_no_responders(destination.open(), reply, &sid, subject);
        self.touch(source.slot, destination, &mut Outcome::default());
    }

    /// Sends everything gathered.
    pub(super) fn flush(&mut self, directory: &mut Directory) {
        for slot in self.touched.drain(..) {
            if let Some(destination) = directory.destinations.get_mut(slot) {
                destination.touched = false;
                destination.flush(self.id);
            }
        }
    }
}

/// It has more before it than its limit allows, by far: it is about to be cut, and gets no more.
#[inline]
fn is_overflowing(destination: &Destination) -> bool {
    destination.owed() > destination.max_pending.saturating_add(FLUSH_AT)
}

/// A xorshift generator: which member of a queue group is nothing to keep secret.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new() -> Self {
        Self(rand::random::<u64>() | 1)
    }

    /// A number below `n`; 0 if `n` is 0.
    #[inline]
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * n as u64) >> 32) as usize
    }
}
