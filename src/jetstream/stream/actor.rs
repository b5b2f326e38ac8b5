use super::ack::AckWriter;
use super::birth::Birth;
use super::commit::Pipeline;
use super::config::{Retention, Storage, StreamConfig};
use super::consumers::Consumers;
use super::contents::Contents;
use super::dedupe::Dedupe;
use super::desk::Desk;
use super::expiry::Expiry;
use super::lifetimes::Lifetimes;
use super::lost::Lost;
use super::members::Listings;
use super::reads::Reads;
use super::republish::Transforms;
use super::retention::Sweep;
use crate::actor::{Act, Alarm, Ctx, Mailbox, Receive};
use crate::jetstream::Setting;
use crate::jetstream::api::answer::AnswerKind;
use crate::jetstream::api::direct_get::{Asked, DirectGet};
use crate::jetstream::api::endpoint::Endpoint;
use crate::jetstream::api::stream_purge::Purging;
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::*;
use crate::protocol::Timestamp;
use crate::router::messages::{Enlist, Ingest, Listen, ServiceId, ServicePort};
use crate::store::{
    Change, Committed, Damaged, Fetched, Hot, RecoveredConsumer, Sealed, StorePort, StreamId, StreamStore,
};
use bytes::Bytes;
use serde::Serialize;
use std::sync::Arc;
use std::task;

/// Subscriptions of a stream: the two of direct gets, and one for each of its subjects from `FIRST_SUBJECT` on.
const TAG_DIRECT: u32 = 0;
const TAG_DIRECT_SUBJECT: u32 = 1;
const FIRST_SUBJECT: u32 = 16;

/// What alarms are for.
pub(super) mod alarms {
    pub const EXPIRY: u64 = 1;
    pub const RETRY: u64 = 2;
    pub const DEDUPE: u64 = 3;
}

/// One stream: what it holds, who consumes it, and what of it is on its way to the disk.
///
/// Publishes come as [`Ingest`] batches, are checked, numbered and staged one by one, and are committed when the
/// mailbox has been emptied; acks leave when the commit is durable. Requests are answered from the newest state, and
/// the answers leave when that state is durable.
pub struct Stream {
    pub(in crate::jetstream) setting: Setting,
    pub(in crate::jetstream) desk: Desk,
    pub(in crate::jetstream) own: Mailbox<Stream>,
    pub(in crate::jetstream) id: StreamId,
    pub(in crate::jetstream) service: ServiceId,
    pub(in crate::jetstream) name: Arc<str>,
    pub(in crate::jetstream) config: StreamConfig,
    /// In nanoseconds since 1970.
    pub(in crate::jetstream) created: i64,
    pub(in crate::jetstream) store: Box<dyn StreamStore>,
    pub(in crate::jetstream) contents: Contents,
    pub(in crate::jetstream) dedupe: Dedupe,
    pub(in crate::jetstream) consumers: Consumers,
    pub(in crate::jetstream) pipeline: Pipeline,
    pub(in crate::jetstream) acks: AckWriter,
    pub(in crate::jetstream) reads: Reads,
    pub(in crate::jetstream) expiry: Expiry,
    pub(in crate::jetstream) lifetimes: Lifetimes,
    pub(in crate::jetstream) lost: Lost,
    pub(super) transforms: Transforms,
    pub(super) listings: Listings,
    /// Subjects listened to, with their tags.
    listening: Vec<(u32, String)>,
    next_tag: u32,
    /// Consumers found in the store, until they are launched.
    pub(super) recovered: Vec<RecoveredConsumer>,
    /// The request that created it, until it is staged.
    birth: Option<ApiRequest>,
    /// It is deleted, or never came to be: nothing is taken any more.
    pub(in crate::jetstream) closing: bool,
    /// Requests of clients worked off.
    pub(in crate::jetstream) requests: u64,
}

/// Work that a stream puts off, or goes on with in its next turn.
pub enum Later {
    Call(ApiCall),
    Purge(Box<Purging>),
    Direct(Box<DirectGet>),
    Ask(Asked),
    Count(Count),
    SaveConfig(SaveConfig),
    Expire,
    Sweep(Sweep),
}

