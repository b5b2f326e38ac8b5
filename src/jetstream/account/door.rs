use super::JetStream;
use crate::jetstream::api::answer::{AnswerKind, kinds};
use crate::jetstream::api::endpoint::{Endpoint, PREFIX};
use crate::jetstream::api::{consumer_create, consumer_pause, json, level};
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::{ApiAnswer, ApiCall, ApiRequest};
use crate::router::messages::{Incoming, Ingest};
use crate::router::part;
use bytes::{Bytes, BytesMut};

impl ApiRequest {
    /// One message of a batch. Its bytes are copied: a request may wait, and the batch's buffer is lent.
    pub fn taken_from(ingest: &Ingest, message: &Incoming) -> Self {
        let spans = [&message.subject, &message.reply, &message.headers, &message.payload];
        let parts = spans.map(|span| part(&ingest.buffer, span));
        let mut all = BytesMut::with_capacity(parts.iter().map(|part| part.len()).sum());
        parts.iter().for_each(|part| all.extend_from_slice(part));
        let mut all = all.freeze();
        let [subject, reply, headers, body] = parts.map(|part| all.split_to(part.len()));
        Self { via: ingest.via, client: message.client, subject, reply, headers, body }
    }

    /// The same request as if it had not come under the name of the domain.
    pub(super) fn without_domain(self, domain: &str) -> Self {
        let rest = self.subject.get(domain_prefix(domain).len()..).unwrap_or_default();
        let subject = [PREFIX.as_bytes(), rest].concat().into();
        Self { subject, ..self }
    }
}

/// Where the API is reached under the name of a domain.
pub(super) fn domain_prefix(domain: &str) -> String {
    format!("$JS.{domain}.API.")
}

impl JetStream {
    /// One request: is it allowed, and whose is it? What is no endpoint is not answered.
    pub(super) fn request(&mut self, request: ApiRequest) {
        let Some(endpoint) = Endpoint::parse(&request.subject) else { return };
        if let Err(error) = self.admit(&endpoint, &request) {
            let kind = self.kind_of(&endpoint);
            return self.answer(ApiAnswer::failure(request, kind, &error));
        }
        match &endpoint {
            Endpoint::AccountInfo => self.account_info(request),
            Endpoint::StreamNames => self.stream_names(request),
            Endpoint::StreamList => self.stream_list(request),
            Endpoint::StreamCreate { stream } => self.stream_create(&text(stream), request),
            Endpoint::StreamUpdate { stream } => self.stream_update(&text(stream), request),
            Endpoint::StreamDelete { stream } => self.stream_delete(&text(stream), request),
            Endpoint::StreamRestore { stream } => self.stream_restore(&text(stream), request),
            Endpoint::Clustered { answer } => {
                let answer = ApiAnswer::failure(request, kinds::clustered(answer), &ErrCode::ClusterRequired.api());
                self.answer(answer);
            }
            _ => self.forward(ApiCall { endpoint, request }),
        }
    }

    /// What must hold for every request (streams reference, section 0.3).
    fn admit(&self, endpoint: &Endpoint, request: &ApiRequest) -> Result<(), ApiError> {
        if let Endpoint::Clustered { .. } = endpoint
            && self.is_enabled()
        {
            return Ok(());
        }
        if let Endpoint::ConsumerInfo { .. } = endpoint
            && !json::is_empty_request(&request.body)
        {
            return Err(ErrCode::NotEmptyRequest.api());
        }
        let can = level::is_met(&request.headers);
        if can && self.is_enabled() {
            return Ok(());
        }
        // Some read their bodies first.
        let strict = self.setting.limits.strict;
        match endpoint {
            Endpoint::ConsumerCreate { .. } | Endpoint::ConsumerDurableCreate { .. } => {
                consumer_create::decode(&request.body, strict)?;
            }
            Endpoint::ConsumerPause { .. } => {
                consumer_pause::decode(&request.body, strict)?;
            }
            _ => {}
        }
        Err(if can { ErrCode::NotEnabledForAccount.api() } else { ErrCode::RequiredApiLevel.api() })
    }

    fn is_enabled(&self) -> bool {
        self.setting.account_limits.enabled
    }

    /// The type of the answer. Users of the system account, which has no JetStream, get one for all but INFO.
    fn kind_of(&self, endpoint: &Endpoint) -> AnswerKind {
        use crate::account::AccountId;
        match endpoint {
            Endpoint::AccountInfo => kinds::ACCOUNT_INFO,
            _ if self.setting.account == AccountId::SYSTEM => kinds::SYSTEM,
            _ => AnswerKind::of(endpoint),
        }
    }

    /// To the stream that is concerned, if there is one.
    fn forward(&mut self, call: ApiCall) {
        let Some(stream) = call.endpoint.stream() else { return };
        match self.catalogue.get_mut(&text(stream)) {
            Some(entry) => match entry.reach(self.setting.limits.max_requests) {
                Ok(port) => port.call.send(call),
                Err(Unreachable::Busy) => self.dropped += 1,
                Err(Unreachable::Offline(error)) => {
                    let kind = AnswerKind::of(&call.endpoint);
                    self.answer(ApiAnswer::failure(call.request, kind, &error));
                }
            },
            None => self.without_stream(call),
        }
    }
}

/// Why a stream cannot be asked.
pub(in crate::jetstream) enum Unreachable {
    /// It has as many requests to answer as may wait.
    Busy,
    Offline(ApiError),
}

impl super::Entry {
    /// The way to the stream, for one call, which is counted as underway until it is answered. `limit`: calls that may
    /// be underway.
    pub(in crate::jetstream) fn reach(&mut self, limit: usize) -> Result<&super::StreamPort, Unreachable> {
        match &self.standing {
            super::Standing::Open(_) if self.underway >= limit => Err(Unreachable::Busy),
            super::Standing::Open(port) => {
                self.underway += 1;
                Ok(port)
            }
            super::Standing::Offline { reason, .. } => {
                Err(Unreachable::Offline(ErrCode::StreamOfflineReason.text(reason)))
            }
        }
    }
}

/// A token as text. One that is no UTF-8 becomes another, which no stream has.
pub(in crate::jetstream) fn text(token: &Bytes) -> String {
    String::from_utf8_lossy(token).into_owned()
}
