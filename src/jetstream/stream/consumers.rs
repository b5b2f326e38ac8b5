//! The catalogue of a stream's consumers.

use super::audience::Audiences;
use super::lookup::FEW;
use super::need::Need;
use super::subjects::{Slot, SubjectId};
use crate::actor::{Act, Mailbox, Outlet, Receive};
use crate::jetstream::consumer::ConsumerConfig;
use crate::jetstream::messages::*;
use crate::store::ConsumerId;
use crate::subject::Filter;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where a stream reaches a consumer.
#[derive(Clone, Debug)]
pub struct ConsumerPort {
    pub call: Outlet<ApiCall>,
    pub update: Outlet<UpdateConsumer>,
    pub describe: Outlet<Describe>,
    pub appended: Outlet<Appended>,
    pub removed: Outlet<Removed>,
    pub purged: Outlet<Purged>,
    pub records: Outlet<Records>,
    pub counted: Outlet<Counted>,
    pub saved: Outlet<Saved>,
    pub tell_settled: Outlet<TellSettled>,
    pub end: Outlet<EndConsumer>,
    pub shutdown: Outlet<ServerShutdown>,
}

impl ConsumerPort {
    pub fn to<C>(consumer: &Mailbox<C>) -> Self
    where
        C: Act
            + Receive<ApiCall>
            + Receive<UpdateConsumer>
            + Receive<Describe>
            + Receive<Appended>
            + Receive<Removed>
            + Receive<Purged>
            + Receive<Records>
            + Receive<Counted>
            + Receive<Saved>
            + Receive<TellSettled>
            + Receive<EndConsumer>
            + Receive<ServerShutdown>,
    {
        Self {
            call: consumer.outlet(),
            update: consumer.outlet(),
            describe: consumer.outlet(),
            appended: consumer.outlet(),
            removed: consumer.outlet(),
            purged: consumer.outlet(),
            records: consumer.outlet(),
            counted: consumer.outlet(),
            saved: consumer.outlet(),
            tell_settled: consumer.outlet(),
            end: consumer.outlet(),
            shutdown: consumer.outlet(),
        }
    }
}

/// The subjects of its stream that a consumer's filter matches.
#[derive(Debug, Default)]
pub enum Matching {
    /// Not looked for yet, or no longer right.
    #[default]
    Unknown,
    /// All of them, those that hold nothing just now included.
    Few(Vec<SubjectId>),
    Many,
}

/// A consumer as its stream knows it.
pub struct Member {
    pub id: ConsumerId,
    pub name: Arc<str>,
    pub port: ConsumerPort,
    pub config: ConsumerConfig,
    /// In nanoseconds since 1970.
    pub created: i64,
    pub filter: Filter,
    pub matching: Matching,
    pub need: Need,
    /// The stream has not always asked for what it settles: its next whole state says what it needs.
    pub owes_need: bool,
    /// Its state is in memory only: nothing of it goes to the store.
    pub is_volatile: bool,
}

impl Member {
    /// Direct and sourcing consumers are not shown, and do not count.
    pub fn is_hidden(&self) -> bool {
        self.config.direct
    }
}

/// What a consumer was before it was reconfigured.
pub struct Reconfigured {
    pub config: ConsumerConfig,
    pub filter: Filter,
}

/// All consumers of a stream, by number and by name, and who of them wants which subject.
#[derive(Default)]
pub struct Consumers {
    members: BTreeMap<ConsumerId, Member>,
    names: BTreeMap<Arc<str>, ConsumerId>,
    pub audiences: Audiences,
    /// Numbers given so far are not above this.
    last_id: u64,
}

impl Consumers {
    /// All, hidden ones included.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Those that are shown.
    pub fn visible(&self) -> usize {
        self.members.values().filter(|member| !member.is_hidden()).count()
    }

    pub fn get(&self, id: ConsumerId) -> Option<&Member> {
        self.members.get(&id)
    }

    pub fn get_mut(&mut self, id: ConsumerId) -> Option<&mut Member> {
        self.members.get_mut(&id)
    }

    pub fn named(&self, name: &[u8]) -> Option<&Member> {
        let id = self.names.get(std::str::from_utf8(name).ok()?)?;
        self.members.get(id)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Member> {
        self.members.values()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Member> {
        self.members.values_mut()
    }

    /// By name, ascending.
    pub fn sorted(&self) -> impl Iterator<Item = &Member> {
        self.names.values().filter_map(|id| self.members.get(id))
    }

    /// Numbers below this have been given already.
    pub fn reserve_ids(&mut self, next: ConsumerId) {
        self.last_id = self.last_id.max(next.0.saturating_sub(1));
    }

    /// A number that no consumer of this stream has or had.
    pub fn fresh_id(&mut self) -> ConsumerId {
        self.last_id += 1;
        ConsumerId(self.last_id)
    }

    pub fn add(&mut self, member: Member) {
        self.last_id = self.last_id.max(member.id.0);
        self.audiences.add(member.id, &member.filter);
        self.names.insert(member.name.clone(), member.id);
        self.members.insert(member.id, member);
    }

    pub fn remove(&mut self, id: ConsumerId) -> Option<Member> {
        let member = self.members.remove(&id)?;
        self.names.remove(&member.name);
        self.audiences.remove(id, &member.filter);
        Some(member)
    }

    /// The stream holds a subject that it did not know.
    pub fn meet_subject(&mut self, subject: SubjectId, audience: u32) {
        for id in self.audiences.set(audience).iter() {
            let Some(member) = self.members.get_mut(id) else { continue };
            match &mut member.matching {
                Matching::Few(few) if few.len() == FEW => member.matching = Matching::Many,
                Matching::Few(few) => few.push(subject),
                Matching::Unknown | Matching::Many => {}
            }
        }
    }

    /// The stream no longer knows a subject; its number may come to stand for another.
    pub fn forget_subject(&mut self, subject: SubjectId, slot: &mut Slot) {
        if self.audiences.is_empty() {
            return;
        }
        let audience = self.audiences.number(slot);
        for id in self.audiences.set(audience).iter() {
            if let Some(Member { matching: Matching::Few(few), .. }) = self.members.get_mut(id) {
                few.retain(|known| *known != subject);
            }
        }
    }

    /// Gives a consumer another configuration and filter; returns what it had.
    pub fn reconfigure(&mut self, id: ConsumerId, config: ConsumerConfig, filter: Filter) -> Option<Reconfigured> {
        let member = self.members.get_mut(&id)?;
        let config = std::mem::replace(&mut member.config, config);
        if member.filter == filter {
            return Some(Reconfigured { config, filter });
        }
        let filter = std::mem::replace(&mut member.filter, filter);
        member.matching = Matching::Unknown;
        self.audiences.remove(id, &filter);
        self.audiences.add(id, &member.filter);
        Some(Reconfigured { config, filter })
    }
}
