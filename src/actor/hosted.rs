use super::mailbox::{Meter, Parcel};
use super::measure::Counters;
use super::{Act, AfterPanic, Hello, Mailbox, Outlet, Probe, Receive, Snapshot};
use actix::prelude::{Actor, ActorContext, AsyncContext, Context, Handler};
use actix_rt::ArbiterHandle;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

/// The context of an actor of ours.
pub type Ctx<A> = Context<Hosted<A>>;

/// What an actor is given by the house when it is launched.
#[derive(Clone, Debug, Default)]
pub struct House {
    /// Where new actors introduce themselves; none in tests that do not look at stats.
    pub stats: Option<Outlet<Hello>>,
    /// Who hears of actors that ended, and how.
    pub ended: Option<Outlet<Ended>>,
}

/// An actor has ended.
#[derive(Debug)]
pub struct Ended {
    pub kind: &'static str,
    pub name: String,
    /// The text of the panic that ended it; none after an orderly stop.
    pub panic: Option<String>,
}

/// The shell around an actor: the actix actor proper.
pub struct Hosted<A: Act> {
    act: A,
    meter: Arc<Meter>,
    counters: Counters,
    house: House,
    fatal: Option<String>,
}

/// Starts an actor on an arbiter. `build` runs there and is given the actor's own mailbox.
pub fn launch<A, F>(on: &ArbiterHandle, house: &House, build: F) -> Mailbox<A>
where
    A: Act,
    F: FnOnce(Mailbox<A>) -> A + Send + 'static,
{
    let meter = Arc::new(Meter::default());
    let (own, house) = (meter.clone(), house.clone());
    let addr = Hosted::start_in_arbiter(on, move |ctx| Hosted::shelter(ctx, own, house, build));
    Mailbox { addr, meter }
}

/// Starts an actor on the arbiter of the caller.
pub fn launch_here<A, F>(house: &House, build: F) -> Mailbox<A>
where
    A: Act,
    F: FnOnce(Mailbox<A>) -> A,
{
    let meter = Arc::new(Meter::default());
    let (own, house) = (meter.clone(), house.clone());
    let addr = Hosted::create(move |ctx| Hosted::shelter(ctx, own, house, build));
    Mailbox { addr, meter }
}

impl<A: Act> Hosted<A> {
    fn shelter(ctx: &mut Context<Self>, meter: Arc<Meter>, house: House, build: impl FnOnce(Mailbox<A>) -> A) -> Self {
        let act = build(Mailbox { addr: ctx.address(), meter: meter.clone() });
        Self { act, meter, counters: Counters::new(), house, fatal: None }
    }

    /// Runs `work` on the actor; a panic is logged, counted, and ends the actor unless it knows better.
    fn guard(&mut self, ctx: &mut Context<Self>, work: impl FnOnce(&mut A, &mut Context<Self>)) {
        let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(&mut self.act, ctx))) else { return };
        let text = panic_text(&*panic);
        tracing::error!(kind = A::KIND, name = %self.act.name(), "actor panicked: {text}");
        self.counters.panicked(text.clone());
        if self.act.panicked(&text) == AfterPanic::Stop {
            self.fatal = Some(text);
            ctx.stop();
        }
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| s.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a text".to_string())
}

impl<A: Act> Actor for Hosted<A> {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        if let Some(stats) = &self.house.stats {
            stats.send(Hello { kind: A::KIND, name: self.act.name(), probe: ctx.address().recipient() });
        }
        // Spawned items are polled after the mailbox on every wake: this one is where the actor sends its batches.
        ctx.spawn(Waker);
        self.guard(ctx, |act, ctx| act.started(ctx));
    }

    fn stopped(&mut self, ctx: &mut Context<Self>) {
        self.guard(ctx, |act, _| act.stopped());
        if let Some(ended) = &self.house.ended {
            ended.send(Ended { kind: A::KIND, name: self.act.name(), panic: self.fatal.take() });
        }
    }
}

impl<A: Receive<M>, M: Send + 'static> Handler<Parcel<M>> for Hosted<A> {
    type Result = ();

    fn handle(&mut self, parcel: Parcel<M>, ctx: &mut Context<Self>) {
        let begun = self.counters.begin(self.meter.sent());
        self.guard(ctx, |act, ctx| act.receive(parcel.0, ctx));
        self.counters.end(begun);
    }
}

impl<A: Act> Handler<Probe> for Hosted<A> {
    type Result = ();

    fn handle(&mut self, probe: Probe, _: &mut Context<Self>) {
        let state = serde_json::to_value(self.act.observe()).unwrap_or_default();
        let measures = self.counters.read(self.meter.sent());
        probe.to.send(Snapshot { round: probe.round, kind: A::KIND, name: self.act.name(), measures, state });
    }
}

/// Lives as long as the actor and is polled on each of its wakes.
struct Waker;

impl<A: Act> actix::fut::ActorFuture<Hosted<A>> for Waker {
    type Output = ();

    fn poll(
        self: Pin<&mut Self>,
        hosted: &mut Hosted<A>,
        ctx: &mut Context<Hosted<A>>,
        task: &mut task::Context<'_>,
    ) -> Poll<()> {
        hosted.guard(ctx, |act, ctx| act.wake(ctx, task));
        Poll::Pending
    }
}
