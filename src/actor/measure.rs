use hdrhistogram::Histogram;
use serde::Serialize;
use std::time::{Duration, Instant};

/// What an actor's shell knows about it. Owned by the shell, sent as part of a [`Snapshot`](super::Snapshot).
#[derive(Clone, Debug, Default, Serialize)]
pub struct Measures {
    /// Messages in the mailbox now.
    pub depth: u64,
    /// The deepest the mailbox has been seen at the start of a message.
    pub depth_max: u64,
    /// Messages handled since the actor started.
    pub handled: u64,
    /// Handling time of a message in nanoseconds: half of them took no longer.
    pub p50_ns: u64,
    /// Handling time in nanoseconds: 99 of 100 took no longer.
    pub p99_ns: u64,
    /// The longest handling time in nanoseconds.
    pub max_ns: u64,
    /// Total handling time in nanoseconds.
    pub busy_ns: u64,
    /// Panics caught.
    pub panics: u64,
    /// The text of the last panic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_panic: Option<String>,
    /// Nanoseconds since a message was last handled.
    pub idle_ns: u64,
}

/// Counts and times on the way. The histogram has one significant digit and grows with what it sees: a few hundred
/// bytes for an actor that does one thing.
pub(super) struct Counters {
    times: Histogram<u32>,
    handled: u64,
    depth_max: u64,
    busy: Duration,
    panics: u64,
    last_panic: Option<String>,
    last: Instant,
}

impl Counters {
    pub(super) fn new() -> Self {
        let times = Histogram::new(1).expect("one significant digit is within the histogram's 0..=5");
        Self {
            times,
            handled: 0,
            depth_max: 0,
            busy: Duration::ZERO,
            panics: 0,
            last_panic: None,
            last: Instant::now(),
        }
    }

    /// A message is about to be handled; `sent` counts all that were ever put into the mailbox.
    pub(super) fn begin(&mut self, sent: u64) -> Instant {
        self.depth_max = self.depth_max.max(sent.saturating_sub(self.handled));
        Instant::now()
    }

    pub(super) fn end(&mut self, begun: Instant) {
        self.last = Instant::now();
        let took = self.last - begun;
        self.busy += took;
        self.handled += 1;
        // Grows the histogram if need be; only a time beyond its reach, of hours, would fail.
        self.times.record(took.as_nanos() as u64).ok();
    }

    pub(super) fn panicked(&mut self, text: String) {
        self.panics += 1;
        self.last_panic = Some(text);
    }

    pub(super) fn read(&self, sent: u64) -> Measures {
        Measures {
            depth: sent.saturating_sub(self.handled),
            depth_max: self.depth_max,
            handled: self.handled,
            p50_ns: self.times.value_at_quantile(0.5),
            p99_ns: self.times.value_at_quantile(0.99),
            max_ns: self.times.max(),
            busy_ns: self.busy.as_nanos() as u64,
            panics: self.panics,
            last_panic: self.last_panic.clone(),
            idle_ns: self.last.elapsed().as_nanos() as u64,
        }
    }
}
