//! The end of a stream.

use super::actor::Stream;
use super::batch::Effect;
use crate::jetstream::api::answer::kinds;
use crate::jetstream::api::json;
use crate::jetstream::error::ErrCode;
use crate::jetstream::messages::{ApiRequest, EndConsumer};
use crate::store::Change;

impl Stream {
    /// Consumers first, with their advisories; then the stream. Answered when it is durable; tried again until then.
    pub(super) fn delete_stream(&mut self, request: ApiRequest) {
        if !json::is_empty_request(&request.body) {
            return self.refuse(request, kinds::STREAM_DELETE, &ErrCode::NotEmptyRequest.api());
        }
        self.closing = true;
        self.setting.switchboard.dismiss(self.service);
        self.consumers.iter().for_each(|member| member.port.end.send(EndConsumer));
        self.stage_deletion(request);
    }

    pub(super) fn stage_deletion(&mut self, request: ApiRequest) {
        self.store.stage(Change::Delete);
        self.pipeline.open.effects.push(Effect::Deleted { request });
    }
}
