use super::actor::Stream;
use super::birth::Birth;
use super::consumers::ConsumerPort;
use super::desk::{Desk, LaunchConsumer};
use crate::actor::{Act, Mailbox, Receive, launch_here};
use crate::jetstream::Setting;
use crate::jetstream::account::JetStream;
use crate::jetstream::consumer::Consumer;
use crate::jetstream::messages::*;

impl Stream {
    /// A stream that begins, or goes on after a restart. Its consumers are launched beside it.
    pub fn new(setting: Setting, jetstream: Mailbox<JetStream>, own: Mailbox<Stream>, birth: Birth) -> Self {
        let (parts, stream, account) = (setting.clone(), own.clone(), jetstream.clone());
        let launch: LaunchConsumer = Box::new(move |birth| {
            let (setting, stream, account) = (parts.clone(), stream.clone(), account.clone());
            let house = parts.house.clone();
            ConsumerPort::to(&launch_here(&house, |own| Consumer::new(setting, stream, account, own, birth)))
        });
        Self::with(setting, &jetstream, own, birth, launch)
    }

    /// A stream with another kind of consumers, or under another JetStream: for tests.
    pub fn with<J>(
        setting: Setting,
        jetstream: &Mailbox<J>,
        own: Mailbox<Stream>,
        birth: Birth,
        launch: LaunchConsumer,
    ) -> Self
    where
        J: Act
            + Receive<ApiAnswer>
            + Receive<Usage>
            + Receive<StreamEnded>
            + Receive<UpdateRefused>
            + Receive<Described>,
    {
        Self::begin(setting, Desk::to(jetstream, launch), own, birth)
    }
}
