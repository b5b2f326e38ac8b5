use crate::jetstream::messages::{ApiRequest, Described};
use crate::store::StreamId;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};

/// Lists that may be gathered at the same time; requests on top are dropped.
const MAX_LISTINGS: usize = 1024;

/// `STREAM.LIST` requests whose streams have been asked and have not all answered.
#[derive(Default)]
pub struct Listings {
    open: HashMap<u64, Listing>,
    next: u64,
}

/// One of them. What is answered about streams is in the order of their names.
pub struct Listing {
    pub request: ApiRequest,
    pub total: usize,
    pub offset: usize,
    /// Offline streams of the page: name and reason.
    pub offline: BTreeMap<String, String>,
    pub infos: BTreeMap<String, Box<RawValue>>,
    waiting: HashMap<String, StreamId>,
}

impl Listing {
    pub fn new(request: ApiRequest, total: usize, offset: usize) -> Self {
        let (offline, infos, waiting) = Default::default();
        Self { request, total, offset, offline, infos, waiting }
    }

    /// A stream has been asked.
    pub fn await_stream(&mut self, name: &str, id: StreamId) {
        self.waiting.insert(name.to_string(), id);
    }

    pub fn is_complete(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl Listings {
    /// How many are underway.
    pub fn underway(&self) -> usize {
        self.open.len()
    }

    pub fn is_full(&self) -> bool {
        self.open.len() >= MAX_LISTINGS
    }

    /// The ticket of the next listing that is opened.
    pub fn ticket(&self) -> u64 {
        self.next
    }

    pub fn open(&mut self, listing: Listing) {
        self.open.insert(self.next, listing);
        self.next += 1;
    }

    /// A stream has described itself; the listing comes back if that was the last one.
    pub fn described(&mut self, described: Described) -> Option<Listing> {
        let listing = self.open.get_mut(&described.ticket)?;
        if listing.waiting.remove(&described.name).is_some() {
            listing.infos.insert(described.name, described.info);
        }
        if listing.is_complete() { self.open.remove(&described.ticket) } else { None }
    }

    /// A stream is no more, and will not answer; what is complete without it comes back.
    pub fn gone(&mut self, id: StreamId) -> Vec<Listing> {
        self.open.values_mut().for_each(|listing| listing.waiting.retain(|_, waiting| *waiting != id));
        let complete: Vec<u64> = self.open.iter().filter(|(_, l)| l.is_complete()).map(|(ticket, _)| *ticket).collect();
        complete.iter().filter_map(|ticket| self.open.remove(ticket)).collect()
    }
}