/// What a stream shows of itself.
#[derive(Debug, Serialize)]
pub struct StreamState {
    pub account: String,
    pub messages: u64,
    pub bytes: u64,
    pub first_seq: u64,
    pub last_seq: u64,
    pub subjects: usize,
    pub consumers: usize,
    /// Messages stored and not yet durable.
    pub uncommitted: usize,
    pub uncommitted_bytes: usize,
    /// Commits handed to the store and not yet answered.
    pub commits_underway: usize,
    /// Publishes whose acks wait for the disk.
    pub waiting_acks: usize,
    /// Bytes of messages held in memory.
    pub hot_bytes: usize,
    /// Message ids in the duplicate window.
    pub message_ids: usize,
    /// Messages that have a TTL or are delete markers.
    pub lifetimes: usize,
    /// Reads that wait for the disk.
    pub reads_underway: usize,
    /// Messages found damaged.
    pub lost: u64,
    /// Publishes stored, answered as duplicates, and refused, since the start.
    pub published: u64,
    pub duplicates: u64,
    pub refused: u64,
    /// Commits that failed since the start.
    pub failed_commits: u64,
}

impl Stream {
    pub(super) fn begin(setting: Setting, desk: Desk, own: Mailbox<Stream>, birth: Birth) -> Self {
        let (mut request, mut hot) = (None, Hot::default());
        let (id, config, created, recovered) = match birth {
            Birth::New { id, config, created, request: asked } => {
                request = Some(asked);
                (id, config, created, None)
            }
            Birth::Recovered(mut found) => {
                hot = std::mem::take(&mut found.hot);
                let config = super::recovery::config_of(&found);
                (found.id, config, found.created, Some(found))
            }
        };
        let port =
            StorePort { committed: own.outlet(), fetched: own.outlet(), sealed: own.outlet(), damaged: own.outlet() };
        let store = match config.storage {
            Storage::File => setting.store.durable(id, hot, port),
            Storage::Memory => setting.store.memory(id, port),
        };
        let mut stream = Self {
            service: setting.stream_service(id),
            name: config.name.as_str().into(),
            contents: Contents::new(config.first_seq),
            dedupe: Dedupe::new(config.duplicate_window),
            consumers: Consumers::default(),
            pipeline: Pipeline::default(),
            acks: AckWriter::new(&config.name, setting.limits.domain.as_deref()),
            reads: Reads::default(),
            expiry: Expiry::default(),
            lifetimes: Lifetimes::default(),
            lost: Lost::default(),
            transforms: Transforms::of(&config),
            listings: Listings::default(),
            listening: Vec::new(),
            next_tag: FIRST_SUBJECT,
            recovered: Vec::new(),
            birth: request,
            closing: false,
            requests: 0,
            setting,
            desk,
            own,
            id,
            config,
            created,
            store,
        };
        match recovered {
            Some(found) => stream.recover(*found),
            None => stream.stage_creation(),
        }
        stream
    }

    /// Nanoseconds since 1970.
    pub(in crate::jetstream) fn now(&self) -> i64 {
        self.setting.clock.now()
    }

    pub(in crate::jetstream) fn is_durable(&self) -> bool {
        self.store.is_durable()
    }

    pub(in crate::jetstream) fn is_file(&self) -> bool {
        self.config.storage == Storage::File
    }

    /// Whether messages leave because they have been consumed.
    pub(in crate::jetstream) fn has_retention(&self) -> bool {
        self.config.retention != Retention::Limits
    }

    /// Goes on in the next turn.
    pub(in crate::jetstream) fn later(&self, work: Later) {
        self.own.send(work);
    }

    fn stage_creation(&mut self) {
        let config = self.config_bytes();
        let change = Change::Create {
            account: self.setting.account_name.to_string(),
            name: self.config.name.clone(),
            config,
            created: self.created,
        };
        self.store.stage(change);
        if self.config.first_seq > 1 {
            self.pipeline.advance = true;
        }
    }

    pub(super) fn config_bytes(&self) -> Bytes {
        serde_json::to_vec(&self.config).expect("a configuration is plain data, and a Vec takes it").into()
    }

