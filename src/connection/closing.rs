//! How a connection ends.

use super::listener::ConnectionEnded;
use super::{Connection, Timer};
use crate::actor::Ctx;
use crate::protocol::{CloseReason, ProtocolError};
use crate::router::Leave;
use std::pin::Pin;
use std::task;
use std::time::Duration;
use tokio::io::AsyncWrite;

/// How long a connection that is closing may take to write what it still has to say.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl Connection {
    /// Tells the client what it did wrong, and closes.
    pub(super) fn fail(&mut self, error: ProtocolError) {
        if self.closing.is_some() {
            return;
        }
        self.outbound.say(error.line());
        self.close(error.reason());
    }

    /// Reads no more; ends once all is written.
    pub(super) fn close(&mut self, reason: CloseReason) {
        if self.closing.is_none() {
            self.closing = Some(reason);
            self.set_alarm(Timer::Close, LAST_WORDS.min(self.options.write_deadline), 0);
        }
    }

    /// All is written.
    pub(super) fn finish(&mut self, ctx: &mut Ctx<Self>, task: &mut task::Context<'_>) {
        let _ = Pin::new(&mut self.transport).poll_shutdown(task);
        stop(ctx);
    }

    /// Ends at once; what waits is not written.
    pub(super) fn abort(&mut self, reason: CloseReason, ctx: &mut Ctx<Self>) {
        self.closing.get_or_insert(reason);
        stop(ctx);
    }

    pub(super) fn close_alarm(&mut self, ctx: &mut Ctx<Self>) {
        if self.closing.is_some() {
            stop(ctx);
        }
    }

    /// The last thing it does.
    pub(super) fn part(&mut self) {
        if self.entered {
            self.routers.everyone().for_each(|router| router.send(Leave { id: self.id }));
        }
        let reason = self.closing.unwrap_or(CloseReason::ClientClosed);
        tracing::debug!("{} - Client connection closed: {reason}", self.label());
        self.own.ended.send(ConnectionEnded { id: self.id, reason, state: Box::new(self.state()) });
    }
}

fn stop(ctx: &mut Ctx<Connection>) {
    use actix::prelude::ActorContext;
    ctx.stop();
}
