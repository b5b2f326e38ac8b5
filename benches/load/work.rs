//! What is measured, and how: a piece of work is run twice, small to find its pace, then as long as it should be timed.

use std::io;
use std::time::{Duration, Instant};

use super::server::Server;

/// The run that finds the pace is enlarged until it takes so long.
const PACE_TIME: Duration = Duration::from_millis(150);
const PACE_GROWTH: u64 = 4;

/// Something a server can be made to do, opened on a running server.
pub trait Work {
    /// Does it `count` times, and returns once every one was seen to be done.
    fn run(&mut self, count: u64) -> io::Result<()>;
}

/// One line of the table.
pub struct Workload {
    pub name: &'static str,
    pub family: Family,
    /// The smallest count that makes sense, also the first guess.
    pub smallest: u64,
    /// The store or the memory allows no more.
    pub largest: u64,
    pub open: fn(&Server) -> io::Result<Box<dyn Work>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Core,
    /// Here the reference also runs with every message synced, as ours does by default.
    JetStreamPublish,
    JetStreamRead,
}

/// What one timed run gave.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Per second, as verified at the receiver.
    pub rate: f64,
    /// CPU time of the server, in microseconds for one.
    pub cpu_micros: f64,
}

/// Runs a workload on a fresh server for about `time`.
pub fn measure(workload: &Workload, server: &Server, time: Duration) -> io::Result<Sample> {
    let mut work = (workload.open)(server)?;
    let mut count = workload.smallest;
    let pace = loop {
        let begun = Instant::now();
        work.run(count)?;
        let took = begun.elapsed();
        if took >= PACE_TIME || count >= workload.largest {
            break count as f64 / took.as_secs_f64();
        }
        count = (count * PACE_GROWTH).min(workload.largest);
    };
    let count = ((pace * time.as_secs_f64()) as u64).clamp(workload.smallest, workload.largest);
    let cpu = server.cpu()?;
    let begun = Instant::now();
    work.run(count)?;
    let took = begun.elapsed();
    let cpu = server.cpu()?.saturating_sub(cpu);
    Ok(Sample { rate: count as f64 / took.as_secs_f64(), cpu_micros: cpu.as_secs_f64() * 1e6 / count as f64 })
}

/// The middle value; of an even number, the lower middle.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}
