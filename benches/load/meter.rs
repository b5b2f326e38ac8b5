//! What a change costs a server: time, CPU, and the memory it keeps.

use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::server::Server;

/// What a server does in the background after a change gets so long before its memory is read.
pub const SETTLE: Duration = Duration::from_secs(1);

/// What a server took between `start` and `stop`.
pub struct Meter<'a> {
    server: &'a Server,
    begun: Instant,
    cpu: Duration,
    resident: u64,
    took: (Duration, Duration, f64),
}

impl<'a> Meter<'a> {
    pub fn start(server: &'a Server) -> io::Result<Self> {
        sleep(SETTLE / 4);
        let (cpu, resident) = (server.cpu()?, server.resident()?);
        Ok(Self { server, begun: Instant::now(), cpu, resident, took: Default::default() })
    }

    /// Takes time and CPU now, and memory once the server has settled.
    pub fn stop(&mut self) -> io::Result<()> {
        let wall = self.begun.elapsed();
        let cpu = self.server.cpu()?.saturating_sub(self.cpu);
        sleep(SETTLE);
        let grown = self.server.resident()?.saturating_sub(self.resident);
        self.took = (wall, cpu, grown as f64 / 1024.0);
        Ok(())
    }

    pub fn wall_millis(&self) -> f64 {
        millis(self.took.0)
    }

    pub fn cpu_micros(&self) -> f64 {
        self.took.1.as_secs_f64() * 1e6
    }

    pub fn memory_kib(&self) -> f64 {
        self.took.2
    }
}

pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
