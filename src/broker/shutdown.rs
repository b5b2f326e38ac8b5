use super::actor::{Broker, Stage};
use crate::actor::SetAlarm;
use crate::connection::CloseAll;
use crate::jetstream::messages::ServerShutdown;
use crate::protocol::CloseReason;
use actix_rt::System;
use std::time::Duration;

/// The alarm that ends a shutdown which hangs.
pub(super) const DEADLINE: u64 = u64::MAX;
/// How long an orderly end may take. Everything acknowledged is on the disk anyway.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long consumers have to tell those who wait for messages that there will be none. Whoever is later says nothing.
const GOODBYE: Duration = Duration::from_millis(50);

/// The order of an end: streams say goodbye while there are connections to say it to; then connections; then the store.
impl Broker {
    pub(super) fn shut_down(&mut self) {
        if self.stage >= Stage::EndingStreams {
            return;
        }
        tracing::info!("Initiating Shutdown...");
        self.timers.send(SetAlarm { after: PATIENCE, token: DEADLINE, to: self.own.outlet() });
        self.stage = Stage::EndingStreams;
        match &self.children.streams {
            None => self.close_connections(),
            Some(streams) => {
                streams.jetstream.send(ServerShutdown);
                let token = Stage::EndingStreams as u64;
                self.timers.send(SetAlarm { after: GOODBYE, token, to: self.own.outlet() });
            }
        }
    }

    pub(super) fn close_connections(&mut self) {
        self.stage = Stage::ClosingConnections;
        let done = self.own.outlet();
        self.children.listener.send(CloseAll { reason: CloseReason::ServerShutdown, done });
    }

    pub(super) fn close_store(&mut self) {
        self.stage = Stage::ClosingStore;
        match &self.children.streams {
            None => self.end(),
            Some(streams) => streams.store.close(self.own.outlet()),
        }
    }

    pub(super) fn give_up(&mut self) {
        if self.stage != Stage::Ended {
            tracing::warn!("the shutdown hangs in stage {:?}: ending without waiting", self.stage);
            self.end();
        }
    }

    pub(super) fn end(&mut self) {
        self.stage = Stage::Ended;
        for arbiter in self.children.arbiters.drain(..) {
            arbiter.stop();
            // Its thread ends by itself: whoever waited for it here would wait for whatever hangs on it.
        }
        if let Some(ended) = self.ended.take() {
            ended.send(()).ok();
        }
        System::current().stop();
    }
}
