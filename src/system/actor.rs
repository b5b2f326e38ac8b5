use super::ServerStamp;
use crate::account::{AccountId, ThisIs, WhoIs};
use crate::actor::{Act, Clock, Ctx, Mailbox, Receive, SystemClock};
use crate::connection::{Connection, ConnectionNotice};
use crate::router::messages::{Enlist, Ingest, Listen, Release, RouterId, ServiceId, ServicePort};
use crate::router::{Outbox, Switchboard};
use bytes::Bytes;
use serde::Serialize;
use std::collections::{HashMap, VecDeque};

const USER_INFO: &[u8] = b"$SYS.REQ.USER.INFO";
/// Questions to connections that may be under way; the oldest are forgotten beyond.
const MAX_ASKED: usize = 1024;

/// Answers about the server and its clients.
pub struct System {
    own: Mailbox<System>,
    switchboard: Switchboard,
    service: ServiceId,
    server: ServerStamp,
    connections: HashMap<u64, Mailbox<Connection>>,
    asked: VecDeque<Asked>,
    next_token: u64,
    answered: u64,
}

/// A client wants to know who it is; its connection has been asked.
struct Asked {
    token: u64,
    via: RouterId,
    reply: Bytes,
}

/// What the System actor shows.
#[derive(Serialize)]
pub struct SystemState {
    pub connections: usize,
    pub answered: u64,
}

#[derive(Serialize)]
struct UserInfo<'a> {
    user: &'a str,
    account: &'a str,
}

impl System {
    pub fn new(own: Mailbox<System>, switchboard: Switchboard, service: ServiceId, server: ServerStamp) -> Self {
        let (connections, asked) = (HashMap::new(), VecDeque::new());
        Self { own, switchboard, service, server, connections, asked, next_token: 0, answered: 0 }
    }
}

impl Act for System {
    const KIND: &'static str = "system";
    type State = SystemState;

    fn name(&self) -> String {
        "system".into()
    }

    fn observe(&self) -> SystemState {
        SystemState { connections: self.connections.len(), answered: self.answered }
    }

    fn started(&mut self, _: &mut Ctx<Self>) {
        let port = ServicePort { ingest: self.own.outlet(), receipt: None, interest: None };
        self.switchboard.enlist(&Enlist { id: self.service, account: AccountId::GLOBAL, port });
        let subject = Bytes::from_static(USER_INFO);
        self.switchboard.listen(&Listen { id: self.service, tag: 0, subject, except: Vec::new() });
    }
}

impl Receive<ConnectionNotice> for System {
    fn receive(&mut self, notice: ConnectionNotice, _: &mut Ctx<Self>) {
        match notice {
            ConnectionNotice::Opened { id, connection } => {
                self.connections.insert(id, connection);
            }
            ConnectionNotice::Closed { id, .. } => {
                self.connections.remove(&id);
            }
        }
    }
}

impl Receive<Ingest> for System {
    fn receive(&mut self, ingest: Ingest, _: &mut Ctx<Self>) {
        for message in &ingest.messages {
            let reply = ingest.buffer.slice(message.reply.start as usize..message.reply.end as usize);
            let Some(connection) = self.connections.get(&message.client).filter(|_| !reply.is_empty()) else {
                continue;
            };
            let token = self.next_token;
            self.next_token += 1;
            connection.send(WhoIs::new(message.client, token, self.own.outlet()));
            if self.asked.len() == MAX_ASKED {
                self.asked.pop_front();
            }
            // A copy, so that the reply does not keep the whole batch in memory.
            self.asked.push_back(Asked { token, via: ingest.via, reply: Bytes::copy_from_slice(&reply) });
        }
        self.switchboard.line(ingest.via).release.send(Release { id: self.service, bytes: ingest.bytes });
    }
}

/// Somebody else of the house wants to know who a client is.
impl Receive<WhoIs> for System {
    fn receive(&mut self, question: WhoIs, _: &mut Ctx<Self>) {
        if let Some(connection) = self.connections.get(&question.client) {
            connection.send(question);
        }
    }
}

impl Receive<ThisIs> for System {
    fn receive(&mut self, this: ThisIs, _: &mut Ctx<Self>) {
        let Some(at) = self.asked.iter().position(|asked| asked.token == this.token) else { return };
        let Some(asked) = self.asked.remove(at) else { return };
        let Some(who) = this.who else { return };
        let info = UserInfo { user: &who.user, account: &who.account };
        let body = self.server.answer(&info, SystemClock.now());
        let mut outbox = Outbox::default();
        outbox.message(&asked.reply, b"", b"", &body);
        if let Some(publish) = outbox.take(self.service, AccountId::GLOBAL, None) {
            self.switchboard.line(asked.via).publish.send(publish);
            self.answered += 1;
        }
    }
}
