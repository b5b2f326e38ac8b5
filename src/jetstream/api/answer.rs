//! Answers: a JSON object whose first member is `type`, then `error` or what was asked for (streams reference,
//! section 0.2).

use super::endpoint::Endpoint;
use crate::jetstream::error::ApiError;
use crate::jetstream::messages::{ApiAnswer, ApiRequest};
use bytes::Bytes;
use serde::Serialize;

/// Stands before the name of every type of answer.
pub const TYPE_PREFIX: &str = "io.nats.jetstream.api.v1.";

/// The header that tells a stream from another of the same name.
pub const IDENTITY: &str = "Nats-Stream-Identity";

/// A type of answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerKind {
    /// Without the prefix.
    pub name: &'static str,
    /// The members that stand in an error too: JSON, each after a comma.
    on_error: &'static str,
}

/// All types of answers.
pub mod kinds {
    use super::AnswerKind;

    const fn plain(name: &'static str) -> AnswerKind {
        AnswerKind { name, on_error: "" }
    }

    const fn with(name: &'static str, on_error: &'static str) -> AnswerKind {
        AnswerKind { name, on_error }
    }

    pub const ACCOUNT_INFO: AnswerKind = plain("account_info_response");
    pub const STREAM_CREATE: AnswerKind = plain("stream_create_response");
    pub const STREAM_UPDATE: AnswerKind = plain("stream_update_response");
    pub const STREAM_NAMES: AnswerKind =
        with("stream_names_response", r#","total":0,"offset":0,"limit":0,"streams":null"#);
    pub const STREAM_LIST: AnswerKind = with("stream_list_response", r#","total":0,"offset":0,"limit":0,"streams":[]"#);
    pub const STREAM_INFO: AnswerKind = with("stream_info_response", r#","total":0,"offset":0,"limit":0"#);
    pub const STREAM_DELETE: AnswerKind = plain("stream_delete_response");
    pub const STREAM_PURGE: AnswerKind = with("stream_purge_response", r#","purged":0"#);
    pub const STREAM_SNAPSHOT: AnswerKind = plain("stream_snapshot_response");
    pub const STREAM_RESTORE: AnswerKind = with("stream_restore_response", r#","deliver_subject":"""#);
    pub const MESSAGE_GET: AnswerKind = plain("stream_msg_get_response");
    pub const MESSAGE_DELETE: AnswerKind = plain("stream_msg_delete_response");
    pub const CONSUMER_CREATE: AnswerKind = plain("consumer_create_response");
    pub const CONSUMER_NAMES: AnswerKind =
        with("consumer_names_response", r#","total":0,"offset":0,"limit":0,"consumers":[]"#);
    pub const CONSUMER_LIST: AnswerKind =
        with("consumer_list_response", r#","total":0,"offset":0,"limit":0,"consumers":[]"#);
    pub const CONSUMER_INFO: AnswerKind = plain("consumer_info_response");
    pub const CONSUMER_DELETE: AnswerKind = plain("consumer_delete_response");
    pub const CONSUMER_PAUSE: AnswerKind =
        with("consumer_pause_response", r#","paused":false,"pause_until":"0001-01-01T00:00:00Z""#);
    pub const CONSUMER_UNPIN: AnswerKind = plain("consumer_unpin_response");
    pub const CONSUMER_RESET: AnswerKind = with("consumer_reset_response", r#","reset_seq":0"#);
    /// What users of the system account get.
    pub const SYSTEM: AnswerKind = plain("system_response");

    /// For what only a cluster can do.
    pub const fn clustered(name: &'static str) -> AnswerKind {
        plain(name)
    }
}

impl AnswerKind {
    /// The type of the answers of an endpoint.
    pub fn of(endpoint: &Endpoint) -> Self {
        use Endpoint::*;
        match endpoint {
            AccountInfo => kinds::ACCOUNT_INFO,
            StreamNames => kinds::STREAM_NAMES,
            StreamList => kinds::STREAM_LIST,
            StreamCreate { .. } => kinds::STREAM_CREATE,
            StreamUpdate { .. } => kinds::STREAM_UPDATE,
            StreamInfo { .. } => kinds::STREAM_INFO,
            StreamDelete { .. } => kinds::STREAM_DELETE,
            StreamPurge { .. } => kinds::STREAM_PURGE,
            StreamSnapshot { .. } => kinds::STREAM_SNAPSHOT,
            StreamRestore { .. } => kinds::STREAM_RESTORE,
            MessageGet { .. } => kinds::MESSAGE_GET,
            MessageDelete { .. } => kinds::MESSAGE_DELETE,
            ConsumerCreate { .. } | ConsumerDurableCreate { .. } => kinds::CONSUMER_CREATE,
            ConsumerNames { .. } => kinds::CONSUMER_NAMES,
            ConsumerList { .. } => kinds::CONSUMER_LIST,
            ConsumerInfo { .. } => kinds::CONSUMER_INFO,
            ConsumerDelete { .. } => kinds::CONSUMER_DELETE,
            ConsumerPause { .. } => kinds::CONSUMER_PAUSE,
            ConsumerUnpin { .. } => kinds::CONSUMER_UNPIN,
            ConsumerReset { .. } => kinds::CONSUMER_RESET,
            Clustered { answer } => kinds::clustered(answer),
        }
    }

    /// The body of a successful answer. `members` is a struct or a map.
    pub fn success(self, members: &impl Serialize) -> Vec<u8> {
        let mut body = self.open();
        let start = body.len();
        // Plain data: the only way to fail would be a map whose keys are no strings.
        let written = serde_json::to_writer(&mut body, members);
        assert!(written.is_ok() && body.get(start) == Some(&b'{'), "the members of an answer make an object");
        match body.get(start..) {
            Some(b"{}") => {
                body.truncate(start);
                body.push(b'}');
            }
            _ => body[start] = b',',
        }
        body
    }

    /// The body of an error.
    pub fn failure(self, error: &ApiError) -> Vec<u8> {
        let mut body = self.open();
        body.extend_from_slice(br#","error":"#);
        // Plain data, see above.
        let written = serde_json::to_writer(&mut body, error);
        debug_assert!(written.is_ok(), "an error is plain data");
        body.extend_from_slice(self.on_error.as_bytes());
        body.push(b'}');
        body
    }

    fn open(self) -> Vec<u8> {
        let mut body = Vec::with_capacity(256);
        for part in [r#"{"type":""#, TYPE_PREFIX, self.name, "\""] {
            body.extend_from_slice(part.as_bytes());
        }
        body
    }
}

/// `"success":true`
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Success {
    success: bool,
}

impl Success {
    pub const YES: Self = Self { success: true };
}

impl ApiAnswer {
    /// What was asked for. `members` is a struct or a map: what follows `type`.
    pub fn success(request: ApiRequest, kind: AnswerKind, members: &impl Serialize) -> Self {
        Self::whole(request, kind.success(members))
    }

    /// A successful answer whose body is written already.
    pub fn whole(request: ApiRequest, body: Vec<u8>) -> Self {
        Self { request, headers: Bytes::new(), body, is_error: false, is_counted: true }
    }

    pub fn failure(request: ApiRequest, kind: AnswerKind, error: &ApiError) -> Self {
        Self { is_error: true, ..Self::whole(request, kind.failure(error)) }
    }

    /// Tells which stream this is about, whatever it is called (consumers reference, section 11).
    pub fn with_identity(self, identity: &str) -> Self {
        let headers = format!("NATS/1.0\r\n{IDENTITY}: {identity}\r\n\r\n").into();
        Self { headers, ..self }
    }

    /// No answer, as where nobody listens: the request is worked off, and the client hears nothing.
    pub fn none(request: ApiRequest) -> Self {
        let request = ApiRequest { reply: Default::default(), ..request };
        Self { is_counted: false, ..Self::whole(request, Vec::new()) }
    }

    /// Neither counted nor told to the auditors: `MSG.GET` that succeeds, resets.
    pub fn uncounted(self) -> Self {
        Self { is_counted: false, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jetstream::error::ErrCode;

    #[derive(Serialize)]
    struct Nothing {}

    fn text(body: Vec<u8>) -> String {
        String::from_utf8(body).expect("JSON is UTF-8")
    }

    #[test]
    fn type_comes_first() {
        let body = text(kinds::STREAM_DELETE.success(&Success::YES));
        assert_eq!(body, r#"{"type":"io.nats.jetstream.api.v1.stream_delete_response","success":true}"#);
        let body = text(kinds::CONSUMER_UNPIN.success(&Nothing {}));
        assert_eq!(body, r#"{"type":"io.nats.jetstream.api.v1.consumer_unpin_response"}"#);
    }

    #[test]
    fn errors_keep_the_members_that_are_never_left_out() {
        let body = text(kinds::STREAM_PURGE.failure(&ErrCode::StreamNotFound.api()));
        let expected = concat!(
            r#"{"type":"io.nats.jetstream.api.v1.stream_purge_response","#,
            r#""error":{"code":404,"err_code":10059,"description":"stream not found"},"purged":0}"#
        );
        assert_eq!(body, expected);
        for kind in [kinds::STREAM_NAMES, kinds::STREAM_RESTORE, kinds::CONSUMER_PAUSE, kinds::CONSUMER_LIST] {
            let body = kind.failure(&ErrCode::BadRequest.api());
            assert!(serde_json::from_slice::<serde_json::Value>(&body).is_ok());
        }
    }
}
