//! Consumers come, are asked, and go.

use super::actor::{Later, Stream};
use super::batch::Effect;
use super::config::{Retention, Storage};
use super::consumers::{Matching, Member};
use super::need::Need;
use crate::jetstream::api::answer::{AnswerKind, IDENTITY, Success, kinds};
use crate::jetstream::api::consumer_create::{self, Action, Named};
use crate::jetstream::api::consumer_names::{self, LIST_LIMIT, NAMES_LIMIT, Page};
use crate::jetstream::api::endpoint::Endpoint;
use crate::jetstream::api::json;
use crate::jetstream::api::level;
use crate::jetstream::consumer::birth::{ConsumerBirth, Start};
use crate::jetstream::consumer::config::{AckPolicy, DeliverPolicy};
use crate::jetstream::consumer::{ConsumerConfig, StreamContext, defaults, validate};
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::*;
use crate::jetstream::time;
use crate::protocol::{fresh_name, headers, short_hash};
use crate::store::{Change, ConsumerId, ConsumerState, RecoveredConsumer};
use crate::subject::{Filter, collides};
use bytes::Bytes;
use std::collections::BTreeMap;

/// `CONSUMER.LIST` requests that wait for what consumers say of themselves.
#[derive(Default)]
pub struct Listings {
    next_ticket: u64,
    open: BTreeMap<u64, Listing>,
}

struct Listing {
    request: ApiRequest,
    total: usize,
    offset: usize,
    /// By name; `None` until the consumer has answered.
    infos: BTreeMap<String, Option<Box<serde_json::value::RawValue>>>,
}

impl Stream {
    // ---- creating

    pub(super) fn create_consumer(&mut self, endpoint: Endpoint, request: ApiRequest) {
        if let Some(effects) = self.unclear() {
            effects.push(Effect::Later(Box::new(Later::Call(ApiCall { endpoint, request }))));
            return;
        }
        match self.wanted_consumer(&endpoint, &request) {
            Ok(named) => match self.consumers.named(named.name.as_bytes()).map(|member| member.id) {
                Some(id) => self.update_consumer(id, named, request),
                None => self.add_consumer(named, request),
            },
            Err(error) => self.refuse(request, kinds::CONSUMER_CREATE, &error),
        }
    }

    /// Consumers reference 1.3, steps 1 to 18.
    fn wanted_consumer(&self, endpoint: &Endpoint, request: &ApiRequest) -> Result<Named, ApiError> {
        let body = consumer_create::decode(&request.body, self.setting.limits.strict)?;
        if !level::is_met(&request.headers) {
            return Err(ErrCode::RequiredApiLevel.api());
        }
        let mut named = consumer_create::check_names(endpoint, body)?;
        if named.config.direct || named.config.sourcing {
            self.check_identity(&request.headers)?;
            self.fit_sourcing(&mut named);
        }
        let context = StreamContext { config: &self.config, limits: &self.setting.limits };
        defaults::apply(&mut named.config, &context, named.pedantic)?;
        validate::validate(&named.config, &context)?;
        Ok(named)
    }

    /// Who sources from a stream may insist on the one it knows.
    fn check_identity(&self, headers: &[u8]) -> Result<(), ApiError> {
        let own = self.identity();
        match headers::get(headers, IDENTITY) {
            Some(wanted) if wanted.trim_ascii() != own.as_bytes() => {
                Err(ErrCode::ConsumerStreamIdentityMismatch.text(&own))
            }
            _ => Ok(()),
        }
    }

    /// Tells this stream from others of its name (consumers reference, section 11).
    fn identity(&self) -> String {
        short_hash(&time::rfc3339(self.created))
    }

