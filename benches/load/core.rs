//! Core messaging: publish, fan out, share among a queue group, request and reply.

use std::io::{self, Error};
use std::thread;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use super::client::Client;
use super::server::Server;
use super::work::{Family, Work, Workload};

/// Publishers write blocks of so many bytes, as clients that gather their output do.
const BLOCK: usize = 32 * 1024;
const WILDCARD_SUBSCRIPTIONS: usize = 10_000;
const WILDCARD_SUBSCRIBERS: usize = 10;
/// Every wildcard meets so many subjects.
const SUBJECTS_PER_WILDCARD: usize = 4;
/// Length of the prepared random order of subjects, in messages.
const RANDOM_ORDER: usize = 65_536;

pub fn workloads() -> Vec<Workload> {
    let line = |name, open| Workload { name, family: Family::Core, smallest: 1_000, largest: u64::MAX, open };
    vec![
        line("publish, nobody listening, 16 B", |s| Spread { size: 16, publishers: 1, ..Spread::NOBODY }.open(s)),
        line("publish, nobody listening, 128 B", |s| Spread { size: 128, publishers: 1, ..Spread::NOBODY }.open(s)),
        line("publish, nobody listening, 1 KiB", |s| Spread { size: 1024, publishers: 1, ..Spread::NOBODY }.open(s)),
        line("1 -> 1, 16 B", |s| Spread { size: 16, subscribers: 1, ..Spread::NOBODY }.open(s)),
        line("1 -> 1, 128 B", |s| Spread { size: 128, subscribers: 1, ..Spread::NOBODY }.open(s)),
        line("1 -> 1, 1 KiB", |s| Spread { size: 1024, subscribers: 1, ..Spread::NOBODY }.open(s)),
        line("1 -> 8, 128 B", |s| Spread { size: 128, subscribers: 8, ..Spread::NOBODY }.open(s)),
        line("8 -> 8, 128 B", |s| Spread { size: 128, publishers: 8, subscribers: 8, ..Spread::NOBODY }.open(s)),
        line("4 -> queue group of 4, 128 B", |s| {
            Spread { size: 128, publishers: 4, subscribers: 4, queue: true, ..Spread::NOBODY }.open(s)
        }),
        line("request-reply, 1 at a time, 16 B", |s| RequestReply::open(s, 1)),
        line("request-reply, 64 at a time, 16 B", |s| RequestReply::open(s, 64)),
        line("10,000 wildcards, random subjects, 128 B", Wildcards::open),
        line("1 -> 1, one write per message, 16 B", |s| {
            Spread { size: 16, subscribers: 1, block: 1, ..Spread::NOBODY }.open(s)
        }),
    ]
}

/// `publishers` on one subject, read by `subscribers` that each get all of it, or share it as a queue group.
///
/// What is counted are deliveries; with nobody listening, messages published up to a PONG.
#[derive(Clone, Copy)]
struct Spread {
    size: usize,
    publishers: usize,
    subscribers: usize,
    queue: bool,
    /// Bytes per write, at least a message.
    block: usize,
}

impl Spread {
    const NOBODY: Self = Self { size: 0, publishers: 1, subscribers: 0, queue: false, block: BLOCK };

    fn open(self, server: &Server) -> io::Result<Box<dyn Work>> {
        let publishers = (0..self.publishers).map(|_| server.connect()).collect::<io::Result<_>>()?;
        let mut subscribers = Vec::new();
        for number in 0..self.subscribers {
            let mut client = server.connect()?;
            // Different sids, as in programs that have been running for a while: equal ones would flatter a server that
            // encodes a message once for all of them.
            let sid = format!("{}", number * 7 + 3);
            if self.queue {
                client.subscribe_queue("bench.spread", "group", &sid)?;
            } else {
                client.subscribe("bench.spread", &sid)?;
            }
            client.subscribe("bench.end", "end")?;
            client.flush()?;
            subscribers.push(client);
        }
        let message = format!("PUB bench.spread {}\r\n{}\r\n", self.size, "x".repeat(self.size));
        let per_block = (self.block / message.len()).max(1);
        let block = message.repeat(per_block).into_bytes();
        let ender = server.connect()?;
        Ok(Box::new(SpreadWork { plan: self, publishers, subscribers, ender, block, message: message.len() }))
    }
}

struct SpreadWork {
    plan: Spread,
    publishers: Vec<Client>,
    subscribers: Vec<Client>,
    /// Tells the subscribers that all has been published.
    ender: Client,
    block: Vec<u8>,
    /// Bytes of one message in `block`.
    message: usize,
}

impl Work for SpreadWork {
    fn run(&mut self, count: u64) -> io::Result<()> {
        let copies = if self.plan.queue { 1 } else { self.subscribers.len().max(1) as u64 };
        let each = (count / copies / self.publishers.len() as u64).max(1);
        let sent = each * self.publishers.len() as u64;
        let (block, message) = (&self.block, self.message);
        let received = thread::scope(|scope| {
            let readers: Vec<_> =
                self.subscribers.iter_mut().map(|client| scope.spawn(|| read_until_end(client))).collect();
            let writers: Vec<_> = self
                .publishers
                .iter_mut()
                .map(|client| scope.spawn(move || publish(client, block, message, each)))
                .collect();
            for writer in writers {
                writer.join().expect("a publisher does not panic")?;
            }
            // All is published and routed: what the subscribers get next is the end.
            self.ender.write(b"PUB bench.end 0\r\n\r\n")?;
            readers
                .into_iter()
                .map(|reader| reader.join().expect("a subscriber does not panic"))
                .sum::<io::Result<u64>>()
        })?;
        let listening = !self.subscribers.is_empty();
        expect_all(received, if listening { sent * copies } else { 0 })
    }
}

