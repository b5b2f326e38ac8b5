use super::ear::ear;
use super::*;
use std::time::Duration;
use tokio::sync::mpsc;

struct Counter {
    total: u64,
    seen: mpsc::UnboundedSender<u64>,
}

struct Add(u64);
struct Break;

impl Act for Counter {
    const KIND: &'static str = "counter";
    type State = u64;

    fn name(&self) -> String {
        "c".into()
    }

    fn observe(&self) -> u64 {
        self.total
    }

    fn wake(&mut self, _: &mut Ctx<Self>, _: &mut std::task::Context<'_>) {
        self.seen.send(self.total).ok();
    }
}

impl Receive<Add> for Counter {
    fn receive(&mut self, add: Add, _: &mut Ctx<Self>) {
        self.total += add.0;
    }
}

impl Receive<Break> for Counter {
    fn receive(&mut self, _: Break, _: &mut Ctx<Self>) {
        panic!("broken on purpose");
    }
}

#[actix_rt::test]
async fn wake_follows_the_whole_mailbox() {
    let (seen, mut waked) = mpsc::unbounded_channel();
    let counter = launch_here(&House::default(), |_| Counter { total: 0, seen });
    for _ in 0..10 {
        counter.send(Add(1));
    }
    let first = waked.recv().await;
    assert_eq!(first, Some(10), "ten messages, one wake");
}

#[actix_rt::test]
async fn a_panic_ends_the_actor_and_is_told() {
    let (ended, mut heard) = ear::<Ended>();
    let house = House { ended: Some(ended), ..House::default() };
    let counter = launch_here(&house, |_| Counter { total: 0, seen: mpsc::unbounded_channel().0 });
    counter.send(Break);
    let end = heard.recv().await.expect("told");
    assert_eq!((end.kind, end.panic.as_deref()), ("counter", Some("broken on purpose")));
    assert!(!counter.is_alive());
}

#[actix_rt::test]
async fn a_probe_shows_state_and_measures() {
    let (hello, mut hellos) = ear::<Hello>();
    let (to, mut snapshots) = ear::<Snapshot>();
    let house = House { stats: Some(hello), ..House::default() };
    let counter = launch_here(&house, |_| Counter { total: 0, seen: mpsc::unbounded_channel().0 });
    counter.send(Add(7));
    let hello = hellos.recv().await.expect("introduced itself");
    hello.probe.do_send(Probe { round: 3, to });
    let shown = snapshots.recv().await.expect("answered");
    assert_eq!((shown.round, shown.kind, shown.state), (3, "counter", serde_json::json!(7)));
    assert_eq!((shown.measures.handled, shown.measures.depth), (1, 0));
}

#[actix_rt::test]
async fn alarms_ring_in_order() {
    let (to, mut rung) = ear::<Alarm>();
    let timers = launch_here(&House::default(), |_| Timers::new("t"));
    for (token, ms) in [(2, 30), (1, 10), (3, 50)] {
        timers.send(SetAlarm { after: Duration::from_millis(ms), token, to: to.clone() });
    }
    for token in 1..=3 {
        assert_eq!(rung.recv().await, Some(Alarm(token)));
    }
}
