use super::audit::{self, Audit};
use super::catalogue::{Catalogue, Entry, Standing, StreamPort};
use super::counters::ApiCounters;
use super::door;
use super::listing::Listings;
use super::revival::Revival;
use crate::account::ThisIs;
use crate::actor::{Act, Ctx, House, Mailbox, Place, Receive, launch, launch_here};
use crate::jetstream::Setting;
use crate::jetstream::api::endpoint::{Endpoint, PREFIX};
use crate::jetstream::api::json;
use crate::jetstream::messages::{ApiAnswer, ApiRequest, Described, ServerShutdown, StreamEnded, UpdateRefused, Usage};
use crate::jetstream::stream::{Birth, Stream, StreamConfig, metadata};
use crate::router::Outboxes;
use crate::router::messages::{Enlist, Ingest, Interest, Listen, Release, ServiceId, ServicePort};
use crate::store::{RecoveredStream, StreamId};
use serde::Serialize;
use std::task;

/// What the door of the API does not take: without a taker these are to find nobody, and the client is told so.
const NOT_OURS: &[&str] = &["CONSUMER.MSG.NEXT.>", "DIRECT.GET.>"];

/// The subscription to the API, and to the API under the name of the domain.
const API: u32 = 0;
const DOMAIN_API: u32 = 1;

/// Starts a Stream.
pub(super) type Launch = Box<dyn Fn(&Setting, &Mailbox<JetStream>, Birth) -> StreamPort>;

/// JetStream of one account: the catalogue of its streams, and the door of its API.
///
/// Every request comes in here and every answer goes out here, where it is counted. What concerns one stream, or a
/// consumer of it, is forwarded to that stream, which answers when the facts are durable.
pub struct JetStream {
    pub(in crate::jetstream) setting: Setting,
    pub(in crate::jetstream) own: Mailbox<JetStream>,
    pub(super) id: ServiceId,
    pub(in crate::jetstream) catalogue: Catalogue,
    pub(in crate::jetstream) counters: ApiCounters,
    pub(in crate::jetstream) listings: Listings,
    /// Requests dropped because too many waited.
    pub(in crate::jetstream) dropped: u64,
    outboxes: Outboxes,
    audit: Audit,
    next_stream: StreamId,
    pub(super) revival: Revival,
    /// Found in the store, until they are launched.
    recovered: Vec<RecoveredStream>,
    launch: Launch,
}

/// What JetStream shows of itself.
#[derive(Debug, Serialize)]
pub struct JetStreamState {
    pub streams: usize,
    pub streams_offline: usize,
    /// Times that a stream which had panicked began anew.
    pub streams_revived: u64,
    pub consumers: usize,
    pub memory_bytes: u64,
    pub file_bytes: u64,
    pub api: ApiCounters,
    /// Requests that streams and consumers have not answered yet.
    pub requests_underway: usize,
    pub listings_underway: usize,
    pub requests_dropped: u64,
}

impl JetStream {
    /// `others`: the arbiters that streams are spread over, beside the one it lives on itself. `own`: its own mailbox.
    /// `recovered`: the streams of this account found in the store. `next_stream`: the first number for a new stream.
    pub fn new(
        setting: Setting,
        others: Vec<Place>,
        own: Mailbox<JetStream>,
        recovered: Vec<RecoveredStream>,
        next_stream: StreamId,
    ) -> Self {
        let launch = move |setting: &Setting, jetstream: &Mailbox<JetStream>, birth: Birth| {
            let place = birth.stream().0 as usize % (others.len() + 1);
            launch_stream(setting, place.checked_sub(1).map(|place| &others[place]), jetstream, birth)
        };
        Self::with_streams(setting, own, recovered, next_stream, Box::new(launch))
    }

    pub(super) fn with_streams(
        setting: Setting,
        own: Mailbox<JetStream>,
        recovered: Vec<RecoveredStream>,
        next_stream: StreamId,
        launch: Launch,
    ) -> Self {
        Self {
            id: setting.jetstream_service(),
            setting,
            own,
            catalogue: Catalogue::default(),
            counters: ApiCounters::default(),
            listings: Listings::default(),
            dropped: 0,
            outboxes: Outboxes::default(),
            audit: Audit::default(),
            next_stream,
            revival: Revival::default(),
            recovered,
            launch,
        }
    }