/// Writes `count` messages in blocks and waits until the server has taken them.
fn publish(client: &mut Client, block: &[u8], message: usize, count: u64) -> io::Result<()> {
    let per_block = (block.len() / message) as u64;
    let mut left = count;
    while left > 0 {
        let now = left.min(per_block);
        client.write(&block[..now as usize * message])?;
        left -= now;
    }
    client.flush()
}

/// Counts messages up to the one with the sid `end`, which is not counted.
fn read_until_end(client: &mut Client) -> io::Result<u64> {
    let mut total = 0;
    loop {
        let (count, ended) = client.count_until(b"end")?;
        total += count;
        if ended {
            return Ok(total);
        }
    }
}

fn expect_all(received: u64, sent: u64) -> io::Result<()> {
    if received == sent {
        return Ok(());
    }
    Err(Error::other(format!("{received} messages came of {sent}")))
}

/// One connection asks, another answers; `window` questions are open at a time.
struct RequestReply {
    asker: Client,
    window: u64,
    question: Vec<u8>,
}

impl RequestReply {
    fn open(server: &Server, window: u64) -> io::Result<Box<dyn Work>> {
        let mut asker = server.connect()?;
        asker.subscribe("_INBOX.bench.answers", "1")?;
        asker.flush()?;
        let mut answerer = server.connect()?;
        answerer.subscribe("bench.service", "1")?;
        answerer.flush()?;
        // It ends with its connection, when the server is stopped.
        thread::spawn(move || answer_all(&mut answerer));
        let question = b"PUB bench.service _INBOX.bench.answers 16\r\n0123456789abcdef\r\n".to_vec();
        Ok(Box::new(Self { asker, window, question }))
    }
}

impl Work for RequestReply {
    fn run(&mut self, count: u64) -> io::Result<()> {
        let mut asked = self.window.min(count);
        self.asker.write(&self.question.repeat(asked as usize))?;
        let mut answered = 0;
        while answered < count {
            let came = self.asker.count()?;
            answered += came;
            let more = came.min(count - asked);
            if more > 0 {
                self.asker.write(&self.question.repeat(more as usize))?;
                asked += more;
            }
        }
        Ok(())
    }
}

fn answer_all(client: &mut Client) -> io::Result<()> {
    let mut out = Vec::new();
    loop {
        out.clear();
        client.read(|message| {
            out.extend_from_slice(b"PUB ");
            out.extend_from_slice(message.reply);
            out.extend_from_slice(b" 16\r\n");
            out.extend_from_slice(message.payload);
            out.extend_from_slice(b"\r\n");
            Ok(())
        })?;
        client.write(&out)?;
    }
}

/// Ten thousand wildcard subscriptions over ten connections; every message matches one of them.
struct Wildcards {
    publisher: Client,
    subscribers: Vec<Client>,
    ender: Client,
    block: Vec<u8>,
    message: usize,
}

impl Wildcards {
    fn open(server: &Server) -> io::Result<Box<dyn Work>> {
        let mut subscribers = Vec::new();
        for number in 0..WILDCARD_SUBSCRIBERS {
            let mut client = server.connect()?;
            client.subscribe("bench.end", "end")?;
            let mut lines = String::new();
            for sid in (number..WILDCARD_SUBSCRIPTIONS).step_by(WILDCARD_SUBSCRIBERS) {
                let tail = if sid % 20 < 10 { '*' } else { '>' };
                lines.push_str(&format!("SUB wild.{sid:05}.{tail} {sid}\r\n"));
            }
            client.write(lines.as_bytes())?;
            client.flush()?;
            subscribers.push(client);
        }
        let mut random = SmallRng::seed_from_u64(1);
        let payload = "x".repeat(128);
        let mut block = String::new();
        for _ in 0..RANDOM_ORDER {
            let wildcard = random.random_range(0..WILDCARD_SUBSCRIPTIONS);
            let last = random.random_range(0..SUBJECTS_PER_WILDCARD);
            block.push_str(&format!("PUB wild.{wildcard:05}.{last} 128\r\n{payload}\r\n"));
        }
        let message = block.len() / RANDOM_ORDER;
        let (publisher, ender) = (server.connect()?, server.connect()?);
        Ok(Box::new(Self { publisher, subscribers, ender, block: block.into_bytes(), message }))
    }
}

impl Work for Wildcards {
    fn run(&mut self, count: u64) -> io::Result<()> {
        let received = thread::scope(|scope| {
            let readers: Vec<_> =
                self.subscribers.iter_mut().map(|client| scope.spawn(|| read_until_end(client))).collect();
            for first in (0..count).step_by(RANDOM_ORDER) {
                let messages = (count - first).min(RANDOM_ORDER as u64) as usize;
                for piece in self.block[..messages * self.message].chunks(BLOCK) {
                    self.publisher.write(piece)?;
                }
            }
            self.publisher.flush()?;
            self.ender.write(b"PUB bench.end 0\r\n\r\n")?;
            readers
                .into_iter()
                .map(|reader| reader.join().expect("a subscriber does not panic"))
                .sum::<io::Result<u64>>()
        })?;
        expect_all(received, count)
    }
}
