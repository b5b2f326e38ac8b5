//! `$JS.API.INFO`: what the account has and may have (streams reference, section 8). Its body is ignored.

use super::answer::kinds;
use crate::jetstream::AccountLimits;
use crate::jetstream::account::{ApiCounters, JetStream};
use crate::jetstream::messages::{ApiAnswer, ApiRequest};
use crate::jetstream::stream::metadata::API_LEVEL;
use serde::Serialize;

#[derive(Serialize)]
struct AccountInfo<'a> {
    memory: u64,
    storage: u64,
    reserved_memory: u64,
    reserved_storage: u64,
    streams: usize,
    consumers: usize,
    limits: AccountLimits,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<&'a str>,
    api: Api,
}

#[derive(Serialize)]
struct Api {
    level: u32,
    #[serde(flatten)]
    counters: ApiCounters,
}

impl JetStream {
    pub(in crate::jetstream) fn account_info(&mut self, request: ApiRequest) {
        let (used, reserved) = (self.catalogue.used(), self.catalogue.reserved());
        let info = AccountInfo {
            memory: used.memory,
            storage: used.file,
            reserved_memory: reserved.memory,
            reserved_storage: reserved.file,
            streams: self.catalogue.len(),
            consumers: self.catalogue.consumers(),
            limits: self.setting.account_limits,
            domain: self.setting.limits.domain.as_deref(),
            api: Api { level: API_LEVEL, counters: self.counters },
        };
        let answer = ApiAnswer::success(request, kinds::ACCOUNT_INFO, &info);
        self.answer(answer);
    }
}