    /// Sends an answer, if there is where to, counts it, and tells the auditors.
    pub(in crate::jetstream) fn answer(&mut self, answer: ApiAnswer) {
        if !answer.request.reply.is_empty() {
            self.outboxes.via(answer.request.via).message(&answer.request.reply, b"", &answer.headers, &answer.body);
        }
        if answer.is_counted {
            self.counters.count(answer.is_error);
            self.audit.note(answer);
        }
    }

    /// Starts a new stream. It answers the request itself once it is durable.
    pub(in crate::jetstream) fn found(&mut self, config: StreamConfig, request: ApiRequest) {
        let id = self.next_stream;
        self.next_stream = StreamId(id.0 + 1);
        let birth = Birth::New { id, config: config.clone(), created: self.setting.clock.now(), request };
        let mut entry = Entry::new(id, config, Standing::Open(self.start(birth)));
        entry.underway = 1;
        self.catalogue.insert(entry);
    }

    pub(in crate::jetstream) fn start(&self, birth: Birth) -> StreamPort {
        (self.launch)(&self.setting, &self.own, birth)
    }

    /// Takes a stream out of the store into the catalogue. One that this server cannot serve is kept and shown, and
    /// its subjects stay its own.
    fn recover(&mut self, found: RecoveredStream) {
        let id = found.id;
        let bytes_and_messages = (0, found.index.len() as u64);
        let consumers = found.consumers.len();
        let (config, refusal) = config_of(&found);
        let standing = match refusal {
            None => Standing::Open(self.start(Birth::Recovered(Box::new(found)))),
            Some(reason) => {
                tracing::warn!(account = %self.setting.account_name, stream = %found.name, "stream is offline: {reason}");
                Standing::Offline { reason, recovered: Some(Box::new(found)) }
            }
        };
        let mut entry = Entry::new(id, config, standing);
        (entry.bytes, entry.messages) = bytes_and_messages;
        entry.consumers = consumers;
        self.catalogue.insert(entry);
    }

    /// A stream's actor is no more: whoever waits for it is told without it.
    pub(super) fn forget(&mut self, id: StreamId) {
        for listing in self.listings.gone(id) {
            self.answer_listing(listing);
        }
    }
}

/// The configuration of a stream as stored, and why it cannot be served if so. Whatever can be read of it is.
pub(super) fn config_of(found: &RecoveredStream) -> (StreamConfig, Option<String>) {
    let strict = json::decode::<StreamConfig>(&found.config, true);
    let (mut config, refusal) = match strict {
        Ok(config) => {
            let refusal = metadata::beyond_us(&config);
            (config, refusal)
        }
        Err(error) => {
            let known = json::decode::<StreamConfig>(&found.config, false).unwrap_or_default();
            let refusal = metadata::beyond_us(&known).unwrap_or_else(|| format!("unsupported - config error: {error}"));
            (known, Some(refusal))
        }
    };
    config.name.clone_from(&found.name);
    (config, refusal)
}

/// Starts a stream, here or elsewhere. Its consumers will live beside it.
fn launch_stream(
    setting: &Setting,
    elsewhere: Option<&Place>,
    jetstream: &Mailbox<JetStream>,
    birth: Birth,
) -> StreamPort {
    let (mut setting, jetstream) = (setting.clone(), jetstream.clone());
    // JetStream hears of streams that end, and passes it on.
    let house = House { ended: Some(jetstream.outlet()), ..setting.house.clone() };
    let stream = match elsewhere {
        None => launch_here(&house, |own| Stream::new(setting, jetstream, own, birth)),
        Some((arbiter, timers)) => {
            setting.timers = timers.clone();
            launch(arbiter, &house, move |own| Stream::new(setting, jetstream, own, birth))
        }
    };
    StreamPort::to(&stream)
}

impl Act for JetStream {
    const KIND: &'static str = "jetstream";
    type State = JetStreamState;

    fn name(&self) -> String {
        self.setting.account_name.to_string()
    }

    fn observe(&self) -> JetStreamState {
        let used = self.catalogue.used();
        let offline = |entry: &&Entry| matches!(entry.standing, Standing::Offline { .. });
        JetStreamState {
            streams: self.catalogue.len(),
            streams_offline: self.catalogue.iter().filter(offline).count(),
            streams_revived: self.revival.revived(),
            consumers: self.catalogue.consumers(),
            memory_bytes: used.memory,
            file_bytes: used.file,
            api: self.counters,
            requests_underway: self.catalogue.iter().map(|entry| entry.underway).sum(),
            listings_underway: self.listings.underway(),
            requests_dropped: self.dropped,
        }
    }