    /// Takes part in messaging: its subjects, and direct gets.
    fn enlist(&mut self) {
        let port = ServicePort { ingest: self.own.outlet(), receipt: None, interest: None };
        self.setting.switchboard.enlist(&Enlist { id: self.service, account: self.setting.account, port });
        self.listen_to_subjects();
        if self.config.allow_direct {
            self.listen_to_direct_gets();
        }
    }

    /// Listens to the subjects of its configuration, and no longer to those that are not in it.
    pub(super) fn listen_to_subjects(&mut self) {
        let wanted = &self.config.subjects;
        let (service, switchboard) = (self.service, &self.setting.switchboard);
        self.listening.retain(|(tag, subject)| {
            let stays = wanted.contains(subject);
            if !stays {
                switchboard.unlisten(service, *tag);
            }
            stays
        });
        for subject in wanted {
            if self.listening.iter().any(|(_, known)| known == subject) {
                continue;
            }
            let listen = Listen {
                id: service,
                tag: self.next_tag,
                subject: Bytes::copy_from_slice(subject.as_bytes()),
                except: Vec::new(),
            };
            switchboard.listen(&listen);
            self.listening.push((self.next_tag, subject.clone()));
            self.next_tag += 1;
        }
    }

    pub(super) fn listen_to_direct_gets(&mut self) {
        let subject = format!("$JS.API.DIRECT.GET.{}", self.name);
        let deeper = format!("{subject}.>");
        for (tag, subject) in [(TAG_DIRECT, subject), (TAG_DIRECT_SUBJECT, deeper)] {
            self.setting.switchboard.listen(&Listen {
                id: self.service,
                tag,
                subject: subject.into(),
                except: Vec::new(),
            });
        }
    }

    pub(super) fn stop_listening_to_direct_gets(&mut self) {
        self.setting.switchboard.unlisten(self.service, TAG_DIRECT);
        self.setting.switchboard.unlisten(self.service, TAG_DIRECT_SUBJECT);
    }

    /// Answers a request, once what the answer says is durable.
    pub(in crate::jetstream) fn answer(&mut self, request: ApiRequest, kind: AnswerKind, members: &impl Serialize) {
        self.answer_with(request, kind, kind.success(members), true, |text| ErrCode::StreamStoreFailed.text(text));
    }

    pub(in crate::jetstream) fn answer_with(
        &mut self,
        request: ApiRequest,
        kind: AnswerKind,
        body: Vec<u8>,
        is_counted: bool,
        failure: fn(&str) -> ApiError,
    ) {
        let answer = super::batch::Answer { request, kind, body, is_counted, failure };
        self.pipeline.open.effects.push(super::batch::Effect::Answer(Box::new(answer)));
    }

    /// Refuses a request. Errors say nothing that is not yet durable.
    pub(in crate::jetstream) fn refuse(&self, request: ApiRequest, kind: AnswerKind, error: &ApiError) {
        self.desk.answer.send(ApiAnswer::failure(request, kind, error));
    }

