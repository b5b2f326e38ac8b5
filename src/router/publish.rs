//! What is published: batches of connections, and those of services.

use super::client::{Ack, PubBatch};
use super::credit::Permit;
use super::destination::Kind;
use super::matchset::MatchSet;
use super::messages::{Outgoing, Publish, Receipt};
use super::replica::Router;
use super::routing::{Item, Outcome, Source};
use crate::account::AccountId;
use crate::actor::{Ctx, Receive};
use crate::protocol::{Letter, PubOp, StoredMessage};
use bytes::Bytes;
use smallvec::SmallVec;
use std::rc::Rc;

/// Runs that are looked up before the first of them is routed. With ten thousand subjects in use each look-up waits for
/// memory; side by side they wait together.
const AHEAD: usize = 8;

/// A granted permit, and the destination that may yet hold it back.
pub(super) struct Pending {
    pub permit: Permit,
    pub congested: Option<u64>,
}

impl Receive<PubBatch> for Router {
    fn receive(&mut self, batch: PubBatch, _: &mut Ctx<Self>) {
        let PubBatch { id, buffer, mut ops } = batch;
        let Some(slot) = self.directory.slot(id) else { return };
        // Should routing panic, the publisher still gets a buffer: see `Router::panicked`.
        self.publisher = Some(id);
        let congested = self.route_batch(slot, id, &buffer, &mut ops);
        self.publisher = None;
        if let Some(destination) = self.directory.destinations.get(slot)
            && let Kind::Connection { port, .. } = &destination.kind
        {
            // What the connection has not parsed yet is still in the buffer.
            ops.clear();
            let permit = Permit::Batch { to: port.clone(), ack: Ack { buffer, ops } };
            self.pending.push(Pending { permit, congested });
        }
    }
}

impl Receive<Publish> for Router {
    fn receive(&mut self, publish: Publish, _: &mut Ctx<Self>) {
        let Publish { id, account, buffer, messages, receipt } = publish;
        let slot = self.directory.slot(id.0);
        let source = Source { slot: slot.unwrap_or(usize::MAX), id: id.0, echo: true, no_responders: false };
        let (outcome, undelivered) = self.route_messages(&source, account, &buffer, &messages);
        let Some(number) = receipt else { return };
        let port = slot.and_then(|slot| match &self.directory.destinations.get(slot)?.kind {
            Kind::Service { port, .. } => port.receipt.clone(),
            Kind::Connection { .. } => None,
        });
        if let Some(to) = port {
            let permit = Permit::Receipt { to, receipt: Receipt { number, undelivered } };
            self.pending.push(Pending { permit, congested: outcome.congested });
        }
    }
}

impl Router {
    fn route_batch(&mut self, slot: usize, id: u64, buffer: &[u8], ops: &mut [PubOp]) -> Option<u64> {
        let mut outcome = Outcome::default();
        let destination = &self.directory.destinations[slot];
        let (account, traits) = (destination.account, destination.traits());
        let source = Source { slot, id, echo: traits.echo, no_responders: traits.no_responders };
        if let Some(first) = ops.first_mut() {
            first.begin_batch();
        }
        let mut runs = ops.chunk_by(|_, next| next.has_same_subject());
        let mut ahead: SmallVec<[(&[PubOp], Rc<MatchSet>); AHEAD]> = SmallVec::new();
        loop {
            // A subscription that ends on the way is missed by its key, not by its absence from the set.
            let found =
                runs.by_ref().take(AHEAD).map(|run| (run, self.directory.find(account, run[0].subject(buffer))));
            ahead.extend(found);
            if ahead.is_empty() {
                return outcome.congested;
            }
            if ahead.len() > 1 {
                ahead.iter().for_each(|(_, set)| self.directory.approach(set));
            }
            for (run, set) in ahead.drain(..) {
                self.round.route_run(&mut self.directory, &source, &set, buffer, run, &mut outcome);
            }
        }
    }

    /// Answers with the indices of those that found nobody.
    fn route_messages(
        &mut self,
        source: &Source,
        account: AccountId,
        buffer: &Bytes,
        messages: &[Outgoing],
    ) -> (Outcome, Vec<u32>) {
        let (mut outcome, mut undelivered) = (Outcome::default(), Vec::new());
        let mut last: Option<(&[u8], Rc<MatchSet>)> = None;
        let mut headers = Vec::new();
        let part = |span| super::part(buffer, span);
        for (index, message) in messages.iter().enumerate() {
            let route = part(&message.route);
            let set = match &last {
                Some((subject, set)) if *subject == route => set.clone(),
                _ => self.directory.find(account, route),
            };
            let letter = match &message.stored {
                None => Letter {
                    subject: part(&message.subject),
                    reply: part(&message.reply),
                    headers: part(&message.headers),
                    payload: part(&message.payload),
                },
                Some(stored) => Letter {
                    subject: stored.subject(),
                    reply: part(&message.reply),
                    headers: with_lines(&mut headers, stored, part(&message.headers)),
                    payload: if message.headers_only { b"" } else { stored.payload() },
                },
            };
            self.round.messages_in += 1;
            if !self.round.deliver(&mut self.directory, source, &set, &Item::Letter(&letter), &mut outcome) {
                undelivered.push(index as u32);
            }
            last = Some((route, set));
        }
        (outcome, undelivered)
    }
}

/// The stored headers with `lines` behind them; a new block if there were none.
fn with_lines<'a>(scratch: &'a mut Vec<u8>, stored: &'a StoredMessage, lines: &[u8]) -> &'a [u8] {
    if lines.is_empty() {
        return stored.headers();
    }
    scratch.clear();
    let block = stored.headers();
    scratch.extend_from_slice(if block.is_empty() {
        b"NATS/1.0\r\n"
    } else {
        block.strip_suffix(b"\r\n").unwrap_or(block)
    });
    scratch.extend_from_slice(lines);
    scratch.extend_from_slice(b"\r\n");
    scratch
}
