/// How many messages are still to be delivered for the first time, kept without counting (consumers reference, 7.1).
#[derive(Debug, Default)]
pub struct Tally {
    pending: u64,
    /// A recount under way.
    recount: Option<Recount>,
}

#[derive(Clone, Copy, Debug)]
struct Recount {
    ticket: u64,
    /// Deliveries since it was asked for: the answer does not know of them.
    delivered: i64,
}

impl Tally {
    pub fn new(pending: u64) -> Self {
        Self { pending, recount: None }
    }

    pub fn pending(&self) -> u64 {
        self.pending
    }

    /// Messages were stored.
    pub fn grew(&mut self, by: u64) {
        self.pending += by;
    }

    /// A message was delivered for the first time.
    pub fn delivered(&mut self) {
        self.pending = self.pending.saturating_sub(1);
        if let Some(recount) = &mut self.recount {
            recount.delivered += 1;
        }
    }

    /// A first delivery was taken back.
    pub fn taken_back(&mut self) {
        self.pending += 1;
        if let Some(recount) = &mut self.recount {
            recount.delivered -= 1;
        }
    }

    /// An undelivered message is gone.
    pub fn removed(&mut self) {
        self.pending = self.pending.saturating_sub(1);
    }

    /// The end of the stream is reached.
    pub fn exhausted(&mut self) {
        if self.recount.is_none() {
            self.pending = 0;
        }
    }

    /// A recount was asked for.
    pub fn recounting(&mut self, ticket: u64) {
        self.recount = Some(Recount { ticket, delivered: 0 });
    }

    pub fn is_recounting(&self) -> bool {
        self.recount.is_some()
    }

    /// The answer to a recount; an outdated one is passed over.
    pub fn counted(&mut self, ticket: u64, pending: u64) {
        if let Some(recount) = self.recount.filter(|recount| recount.ticket == ticket) {
            self.pending = pending.saturating_add_signed(recount.delivered.saturating_neg());
            self.recount = None;
        }
    }
}
