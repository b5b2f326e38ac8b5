//! `$JS.API.STREAM.NAMES`

use super::answer::kinds;
use super::paging::{self, NamesRequest};
use crate::jetstream::account::JetStream;
use crate::jetstream::messages::{ApiAnswer, ApiRequest};
use serde::Serialize;

/// Names on a page.
const PAGE: usize = 1024;

#[derive(Serialize)]
struct Names<'a> {
    total: usize,
    offset: usize,
    limit: usize,
    /// `null` if the page is empty, as in the reference.
    streams: Option<Vec<&'a str>>,
}

impl JetStream {
    pub(in crate::jetstream) fn stream_names(&mut self, request: ApiRequest) {
        let NamesRequest(page) = match paging::optional(&request.body, self.setting.limits.strict) {
            Ok(asked) => asked,
            Err(error) => return self.answer(ApiAnswer::failure(request, kinds::STREAM_NAMES, &error)),
        };
        let all: Vec<&str> = self.catalogue.matching(&page.subject).map(|entry| entry.config.name.as_str()).collect();
        let (total, offset) = (all.len(), page.offset(all.len()));
        let streams: Vec<&str> = all.into_iter().skip(offset).take(PAGE).collect();
        let streams = (!streams.is_empty()).then_some(streams);
        let answer = ApiAnswer::success(request, kinds::STREAM_NAMES, &Names { total, offset, limit: PAGE, streams });
        self.answer(answer);
    }
}