    /// A consumer for sourcing gets a name of its own; where messages go when they are acknowledged, it becomes a
    /// durable one with acknowledgements instead, which begins again at its floor (consumers reference, section 11).
    fn fit_sourcing(&self, named: &mut Named) {
        let Named { name, config, .. } = named;
        if !(config.direct && config.sourcing) {
            return;
        }
        if !self.has_retention() {
            *name = format!("{name}-{}", fresh_name());
            config.name.clone_from(name);
            return;
        }
        config.durable_name.clone_from(name);
        config.direct = false;
        config.ack_policy = AckPolicy::FlowControl;
        (config.ack_wait, config.max_deliver, config.inactive_threshold) = (0, 0, 0);
        if let Some(member) = self.consumers.named(name.as_bytes()) {
            config.deliver_policy = member.config.deliver_policy;
            config.opt_start_seq = member.config.opt_start_seq;
            config.opt_start_time.clone_from(&member.config.opt_start_time);
        }
    }

    fn update_consumer(&mut self, id: ConsumerId, named: Named, request: ApiRequest) {
        let Named { config, action, .. } = named;
        if let Err(error) = self.check_overlap(&config, Some(id)) {
            return self.refuse(request, kinds::CONSUMER_CREATE, &error);
        }
        if let Some(member) = self.consumers.get(id) {
            member.port.update.send(UpdateConsumer { config: Box::new(config), action, request });
        }
    }

    fn add_consumer(&mut self, named: Named, request: ApiRequest) {
        if let Err(error) = self.check_new_consumer(&named) {
            return self.refuse(request, kinds::CONSUMER_CREATE, &error);
        }
        let Named { name, mut config, .. } = named;
        defaults::stamp_ephemeral(&mut config);
        let filter = Filter::new(config.filters());
        let start = self.start_of(&config, &filter);
        let state = ConsumerState {
            delivered_stream: start.next.saturating_sub(1),
            floor_stream: start.next.saturating_sub(1),
            ..ConsumerState::default()
        };
        let id = self.consumers.fresh_id();
        let created = self.now();
        let is_volatile = self.is_volatile(&config);
        if !is_volatile {
            let (name, config) = (name.clone(), consumer_bytes(&config));
            self.store.stage(Change::CreateConsumer { consumer: id, name, config, created, state });
        }
        let need = self.need_of(&start, &filter);
        self.pipeline.open.effects.push(Effect::ConsumerCreated { consumer: id });
        self.launch(Launch { id, name, config, created, filter, need, start, recovered: None, request: Some(request) });
    }

    /// Consumers reference 1.3, steps 20 to 23.
    fn check_new_consumer(&self, named: &Named) -> Result<(), ApiError> {
        let config = &named.config;
        if named.action == Action::Update {
            return Err(ErrCode::ConsumerDoesNotExist.api());
        }
        if !config.direct && !config.sourcing && self.is_full_of_consumers() {
            return Err(ErrCode::MaximumConsumersLimit.api());
        }
        if self.config.retention == Retention::WorkQueue && !config.direct && !config.sourcing {
            if !matches!(config.ack_policy, AckPolicy::Explicit | AckPolicy::FlowControl) {
                return Err(ErrCode::ConsumerWorkQueueRequiresExplicitAck.api());
            }
            if config.deliver_policy != DeliverPolicy::All {
                return Err(ErrCode::ConsumerWorkQueueNotDeliverAll.api());
            }
        }
        self.check_overlap(config, None)?;
        validate::name_length(config)
    }

    fn is_full_of_consumers(&self) -> bool {
        let most = match self.config.max_consumers {
            own if own > 0 => own,
            _ if self.setting.account_limits.max_consumers > 0 => self.setting.account_limits.max_consumers,
            _ => self.setting.limits.max_consumers,
        };
        let counted = self.consumers.iter().filter(|member| !member.config.direct && !member.config.sourcing).count();
        most > 0 && counted as i64 >= most
    }

