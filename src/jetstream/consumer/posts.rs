use crate::account::AccountId;
use crate::router::messages::{Receipt, RouterId, ServiceId};
use crate::router::{Outbox, Switchboard};
use ahash::HashSet;

/// Batches of deliveries that may be on their way before one is confirmed.
const MAX_IN_FLIGHT: usize = 2;

/// Messages in one batch of deliveries.
const MAX_MESSAGES: usize = 512;

/// Bytes in one batch of deliveries.
const MAX_BYTES: usize = 1 << 20;

/// One delivery on its way.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Its place in the batch.
    index: u32,
    pub seq: u64,
    pub consumer: u64,
    /// The highest delivered stream sequence before it.
    pub previous: u64,
    /// The pull request it went to; 0 for push.
    pub pull: u64,
    pub bytes: u32,
    /// It was delivered for the first time.
    pub first: bool,
}

/// What a consumer publishes, by replica, and what of it is on its way. Batches without deliveries need no credit.
#[derive(Default)]
pub struct Posts {
    posts: Vec<Post>,
    in_flight: Vec<InFlight>,
    numbers: u64,
    messages: usize,
    bytes: usize,
}

#[derive(Default)]
struct Post {
    outbox: Outbox,
    sent: Vec<Sent>,
}

struct InFlight {
    number: u64,
    sent: Vec<Sent>,
}

impl Posts {
    /// For what is no delivery.
    pub fn via(&mut self, router: RouterId) -> &mut Outbox {
        &mut self.post(router).outbox
    }

    /// For a delivery: put it into the outbox right after this.
    pub fn delivery(&mut self, router: RouterId, mut sent: Sent) -> &mut Outbox {
        self.messages += 1;
        self.bytes += sent.bytes as usize;
        let post = self.post(router);
        sent.index = post.outbox.len() as u32;
        post.sent.push(sent);
        &mut post.outbox
    }

    /// The open batch is as large as it may be: flush it.
    pub fn is_full(&self) -> bool {
        self.messages >= MAX_MESSAGES || self.bytes >= MAX_BYTES
    }

    /// Whether another delivery may be added.
    pub fn has_credit(&self) -> bool {
        self.in_flight.len() < MAX_IN_FLIGHT && !self.is_full()
    }

    /// Batches on their way.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Sends everything gathered.
    pub fn flush(&mut self, id: ServiceId, account: AccountId, switchboard: &Switchboard) {
        for (at, post) in self.posts.iter_mut().enumerate() {
            let number = (!post.sent.is_empty()).then_some(self.numbers + 1);
            let Some(publish) = post.outbox.take(id, account, number) else { continue };
            if let Some(number) = number {
                self.numbers = number;
                self.in_flight.push(InFlight { number, sent: std::mem::take(&mut post.sent) });
            }
            switchboard.line(RouterId(at as u16)).publish.send(publish);
        }
        (self.messages, self.bytes) = (0, 0);
    }

    /// A batch has arrived. What of it found nobody, the last first; and who got something.
    pub fn arrived(&mut self, receipt: &Receipt) -> (Vec<Sent>, Vec<u64>) {
        let Some(at) = self.in_flight.iter().position(|batch| batch.number == receipt.number) else {
            return Default::default();
        };
        let batch = self.in_flight.swap_remove(at);
        let (mut lost, mut pulls) = (Vec::new(), Vec::new());
        let undelivered: HashSet<u32> = receipt.undelivered.iter().copied().collect();
        for sent in batch.sent.iter().rev() {
            match undelivered.contains(&sent.index) {
                true => lost.push(*sent),
                false if pulls.last() != Some(&sent.pull) && pulls.len() < 64 => pulls.push(sent.pull),
                false => {}
            }
        }
        (lost, pulls)
    }

    fn post(&mut self, router: RouterId) -> &mut Post {
        let at = usize::from(router.0);
        if self.posts.len() <= at {
            self.posts.resize_with(at + 1, Post::default);
        }
        &mut self.posts[at]
    }
}

impl Sent {
    pub fn new(seq: u64, consumer: u64, previous: u64) -> Self {
        Self { index: 0, seq, consumer, previous, pull: 0, bytes: 0, first: true }
    }
}
