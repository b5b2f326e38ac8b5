//! `STREAM.MSG.GET.<stream>` (streams reference 1.5).

use super::answer::{AnswerKind, kinds};
use super::json::{self, Decode, Kind, Member, Schema};
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::ApiRequest;
use crate::jetstream::stream::actor::Stream;
use crate::jetstream::stream::reads::Then;
use crate::protocol::{StoredMessage, Timestamp};
use crate::subject::Filter;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

const KIND: AnswerKind = kinds::MESSAGE_GET;

/// What `MSG.GET` and direct gets can be asked for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct GetRequest {
    pub seq: u64,
    pub last_by_subj: String,
    pub next_by_subj: String,
    /// RFC 3339.
    pub start_time: Option<String>,
    pub batch: i64,
    pub max_bytes: i64,
    pub multi_last: Vec<String>,
    pub up_to_seq: u64,
    pub up_to_time: Option<String>,
    pub no_hdr: bool,
}

impl Decode for GetRequest {
    const SCHEMA: &'static Schema = &Schema {
        name: "JSApiMsgGetRequest",
        members: &[&[
            Member::new("seq", Kind::Uint64),
            Member::new("last_by_subj", Kind::String),
            Member::new("next_by_subj", Kind::String),
            Member::new("start_time", Kind::Time),
            Member::new("batch", Kind::Int),
            Member::new("max_bytes", Kind::Int),
            Member::new("multi_last", Kind::List(&Kind::String)),
            Member::new("up_to_seq", Kind::Uint64),
            Member::new("up_to_time", Kind::Time),
            Member::new("no_hdr", Kind::Bool),
        ]],
    };
}

/// A request whose message is on its way.
pub struct MessageAsked {
    request: ApiRequest,
    no_hdr: bool,
}

#[derive(Serialize)]
struct Shown {
    message: Message,
}

#[derive(Serialize)]
struct Message {
    subject: String,
    seq: u64,
    #[serde(skip_serializing_if = "String::is_empty")]
    hdrs: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    data: String,
    time: Timestamp,
}

impl GetRequest {
    /// The time that takes the place of a sequence.
    pub fn since(&self) -> Option<i64> {
        self.start_time.as_deref().and_then(at)
    }

    pub fn until(&self) -> Option<i64> {
        self.up_to_time.as_deref().and_then(at)
    }
}

/// A time that the decoder has let through, in nanoseconds since 1970.
fn at(text: &str) -> Option<i64> {
    text.parse::<Timestamp>().ok().map(|time| time.0)
}

impl Stream {
    pub(in crate::jetstream) fn get_message(&mut self, request: ApiRequest) {
        match self.seek(&request) {
            Ok((seq, no_hdr)) => {
                self.gather(vec![seq], Then::Answer(Box::new(MessageAsked { request, no_hdr })));
            }
            Err(error) => self.refuse(request, KIND, &error),
        }
    }

    fn seek(&self, request: &ApiRequest) -> Result<(u64, bool), ApiError> {
        if json::is_empty_request(&request.body) {
            return Err(ErrCode::BadRequest.api());
        }
        let asked: GetRequest = json::request(&request.body, self.setting.limits.strict)?;
        let (last, next) = (!asked.last_by_subj.is_empty(), !asked.next_by_subj.is_empty());
        let (seq, time) = (asked.seq > 0, asked.start_time.is_some());
        let several = asked.batch > 0 || asked.max_bytes > 0;
        if !(seq || last || next || time) || several || (seq && (last || time)) || (last && (time || next)) {
            return Err(ErrCode::BadRequest.api());
        }
        let found = self.find(&asked).ok_or_else(|| ErrCode::NoMessageFound.api())?;
        Ok((found, asked.no_hdr))
    }

    /// The one message that a request is about.
    pub(super) fn find(&self, asked: &GetRequest) -> Option<u64> {
        if !asked.last_by_subj.is_empty() {
            return self.contents.last_matching(&Filter::new([&asked.last_by_subj]), u64::MAX);
        }
        let from = match asked.since() {
            Some(time) => self.contents.index.first_since(time)?.0,
            None if asked.start_time.is_some() => return None,
            None => asked.seq,
        };
        if !asked.next_by_subj.is_empty() {
            return self.contents.next_matching(&Filter::new([&asked.next_by_subj]), from);
        }
        self.contents.index.contains(from).then_some(from)
    }

    pub(in crate::jetstream) fn answer_message(&mut self, asked: MessageAsked, message: Option<StoredMessage>) {
        let MessageAsked { request, no_hdr } = asked;
        let Some(message) = message else {
            return self.refuse(request, KIND, &ErrCode::NoMessageFound.api());
        };
        let headers = if no_hdr { &[] } else { message.headers() };
        let shown = Shown {
            message: Message {
                subject: String::from_utf8_lossy(message.subject()).into_owned(),
                seq: message.seq,
                hdrs: STANDARD.encode(headers),
                data: STANDARD.encode(message.payload()),
                time: Timestamp(message.timestamp),
            },
        };
        let body = KIND.success(&shown);
        self.answer_with(request, KIND, body, false, |text| ErrCode::StreamStoreFailed.text(text));
    }
}
