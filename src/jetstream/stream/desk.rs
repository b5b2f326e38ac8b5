//! What a stream needs of those above and below it: JetStream, which takes answers and news, and a way to launch
//! consumers.

use super::consumers::ConsumerPort;
use crate::actor::{Act, Mailbox, Outlet, Receive};
use crate::jetstream::consumer::birth::ConsumerBirth;
use crate::jetstream::messages::*;
use crate::router::Outbox;

/// Starts a consumer beside its stream.
pub type LaunchConsumer = Box<dyn Fn(ConsumerBirth) -> ConsumerPort>;

pub struct Desk {
    pub answer: Outlet<ApiAnswer>,
    pub usage: Outlet<Usage>,
    pub ended: Outlet<StreamEnded>,
    pub refused: Outlet<UpdateRefused>,
    pub described: Outlet<Described>,
    /// Advisories on their way.
    pub advisories: Outbox,
    pub launch: LaunchConsumer,
}

impl Desk {
    pub fn to<J>(jetstream: &Mailbox<J>, launch: LaunchConsumer) -> Self
    where
        J: Act
            + Receive<ApiAnswer>
            + Receive<Usage>
            + Receive<StreamEnded>
            + Receive<UpdateRefused>
            + Receive<Described>,
    {
        Self {
            answer: jetstream.outlet(),
            usage: jetstream.outlet(),
            ended: jetstream.outlet(),
            refused: jetstream.outlet(),
            described: jetstream.outlet(),
            advisories: Outbox::default(),
            launch,
        }
    }
}