    /// On a work queue no two consumers may want the same message (consumers reference 8.1).
    fn check_overlap(&self, config: &ConsumerConfig, own: Option<ConsumerId>) -> Result<(), ApiError> {
        if self.config.retention != Retention::WorkQueue || config.direct || config.sourcing {
            return Ok(());
        }
        let wanted = config.filters();
        for other in self.consumers.iter().filter(|member| Some(member.id) != own) {
            if other.config.direct || other.config.sourcing {
                continue;
            }
            if wanted.is_empty() && own.is_none() {
                return Err(ErrCode::ConsumerWorkQueueMultipleUnfiltered.api());
            }
            let theirs = other.config.filters();
            let meets = |mine: &String| theirs.iter().any(|theirs| collides(mine.as_bytes(), theirs.as_bytes()));
            if wanted.is_empty() || theirs.is_empty() || wanted.iter().any(meets) {
                return Err(ErrCode::ConsumerWorkQueueNotUnique.api());
            }
        }
        Ok(())
    }

    /// Whether nothing of a consumer is stored (consumers reference 8.7).
    fn is_volatile(&self, config: &ConsumerConfig) -> bool {
        config.mem_storage || config.direct || !self.is_durable()
    }

    /// What a new consumer needs of what is there. Up to the last sequence then, only what it was promised.
    fn need_of(&self, start: &Start, filter: &Filter) -> Need {
        let mut need = Need::from(start.next);
        let Some(listed) = start.last_per_subject.as_ref().filter(|_| self.has_retention()) else { return need };
        let subjects = &self.contents.subjects;
        for (seq, entry) in self.contents.index.scan(start.next).take_while(|(seq, _)| *seq <= start.stream_last) {
            if filter.matches(&subjects.slot(entry.subject).name) && listed.binary_search(&seq).is_err() {
                need.settle(seq);
            }
        }
        need
    }

    /// What a consumer in this state needs of what is there.
    pub(super) fn need_by(&self, state: &ConsumerState, filter: &Filter) -> Need {
        let subjects = &self.contents.subjects;
        let held = self.contents.index.scan(0).take_while(|(seq, _)| *seq <= state.delivered_stream);
        let held = held.filter(|(_, entry)| filter.matches(&subjects.slot(entry.subject).name));
        Need::recovered(state, held.map(|(seq, _)| seq))
    }

    fn launch(&mut self, launch: Launch) {
        let Launch { id, name, config, created, filter, need, start, recovered, request } = launch;
        let is_volatile = self.is_volatile(&config);
        let birth = ConsumerBirth {
            id,
            name: name.as_str().into(),
            stream_id: self.id,
            stream_name: self.name.clone(),
            stream_identity: self.identity().into(),
            storage: if is_volatile { Storage::Memory } else { self.config.storage },
            retention: self.config.retention,
            max_message: self.largest_message(),
            config: config.clone(),
            created,
            start,
            recovered,
            request,
        };
        self.resolve_counts();
        let port = (self.desk.launch)(birth);
        self.catch_up(id, &filter);
        let name = name.as_str().into();
        let matching = Matching::Unknown;
        self.consumers.add(Member {
            id,
            name,
            port,
            config,
            created,
            filter,
            matching,
            need,
            owes_need: false,
            is_volatile,
        });
    }

    /// The most bytes that a message can have.
    fn largest_message(&self) -> u64 {
        match u64::try_from(self.config.max_msg_size) {
            Ok(most) if most > 0 => most,
            _ => u64::try_from(self.setting.limits.max_payload).unwrap_or(u64::MAX),
        }
    }

    // ---- after a restart

    /// Consumers go on where they were; what their acks removed is removed, should that have been lost.
    pub(super) fn launch_recovered(&mut self) {
        for found in std::mem::take(&mut self.recovered) {
            self.launch_again(found);
        }
        self.sweep_all_consumed();
    }