    /// An advisory about the stream itself (streams reference 6).
    pub(super) fn advise(&mut self, event: &str, action: &str) {
        #[derive(Serialize)]
        struct Advisory<'a> {
            r#type: &'static str,
            id: String,
            timestamp: Timestamp,
            stream: &'a str,
            action: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            domain: Option<&'a str>,
        }
        let advisory = Advisory {
            r#type: "io.nats.jetstream.advisory.v1.stream_action",
            id: crate::protocol::nuid(),
            timestamp: Timestamp(self.now()),
            stream: &self.name,
            action,
            domain: self.setting.limits.domain.as_deref(),
        };
        let body = serde_json::to_vec(&advisory).expect("an advisory is plain data, and a Vec takes it");
        let subject = format!("$JS.EVENT.ADVISORY.STREAM.{event}.{}", self.name);
        self.desk.advisories.message(subject.as_bytes(), b"", b"", &body);
        if let Some(publish) = self.desk.advisories.take(self.service, self.setting.account, None) {
            self.setting.switchboard.any().publish.send(publish);
        }
    }

    fn call(&mut self, call: ApiCall) {
        let ApiCall { endpoint, request } = call;
        self.requests += 1;
        if self.closing {
            return self.refuse(request, AnswerKind::of(&endpoint), &ErrCode::StreamNotFound.api());
        }
        match endpoint {
            Endpoint::StreamCreate { .. } => self.created_again(request),
            Endpoint::StreamInfo { .. } => self.stream_info(request),
            Endpoint::StreamDelete { .. } => self.delete_stream(request),
            Endpoint::StreamPurge { .. } => self.purge_stream(request),
            Endpoint::MessageGet { .. } => self.get_message(request),
            Endpoint::MessageDelete { .. } => self.delete_message(request),
            Endpoint::ConsumerCreate { .. } | Endpoint::ConsumerDurableCreate { .. } => {
                self.create_consumer(endpoint, request);
            }
            Endpoint::ConsumerNames { .. } => self.consumer_names(request),
            Endpoint::ConsumerList { .. } => self.consumer_list(request),
            Endpoint::ConsumerDelete { ref consumer, .. } => self.delete_consumer_asked(&consumer.clone(), request),
            Endpoint::ConsumerInfo { ref consumer, .. }
            | Endpoint::ConsumerPause { ref consumer, .. }
            | Endpoint::ConsumerUnpin { ref consumer, .. }
            | Endpoint::ConsumerReset { ref consumer, .. } => {
                self.pass_to_consumer(&consumer.clone(), endpoint, request)
            }
            Endpoint::StreamSnapshot { .. } => {
                let error = ErrCode::StreamSnapshot.text("not supported by this version");
                self.refuse(request, AnswerKind::of(&endpoint), &error);
            }
            // Neither concerns a stream that is there: JetStream answers these itself.
            Endpoint::AccountInfo
            | Endpoint::StreamNames
            | Endpoint::StreamList
            | Endpoint::StreamUpdate { .. }
            | Endpoint::StreamRestore { .. }
            | Endpoint::Clustered { .. } => {
                self.refuse(request, AnswerKind::of(&endpoint), &ErrCode::BadRequest.api());
            }
        }
    }
}

impl Act for Stream {
    const KIND: &'static str = "stream";
    type State = StreamState;

    fn name(&self) -> String {
        format!("{}.{}", self.setting.account_name, self.name)
    }

    fn observe(&self) -> StreamState {
        let pipeline = &self.pipeline;
        StreamState {
            account: self.setting.account_name.to_string(),
            messages: self.contents.messages(),
            bytes: self.contents.bytes(),
            first_seq: self.contents.first(),
            last_seq: self.contents.last(),
            subjects: self.contents.num_subjects(),
            consumers: self.consumers.len(),
            uncommitted: pipeline.buffered_messages,
            uncommitted_bytes: pipeline.buffered_bytes,
            commits_underway: pipeline.flying.len(),
            waiting_acks: pipeline.waiting_acks(),
            hot_bytes: self.store.hot_bytes(),
            message_ids: self.dedupe.len(),
            lifetimes: self.lifetimes.count(),
            reads_underway: self.reads.underway(),
            lost: self.lost.messages(),
            published: pipeline.tally.published,
            duplicates: pipeline.tally.duplicates,
            refused: pipeline.tally.refused,
            failed_commits: pipeline.tally.failed_commits,
        }
    }

    fn started(&mut self, _: &mut Ctx<Self>) {
        if let Some(request) = self.birth.take() {
            self.pipeline.open.effects.push(super::batch::Effect::Created { request });
        }
        self.expire();
        self.launch_recovered();
        self.enlist();
    }

    fn wake(&mut self, ctx: &mut Ctx<Self>, _: &mut task::Context<'_>) {
        self.commit(ctx);
    }

    /// Consumers do not outlive their stream, also where it has panicked: it will launch new ones.
    fn stopped(&mut self) {
        self.consumers.iter().for_each(|member| member.port.shutdown.send(ServerShutdown));
        self.setting.switchboard.dismiss(self.service);
    }
}

