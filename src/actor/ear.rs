//! What tests listen with.

use super::{Act, Ctx, House, Outlet, Receive, launch_here};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Passes on what it is told, to a test.
struct Ear<M>(UnboundedSender<M>);

impl<M: Send + 'static> Act for Ear<M> {
    const KIND: &'static str = "ear";
    type State = ();

    fn name(&self) -> String {
        "ear".into()
    }

    fn observe(&self) {}
}

impl<M: Send + 'static> Receive<M> for Ear<M> {
    fn receive(&mut self, message: M, _: &mut Ctx<Self>) {
        self.0.send(message).ok();
    }
}

/// An outlet, and what is sent into it.
pub(crate) fn ear<M: Send + 'static>() -> (Outlet<M>, UnboundedReceiver<M>) {
    let (tell, heard) = unbounded_channel();
    (launch_here(&House::default(), |_| Ear(tell)).outlet(), heard)
}