    fn launch_again(&mut self, found: RecoveredConsumer) {
        let RecoveredConsumer { id, name, config, created, mut state } = found;
        let config: ConsumerConfig = match serde_json::from_slice(&config) {
            Ok(config) => config,
            Err(error) => {
                tracing::error!(stream = %self.name, consumer = %name, "configuration can not be read: {error}");
                return;
            }
        };
        clamp(&mut state, self.contents.last());
        let filter = Filter::new(config.filters());
        let need = match self.has_retention() {
            true => self.need_by(&state, &filter),
            false => Need::default(),
        };
        let next = state.delivered_stream + 1;
        let start = Start {
            next,
            earliest: self.earliest_of(&config),
            pending: self.durable_count(&filter, next),
            upto: self.pipeline.durable_last,
            last_per_subject: None,
            stream_last: self.contents.last(),
        };
        let recovered = Some(state);
        self.launch(Launch { id, name, config, created, filter, need, start, recovered, request: None });
    }

    fn sweep_all_consumed(&mut self) {
        if self.has_retention() && !self.consumers.is_empty() {
            self.sweep_all();
        }
    }

    // ---- changing

    /// A consumer's new configuration, checked by it: made durable, and adopted.
    pub(super) fn save_config(&mut self, save: SaveConfig) {
        if let Some(effects) = self.unclear() {
            effects.push(Effect::Later(Box::new(Later::SaveConfig(save))));
            return;
        }
        if self.closing {
            return;
        }
        let SaveConfig { consumer, ticket, config, filter } = save;
        let Some(member) = self.consumers.get(consumer) else { return };
        let (is_volatile, has_new_filter) = (member.is_volatile, member.filter != filter);
        self.resolve_counts();
        if has_new_filter {
            self.catch_up(consumer, &filter);
        }
        if !is_volatile {
            self.store.stage(Change::ConfigureConsumer { consumer, config: consumer_bytes(&config) });
        }
        if let Some(before) = self.consumers.reconfigure(consumer, *config, filter) {
            self.pipeline.open.effects.push(Effect::Reconfigured { consumer, ticket, before: Box::new(before) });
        }
        if has_new_filter && self.config.retention == Retention::Interest {
            self.sweep_all();
        }
    }

    // ---- going

    pub(super) fn delete_consumer_asked(&mut self, name: &[u8], request: ApiRequest) {
        if !json::is_empty_request(&request.body) {
            return self.refuse(request, kinds::CONSUMER_DELETE, &ErrCode::NotEmptyRequest.api());
        }
        match self.consumers.named(name).map(|member| member.id) {
            Some(id) => self.delete_consumer(id, Some(request)),
            None => self.refuse(request, kinds::CONSUMER_DELETE, &ErrCode::ConsumerNotFound.api()),
        }
    }

    /// Ends a consumer. Its deletion is made durable again and again until it is.
    pub(super) fn delete_consumer(&mut self, id: ConsumerId, request: Option<ApiRequest>) {
        if self.closing {
            return;
        }
        self.resolve_counts();
        let Some(member) = self.consumers.remove(id) else { return };
        member.port.end.send(EndConsumer);
        self.unlist(&member.name);
        if !member.is_volatile {
            let change = Change::DeleteConsumer { consumer: id };
            self.store.stage(change.clone());
            self.pipeline.open.effects.push(Effect::Again(vec![change]));
        }
        if let Some(request) = request {
            let body = kinds::CONSUMER_DELETE.success(&Success::YES);
            self.answer_with(request, kinds::CONSUMER_DELETE, body, true, |text| ErrCode::ConsumerCreate.text(text));
        }
        if self.config.retention == Retention::Interest {
            self.sweep_all();
        }
    }

    // ---- asking

    pub(super) fn pass_to_consumer(&mut self, name: &[u8], endpoint: Endpoint, request: ApiRequest) {
        match self.consumers.named(name) {
            Some(member) => member.port.call.send(ApiCall { endpoint, request }),
            // Consumers listen to these themselves in the reference: nobody there, no answer.
            None if matches!(endpoint, Endpoint::ConsumerReset { .. }) => {
                self.desk.answer.send(ApiAnswer::none(request))
            }
            None => self.refuse(request, AnswerKind::of(&endpoint), &ErrCode::ConsumerNotFound.api()),
        }
    }

