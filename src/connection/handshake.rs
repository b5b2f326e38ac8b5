//! From INFO to the first PONG.

use super::{Connection, Judged, Options, Timer};
use crate::auth::{Denied, Identity};
use crate::protocol::{CloseReason, Connect, ProtocolError, ServerInfo};
use crate::router::{Enter, Traits};
use bytes::Bytes;
use std::ops::Range;

/// How far a client has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It must say who it is before anything else.
    Expecting,
    /// A password is being checked on another thread.
    Judging,
    /// It may do what clients do.
    Open,
    /// One too many.
    Refused,
}

impl Phase {
    pub(super) fn at_accept(options: &Options, refused: bool) -> Self {
        match (refused, options.users.without_connect()) {
            (true, _) => Self::Refused,
            (false, Some(_)) => Self::Open,
            (false, None) => Self::Expecting,
        }
    }
}

impl Connection {
    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Nothing can be done before a judgement.
    pub(super) fn is_waiting(&self) -> bool {
        self.phase == Phase::Judging
    }

    /// Whether it may send `HPUB`, and gets `HMSG`.
    pub(super) fn takes_headers(&self) -> bool {
        self.options.info.headers && self.connect.as_ref().is_some_and(|connect| connect.headers)
    }

    /// The first word is the server's.
    pub(super) fn greet(&mut self) {
        self.outbound.say(self.info().line());
        if self.phase == Phase::Refused {
            return self.fail(ProtocolError::MaximumConnectionsExceeded);
        }
        self.set_alarm(Timer::Ping, self.options.ping_interval, 0);
        if self.phase == Phase::Expecting {
            self.set_alarm(Timer::Auth, self.options.auth_timeout, 0);
        }
    }

    fn info(&self) -> ServerInfo {
        let mut info = self.options.info.clone();
        info.client_id = self.id;
        info.client_ip = self.peer.ip().to_string();
        info.ldm = self.lame_duck;
        info
    }

    pub(super) fn auth_alarm(&mut self) {
        if matches!(self.phase, Phase::Expecting | Phase::Judging) {
            self.fail(ProtocolError::AuthenticationTimeout);
        }
    }

    /// A CONNECT, the first or a later one.
    pub(super) fn connect(&mut self, json: Range<usize>) {
        let mut connect = self.connect.as_deref().cloned().unwrap_or_else(Connect::default);
        let (buffer, _) = self.inbound.unparsed();
        if let Err(error) = connect.update(&buffer[json]) {
            tracing::debug!("{} - {error}", self.label());
            return self.close(CloseReason::ProtocolViolation);
        }
        let attempt = self.options.users.attempt(&connect);
        // What it proved itself with is not kept.
        for secret in [&mut connect.pass, &mut connect.auth_token, &mut connect.sig, &mut connect.jwt] {
            *secret = String::new();
        }
        self.connect = Some(Box::new(connect));
        if !attempt.is_bcrypt() {
            return self.judged(attempt.run());
        }
        self.phase = Phase::Judging;
        let to = self.own.judged.clone();
        actix_rt::task::spawn_blocking(move || to.send(Judged(attempt.run())));
    }

    /// Who a client turned out to be.
    pub(super) fn judged(&mut self, verdict: Result<Identity, Denied>) {
        if self.closing.is_some() {
            return;
        }
        let identity = match verdict {
            Ok(identity) => identity,
            Err(denied) => {
                tracing::error!("{} - {denied}", self.label());
                return self.fail(ProtocolError::AuthorizationViolation);
            }
        };
        let objection = self.connect.as_ref().and_then(|c| c.objection(self.options.info.headers));
        if let Some(objection) = objection {
            return self.fail(objection);
        }
        let again = self.identity.replace(identity).is_some();
        self.heartbeat.greeted(self.started.elapsed());
        self.phase = Phase::Open;
        self.subs.clear();
        self.entered = false;
        self.enter();
        if !again {
            self.schedule_first_ping();
        }
        self.ok();
    }

    /// Makes itself known to the routers, unless they know it.
    pub(super) fn enter(&mut self) {
        if self.entered {
            return;
        }
        self.entered = true;
        if self.identity.is_none() {
            self.identity = self.options.users.without_connect();
        }
        let headers = self.takes_headers();
        let traits = match &self.connect {
            None => Traits { echo: true, headers, no_responders: false },
            Some(connect) => Traits { echo: connect.echo, headers, no_responders: connect.no_responders },
        };
        let (id, account, max_pending) = (self.id, self.options.account, self.options.max_pending);
        for router in self.routers.everyone() {
            router.send(Enter { id, account, port: self.own.router.clone(), traits, max_pending });
        }
    }

    /// PONG; behind the first one, a client that understands it hears where it landed.
    pub(super) fn answer_ping(&mut self) {
        self.outbound.say(Bytes::from_static(b"PONG\r\n"));
        if std::mem::replace(&mut self.first_pong, true) || !self.hears_news() {
            return;
        }
        let mut info = self.info();
        info.nonce.clear();
        info.connect_info = true;
        info.remote_account.clone_from(&self.options.account_name);
        info.acc_is_sys = self.options.account == crate::account::AccountId::SYSTEM;
        self.outbound.say(info.line());
    }

    /// Whether it wants to hear of changed INFO.
    fn hears_news(&self) -> bool {
        self.first_pong && self.connect.as_ref().is_some_and(|connect| connect.protocol >= 1)
    }

    pub(super) fn tell_lame_duck(&mut self) {
        self.lame_duck = true;
        if self.hears_news() && self.closing.is_none() {
            let mut info = self.info();
            info.nonce.clear();
            self.outbound.say(info.line());
        }
    }
}
