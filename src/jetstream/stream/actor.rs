//! Stands in for the Stream actor until it is here.

use super::Birth;
use crate::actor::{Act, Ctx, Mailbox, Receive};
use crate::jetstream::Setting;
use crate::jetstream::account::JetStream;
use crate::jetstream::messages::{ApiCall, Describe, UpdateStream};

pub struct Stream;

impl Stream {
    pub fn new(_: Setting, _: Mailbox<JetStream>, _: Mailbox<Stream>, _: Birth) -> Self {
        Self
    }
}

impl Act for Stream {
    const KIND: &'static str = "stream";
    type State = ();

    fn name(&self) -> String {
        "stream".into()
    }

    fn observe(&self) {}
}

impl Receive<ApiCall> for Stream {
    fn receive(&mut self, _: ApiCall, _: &mut Ctx<Self>) {}
}

impl Receive<UpdateStream> for Stream {
    fn receive(&mut self, _: UpdateStream, _: &mut Ctx<Self>) {}
}

impl Receive<Describe> for Stream {
    fn receive(&mut self, _: Describe, _: &mut Ctx<Self>) {}
}