    pub(super) fn consumer_names(&mut self, request: ApiRequest) {
        match consumer_names::decode(&request.body, self.setting.limits.strict) {
            Ok(offset) => {
                let (names, total) = self.listed(offset, NAMES_LIMIT);
                self.answer(request, kinds::CONSUMER_NAMES, &Page::new(total, offset, NAMES_LIMIT, names));
            }
            Err(error) => self.refuse(request, kinds::CONSUMER_NAMES, &error),
        }
    }

    pub(super) fn consumer_list(&mut self, request: ApiRequest) {
        let offset = match consumer_names::decode(&request.body, self.setting.limits.strict) {
            Ok(offset) => offset,
            Err(error) => return self.refuse(request, kinds::CONSUMER_LIST, &error),
        };
        let (names, total) = self.listed(offset, LIST_LIMIT);
        self.listings.next_ticket += 1;
        let ticket = self.listings.next_ticket;
        for member in names.iter().filter_map(|name| self.consumers.named(name.as_bytes())) {
            member.port.describe.send(Describe { ticket });
        }
        let infos = names.into_iter().map(|name| (name, None)).collect();
        self.listings.open.insert(ticket, Listing { request, total, offset, infos });
        self.answer_listing(ticket);
    }

    /// A page of the names of consumers that are shown, and how many there are.
    fn listed(&self, offset: usize, limit: usize) -> (Vec<String>, usize) {
        let shown = self.consumers.sorted().filter(|member| !member.is_hidden());
        let names = shown.skip(offset).take(limit).map(|member| member.name.to_string()).collect();
        (names, self.consumers.visible())
    }

    pub(super) fn consumer_described(&mut self, described: Described) {
        let Described { ticket, name, info } = described;
        let Some(listing) = self.listings.open.get_mut(&ticket) else { return };
        if let Some(place) = listing.infos.get_mut(&name) {
            *place = Some(info);
        }
        self.answer_listing(ticket);
    }

    /// A consumer is gone: no list waits for it.
    fn unlist(&mut self, name: &str) {
        let tickets: Vec<u64> = self.listings.open.keys().copied().collect();
        for ticket in tickets {
            let Some(listing) = self.listings.open.get_mut(&ticket) else { continue };
            if listing.infos.get(name).is_some_and(|info| info.is_none()) {
                listing.infos.remove(name);
                listing.total = listing.total.saturating_sub(1);
                self.answer_listing(ticket);
            }
        }
    }

    /// Answers a list whose consumers have all answered.
    fn answer_listing(&mut self, ticket: u64) {
        if !self.listings.open.get(&ticket).is_some_and(|listing| listing.infos.values().all(Option::is_some)) {
            return;
        }
        let Some(listing) = self.listings.open.remove(&ticket) else { return };
        let Listing { request, total, offset, infos } = listing;
        let infos: Vec<_> = infos.into_values().flatten().collect();
        self.answer(request, kinds::CONSUMER_LIST, &Page::new(total, offset, LIST_LIMIT, infos));
    }
}

struct Launch {
    id: ConsumerId,
    name: String,
    config: ConsumerConfig,
    created: i64,
    filter: Filter,
    need: Need,
    start: Start,
    recovered: Option<ConsumerState>,
    request: Option<ApiRequest>,
}

fn consumer_bytes(config: &ConsumerConfig) -> Bytes {
    serde_json::to_vec(config).expect("a configuration is plain data, and a Vec takes it").into()
}

/// A consumer may know more than its stream, if that has lost messages (consumers reference 8.8).
fn clamp(state: &mut ConsumerState, last: u64) {
    if state.delivered_stream <= last {
        return;
    }
    state.pending.split_off(&(last + 1));
    state.redelivered.split_off(&(last + 1));
    state.floor_stream = state.floor_stream.min(last);
    let highest = state.pending.keys().next_back().copied();
    state.delivered_stream = highest.unwrap_or(state.floor_stream).max(state.floor_stream);
}
