use super::actor::Stream;
use super::birth::Birth;
use super::desk::{Desk, LaunchConsumer};
use crate::actor::{Act, Mailbox, Receive};
use crate::jetstream::Setting;
use crate::jetstream::messages::*;

impl Stream {
    /// A stream with another kind of consumers, or under another JetStream: for tests.
    pub fn with<J>(setting: Setting, jetstream: &Mailbox<J>, own: Mailbox<Stream>, birth: Birth, launch: LaunchConsumer) -> Self
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