    /// Streams first: whoever can ask for one finds it.
    fn started(&mut self, _: &mut Ctx<Self>) {
        for found in std::mem::take(&mut self.recovered) {
            self.recover(found);
        }
        let port = ServicePort { ingest: self.own.outlet(), receipt: None, interest: Some(self.own.outlet()) };
        let switchboard = &self.setting.switchboard;
        switchboard.enlist(&Enlist { id: self.id, account: self.setting.account, port });
        let named = self.setting.limits.domain.as_deref().map(door::domain_prefix);
        for (tag, prefix) in [(API, Some(PREFIX.to_string())), (DOMAIN_API, named)] {
            let Some(prefix) = prefix else { continue };
            let except = NOT_OURS.iter().map(|rest| format!("{prefix}{rest}").into()).collect();
            switchboard.listen(&Listen { id: self.id, tag, subject: format!("{prefix}>").into(), except });
        }
    }

    /// Answers leave before the question about auditors, and so before what these are told.
    fn wake(&mut self, _: &mut Ctx<Self>, _: &mut task::Context<'_>) {
        for (router, publish) in self.outboxes.drain(self.id, self.setting.account) {
            self.setting.switchboard.line(router).publish.send(publish);
        }
        self.audit.ask(&self.setting, self.id);
    }

    fn stopped(&mut self) {
        self.setting.switchboard.dismiss(self.id);
    }
}

impl Receive<Ingest> for JetStream {
    fn receive(&mut self, ingest: Ingest, _: &mut Ctx<Self>) {
        for message in &ingest.messages {
            let request = ApiRequest::taken_from(&ingest, message);
            self.request(match &self.setting.limits.domain {
                Some(domain) if message.tag == DOMAIN_API => request.without_domain(domain),
                _ => request,
            });
        }
        let release = Release { id: self.id, bytes: ingest.bytes };
        self.setting.switchboard.line(ingest.via).release.send(release);
    }
}

impl Receive<ApiAnswer> for JetStream {
    fn receive(&mut self, answer: ApiAnswer, _: &mut Ctx<Self>) {
        let endpoint = Endpoint::parse(&answer.request.subject);
        let stream = endpoint.as_ref().and_then(Endpoint::stream).map(super::door::text);
        if let Some(entry) = stream.and_then(|stream| self.catalogue.get_mut(&stream)) {
            entry.underway = entry.underway.saturating_sub(1);
        }
        self.answer(answer);
    }
}

impl Receive<Usage> for JetStream {
    fn receive(&mut self, usage: Usage, _: &mut Ctx<Self>) {
        self.catalogue.record(&usage);
    }
}

impl Receive<Described> for JetStream {
    fn receive(&mut self, described: Described, _: &mut Ctx<Self>) {
        if let Some(listing) = self.listings.described(described) {
            self.answer_listing(listing);
        }
    }
}

impl Receive<UpdateRefused> for JetStream {
    fn receive(&mut self, refused: UpdateRefused, _: &mut Ctx<Self>) {
        self.update_refused(refused);
    }
}

impl Receive<StreamEnded> for JetStream {
    fn receive(&mut self, ended: StreamEnded, _: &mut Ctx<Self>) {
        // Unless it was deleted, when its name may be another's by now.
        self.catalogue.remove_id(ended.stream);
        self.forget(ended.stream);
    }
}

/// The answer to the question about auditors.
impl Receive<Interest> for JetStream {
    fn receive(&mut self, interest: Interest, _: &mut Ctx<Self>) {
        if interest.tag == audit::TAG {
            let is_wanted = interest.present.first() == Some(&true);
            self.audit.heard(is_wanted, &self.setting, self.id, &self.own.outlet());
        }
    }
}

/// Who a client is that auditors are told about.
impl Receive<ThisIs> for JetStream {
    fn receive(&mut self, this: ThisIs, _: &mut Ctx<Self>) {
        self.audit.introduced(this, &self.setting, self.id);
    }
}

impl Receive<ServerShutdown> for JetStream {
    fn receive(&mut self, goodbye: ServerShutdown, _: &mut Ctx<Self>) {
        self.catalogue.ports().for_each(|port| port.shutdown.send(goodbye));
    }
}
