//! Streams that panicked begin anew, with what is stored of them.

use super::actor::config_of;
use super::{JetStream, Standing};
use crate::actor::{Ctx, Ended, Receive};
use crate::jetstream::stream::Birth;
use crate::jetstream::stream::config::Storage;
use crate::store::{Recovered, RecoveredStream, StreamId};
use std::collections::VecDeque;

/// A stream that panics again and again stays offline after so many times.
const MOST_REVIVALS: u32 = 10;

/// Streams that are to begin anew. The store is asked for one at a time.
#[derive(Default)]
pub(super) struct Revival {
    waiting: VecDeque<StreamId>,
    revived: u64,
}

impl Revival {
    /// Streams that began anew.
    pub fn revived(&self) -> u64 {
        self.revived
    }
}

impl JetStream {
    /// A stream has panicked: it is offline, its subjects and its name stay taken, until it has begun anew. One whose
    /// messages were in memory has nothing to begin with, and stays offline.
    fn panicked(&mut self, id: StreamId, panic: &str) {
        self.setting.switchboard.dismiss(self.setting.stream_service(id));
        let Some(entry) = self.catalogue.by_id(id) else { return };
        let reason = format!("stopped after an internal error: {panic}");
        entry.standing = Standing::Offline { reason, recovered: None };
        entry.underway = 0;
        if entry.config.storage == Storage::File && entry.revivals < MOST_REVIVALS {
            self.revival.waiting.push_back(id);
            if self.revival.waiting.len() == 1 {
                self.ask_store(id);
            }
        }
        self.forget(id);
    }

    fn ask_store(&self, id: StreamId) {
        self.setting.store.recover(id, self.own.outlet());
    }

    fn revive(&mut self, id: StreamId, found: RecoveredStream) {
        let (config, refusal) = config_of(&found);
        // It may have been deleted meanwhile.
        if refusal.is_some() || self.catalogue.by_id(id).is_none() {
            return;
        }
        let port = self.start(Birth::Recovered(Box::new(found)));
        let Some(entry) = self.catalogue.by_id(id) else { return };
        tracing::warn!(account = %self.setting.account_name, stream = %config.name, "stream begins anew");
        entry.config = config;
        entry.standing = Standing::Open(port);
        entry.revivals += 1;
        self.revival.revived += 1;
    }
}

/// What is stored of the stream at the front of the queue.
impl Receive<Recovered> for JetStream {
    fn receive(&mut self, Recovered(found): Recovered, _: &mut Ctx<Self>) {
        let Some(id) = self.revival.waiting.pop_front() else { return };
        match found {
            Ok(Some(found)) => self.revive(id, *found),
            // It never came to be, or its deletion was the last that it did.
            Ok(None) => {
                self.catalogue.remove_id(id);
            }
            Err(error) => tracing::error!(account = %self.setting.account_name, "stream stays offline: {error}"),
        }
        if let Some(next) = self.revival.waiting.front() {
            self.ask_store(*next);
        }
    }
}

/// An actor launched here has ended.
impl Receive<Ended> for JetStream {
    fn receive(&mut self, ended: Ended, _: &mut Ctx<Self>) {
        if let Some(panic) = &ended.panic {
            let dead = self.catalogue.iter().filter(|entry| match &entry.standing {
                Standing::Open(port) => !port.call.is_alive(),
                Standing::Offline { .. } => false,
            });
            let dead: Vec<StreamId> = dead.map(|entry| entry.id).collect();
            dead.into_iter().for_each(|id| self.panicked(id, panic));
        }
        if let Some(parent) = &self.setting.house.ended {
            parent.send(ended);
        }
    }
}
