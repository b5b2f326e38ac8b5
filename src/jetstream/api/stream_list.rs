//! `$JS.API.STREAM.LIST`: the streams of the page describe themselves, and the answer leaves when all have.

use super::answer::kinds;
use super::paging::{self, ListRequest};
use crate::jetstream::account::{JetStream, Listing, Standing};
use crate::jetstream::messages::{ApiAnswer, ApiRequest, Describe};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Streams on a page.
const PAGE: usize = 256;

#[derive(Serialize)]
struct List<'a> {
    total: usize,
    offset: usize,
    limit: usize,
    streams: Vec<&'a RawValue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<&'a String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    offline: &'a BTreeMap<String, String>,
}

impl JetStream {
    pub(in crate::jetstream) fn stream_list(&mut self, request: ApiRequest) {
        let ListRequest(page) = match paging::optional(&request.body, self.setting.limits.strict) {
            Ok(asked) => asked,
            Err(error) => return self.answer(ApiAnswer::failure(request, kinds::STREAM_LIST, &error)),
        };
        if self.listings.is_full() {
            self.dropped += 1;
            return;
        }
        let total = self.catalogue.matching(&page.subject).count();
        let mut listing = Listing::new(request, total, page.offset(total));
        let ticket = self.listings.ticket();
        for entry in self.catalogue.matching(&page.subject).skip(listing.offset).take(PAGE) {
            match &entry.standing {
                Standing::Open(port) => {
                    listing.await_stream(&entry.config.name, entry.id);
                    port.describe.send(Describe { ticket });
                }
                Standing::Offline { reason, .. } => {
                    listing.offline.insert(entry.config.name.clone(), reason.clone());
                }
            }
        }
        match listing.is_complete() {
            true => self.answer_listing(listing),
            false => self.listings.open(listing),
        }
    }

    pub(in crate::jetstream) fn answer_listing(&mut self, listing: Listing) {
        let list = List {
            total: listing.total,
            offset: listing.offset,
            limit: PAGE,
            streams: listing.infos.values().map(|info| &**info).collect(),
            missing: listing.offline.keys().collect(),
            offline: &listing.offline,
        };
        let body = kinds::STREAM_LIST.success(&list);
        self.answer(ApiAnswer::whole(listing.request, body));
    }
}