impl Receive<Ingest> for Stream {
    fn receive(&mut self, ingest: Ingest, _: &mut Ctx<Self>) {
        self.pipeline.open.release(ingest.via, ingest.bytes);
        if self.closing {
            return;
        }
        let now = self.now();
        for message in &ingest.messages {
            match message.tag {
                TAG_DIRECT => self.get_directly(&ingest, message, None),
                TAG_DIRECT_SUBJECT => {
                    let prefix = "$JS.API.DIRECT.GET.".len() + self.name.len() + 1;
                    self.get_directly(&ingest, message, Some(prefix));
                }
                _ => self.ingest(&ingest, message, now),
            }
        }
    }
}

impl Receive<ApiCall> for Stream {
    fn receive(&mut self, call: ApiCall, _: &mut Ctx<Self>) {
        self.call(call);
    }
}

impl Receive<UpdateStream> for Stream {
    fn receive(&mut self, update: UpdateStream, _: &mut Ctx<Self>) {
        self.update(update);
    }
}

impl Receive<Describe> for Stream {
    fn receive(&mut self, describe: Describe, _: &mut Ctx<Self>) {
        self.describe(describe);
    }
}

impl Receive<ServerShutdown> for Stream {
    fn receive(&mut self, shutdown: ServerShutdown, _: &mut Ctx<Self>) {
        self.consumers.iter().for_each(|member| member.port.shutdown.send(shutdown));
    }
}

impl Receive<Later> for Stream {
    fn receive(&mut self, later: Later, _: &mut Ctx<Self>) {
        match later {
            Later::Call(call) => self.call(call),
            Later::Purge(purging) => self.go_on_purging(*purging),
            Later::Direct(get) => self.go_on_getting(*get),
            Later::Ask(asked) => self.asked(asked),
            Later::Count(count) => self.count(count),
            Later::SaveConfig(save) => self.save_config(save),
            Later::Expire => self.expire(),
            Later::Sweep(sweep) => self.sweep(sweep),
        }
    }
}

impl Receive<Alarm> for Stream {
    fn receive(&mut self, Alarm(token): Alarm, _: &mut Ctx<Self>) {
        match token {
            alarms::EXPIRY => {
                self.expiry.rang();
                self.expire();
            }
            alarms::RETRY => self.retry(),
            alarms::DEDUPE => self.forget_ids(),
            _ => {}
        }
    }
}

impl Receive<Committed> for Stream {
    fn receive(&mut self, committed: Committed, ctx: &mut Ctx<Self>) {
        self.committed(committed, ctx);
    }
}

impl Receive<Fetched> for Stream {
    fn receive(&mut self, fetched: Fetched, _: &mut Ctx<Self>) {
        self.fetched(fetched);
    }
}

impl Receive<Sealed> for Stream {
    fn receive(&mut self, sealed: Sealed, _: &mut Ctx<Self>) {
        self.store.sealed(&sealed);
    }
}

impl Receive<Damaged> for Stream {
    fn receive(&mut self, damaged: Damaged, _: &mut Ctx<Self>) {
        self.damaged(damaged);
    }
}

impl Receive<Read> for Stream {
    fn receive(&mut self, read: Read, _: &mut Ctx<Self>) {
        self.read(read);
    }
}

impl Receive<ReadThese> for Stream {
    fn receive(&mut self, read: ReadThese, _: &mut Ctx<Self>) {
        self.read_these(read);
    }
}

impl Receive<Count> for Stream {
    fn receive(&mut self, count: Count, _: &mut Ctx<Self>) {
        self.count(count);
    }
}

impl Receive<Save> for Stream {
    fn receive(&mut self, save: Save, _: &mut Ctx<Self>) {
        self.save(save);
    }
}

impl Receive<SaveConfig> for Stream {
    fn receive(&mut self, save: SaveConfig, _: &mut Ctx<Self>) {
        self.save_config(save);
    }
}

impl Receive<Expired> for Stream {
    fn receive(&mut self, expired: Expired, _: &mut Ctx<Self>) {
        self.delete_consumer(expired.consumer, None);
    }
}

impl Receive<Described> for Stream {
    fn receive(&mut self, described: Described, _: &mut Ctx<Self>) {
        self.consumer_described(described);
    }
}
