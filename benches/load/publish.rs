//! JetStream publish: every message asks for its PubAck, and a window of them is open at a time.

use std::io::{self, Error};

use super::client::Client;
use super::server::Server;
use super::work::{Family, Work, Workload};

/// A PubAck carries this; an error answer carries no sequence.
const ACKED: &[u8] = b"\"seq\":";

pub fn workloads() -> Vec<Workload> {
    let line = |name, largest, open| Workload { name, family: Family::JetStreamPublish, smallest: 100, largest, open };
    vec![
        line("JetStream publish, 128 B, 4,000 in flight", 3_000_000, |s| Publish::open(s, 128, 4_000)),
        line("JetStream publish, 1 KiB, 4,000 in flight", 400_000, |s| Publish::open(s, 1024, 4_000)),
        line("JetStream publish, 16 KiB, 400 in flight", 40_000, |s| Publish::open(s, 16 * 1024, 400)),
        line("JetStream publish, 256 B, 256 in flight", 2_000_000, |s| Publish::open(s, 256, 256)),
        line("JetStream publish, 128 B, one at a time", 200_000, |s| Publish::open(s, 128, 1)),
    ]
}

/// Publishes to a file stream `BENCH` and counts PubAcks.
pub struct Publish {
    client: Client,
    window: usize,
    /// `window` messages, each with a reply subject of its own.
    block: Vec<u8>,
    /// Where each message of `block` begins, and where the last one ends.
    places: Vec<usize>,
}

impl Publish {
    fn open(server: &Server, size: usize, window: usize) -> io::Result<Box<dyn Work>> {
        server
            .connect()?
            .request("$JS.API.STREAM.CREATE.BENCH", r#"{"name":"BENCH","subjects":["bench.js.>"],"storage":"file"}"#)?;
        Ok(Box::new(Self::to(server, window, |_| "bench.js.message".into(), &"x".repeat(size))?))
    }

    /// A publisher with `window` open acks; the subject of the n-th message of each window is `subject(n)`.
    pub fn to(server: &Server, window: usize, subject: impl Fn(usize) -> String, payload: &str) -> io::Result<Self> {
        let mut client = server.connect()?;
        client.subscribe("_INBOX.bench.acks.*", "1")?;
        client.flush()?;
        let size = payload.len();
        let (mut block, mut places) = (String::new(), vec![0]);
        for number in 0..window {
            let subject = subject(number);
            block.push_str(&format!("PUB {subject} _INBOX.bench.acks.{number:06} {size}\r\n{payload}\r\n"));
            places.push(block.len());
        }
        Ok(Self { client, window, block: block.into_bytes(), places })
    }

    /// Publishes up to the end of the window, at most `count`, from the message `place` on; returns how many.
    fn write_from(&mut self, place: usize, count: usize) -> io::Result<usize> {
        let count = count.min(self.window - place);
        self.client.write(&self.block[self.places[place]..self.places[place + count]])?;
        Ok(count)
    }
}

impl Work for Publish {
    fn run(&mut self, count: u64) -> io::Result<()> {
        let window = self.window as u64;
        let (mut sent, mut acked) = (0, 0);
        while acked < count {
            let room = (window - (sent - acked)).min(count - sent);
            // Top up in pieces worth a write, not for every ack that comes.
            if room > 0 && (room >= window.div_ceil(4) || sent + room == count) {
                sent += self.write_from((sent % window) as usize, room as usize)? as u64;
                continue;
            }
            acked += self.client.read(|message| {
                if memchr::memmem::find(message.payload, ACKED).is_some() {
                    return Ok(());
                }
                Err(Error::other(format!("not stored: {}", String::from_utf8_lossy(message.payload))))
            })?;
        }
        Ok(())
    }
}
