//! Reading a stream: replay through a push consumer, pull in batches with acks, direct get.

use std::io::{self, Error};

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use super::client::Client;
use super::publish::Publish;
use super::server::Server;
use super::work::{Family, Work, Workload};

/// Messages in the stream that is read.
const STORED: u64 = 200_000;
const PAYLOAD: usize = 128;
const PULL_BATCH: u64 = 500;
const DIRECT_WINDOW: u64 = 64;
const KEYS: usize = 10_000;
/// Open acks while the stream is filled.
const FILL_WINDOW: usize = 4_000;

pub fn workloads() -> Vec<Workload> {
    let line = |name, open| Workload { name, family: Family::JetStreamRead, smallest: 1_000, largest: 5_000_000, open };
    vec![
        line("ordered replay, push without acks, 128 B", Replay::open),
        line("pull in batches of 500, each acked, 128 B", Pull::open),
        line("direct get by sequence, 64 at a time, 128 B", |s| DirectGet::open(s, false)),
        line("KV get, 64 at a time, 128 B", |s| DirectGet::open(s, true)),
    ]
}

/// Fills a stream `BENCH` whose subjects are `bench.js.NNNN`.
fn fill(server: &Server) -> io::Result<Client> {
    let mut client = server.connect()?;
    client.request(
        "$JS.API.STREAM.CREATE.BENCH",
        r#"{"name":"BENCH","subjects":["bench.js.>"],"storage":"file","allow_direct":true}"#,
    )?;
    Publish::to(server, FILL_WINDOW, |n| format!("bench.js.{:04}", n % 1_000), &"x".repeat(PAYLOAD))?.run(STORED)?;
    Ok(client)
}

/// Splits `count` into passes over the stream; gives the first sequence and the length of each.
fn passes(count: u64) -> impl Iterator<Item = (u64, u64)> {
    let whole = (0..count / STORED).map(|_| (1, STORED));
    let rest = count % STORED;
    whole.chain((rest > 0).then_some((STORED - rest + 1, rest)))
}

/// An ordered consumer as the clients make it: acks none, flow control, heartbeats, in memory.
struct Replay {
    client: Client,
    consumer: u64,
}

impl Replay {
    fn open(server: &Server) -> io::Result<Box<dyn Work>> {
        let mut client = fill(server)?;
        client.subscribe("bench.replay", "1")?;
        client.flush()?;
        Ok(Box::new(Self { client, consumer: 0 }))
    }

    fn replay(&mut self, first: u64, length: u64) -> io::Result<()> {
        self.consumer += 1;
        let name = format!("replay{}", self.consumer);
        let config = format!(
            r#"{{"name":"{name}","deliver_subject":"bench.replay","deliver_policy":"by_start_sequence","opt_start_seq":{first},
            "ack_policy":"none","max_deliver":1,"flow_control":true,"idle_heartbeat":5000000000,"mem_storage":true,
            "num_replicas":1,"inactive_threshold":300000000000,"replay_policy":"instant"}}"#
        );
        let create = format!(r#"{{"stream_name":"BENCH","config":{config}}}"#);
        // Deliveries may overtake the answer, so the answer is read among them.
        self.client.write(b"SUB bench.created created\r\nUNSUB created 1\r\n")?;
        let subject = format!("$JS.API.CONSUMER.CREATE.BENCH.{name}");
        self.client.write(format!("PUB {subject} bench.created {}\r\n{create}\r\n", create.len()).as_bytes())?;
        let mut writer = self.client.writer()?;
        let (mut came, mut answered) = (0, false);
        while came < length || !answered {
            self.client.read(|message| {
                if message.sid == b"created" {
                    answered = true;
                    return refuse_error(message.payload);
                }
                if message.headers.is_empty() {
                    came += 1;
                } else if !message.reply.is_empty() {
                    let answer = [b"PUB ", message.reply, b" 0\r\n\r\n"].concat();
                    io::Write::write_all(&mut writer, &answer)?;
                }
                Ok(())
            })?;
        }
        self.client.request(&format!("$JS.API.CONSUMER.DELETE.BENCH.{name}"), "")?;
        if came == length { Ok(()) } else { Err(Error::other(format!("{came} messages came of {length}"))) }
    }
}

impl Work for Replay {
    fn run(&mut self, count: u64) -> io::Result<()> {
        passes(count).try_for_each(|(first, length)| self.replay(first, length))
    }
}

/// A durable pull consumer with explicit acks.
struct Pull {
    client: Client,
}

impl Pull {
    fn open(server: &Server) -> io::Result<Box<dyn Work>> {
        let mut client = fill(server)?;
        client.subscribe("bench.pulled", "1")?;
        client.flush()?;
        Ok(Box::new(Self { client }))
    }

    fn pull(&mut self, first: u64, length: u64) -> io::Result<()> {
        let config = format!(
            r#"{{"stream_name":"BENCH","config":{{"durable_name":"pull","ack_policy":"explicit","ack_wait":60000000000,
            "deliver_policy":"by_start_sequence","opt_start_seq":{first},"replay_policy":"instant","max_ack_pending":1000}}}}"#
        );
        self.client.request("$JS.API.CONSUMER.DURABLE.CREATE.BENCH.pull", &config)?;
        let mut out = Vec::new();
        let mut left = length;
        while left > 0 {
            let batch = left.min(PULL_BATCH);
            let request = format!(r#"{{"batch":{batch},"expires":30000000000}}"#);
            let line =
                format!("PUB $JS.API.CONSUMER.MSG.NEXT.BENCH.pull bench.pulled {}\r\n{request}\r\n", request.len());
            out.extend_from_slice(line.as_bytes());
            self.client.write(&out)?;
            out.clear();
            let mut came = 0;
            while came < batch {
                came += self.client.read(|message| {
                    if !message.headers.is_empty() {
                        return Err(Error::other(format!("a status: {}", String::from_utf8_lossy(message.headers))));
                    }
                    out.extend_from_slice(b"PUB ");
                    out.extend_from_slice(message.reply);
                    out.extend_from_slice(b" 4\r\n+ACK\r\n");
                    Ok(())
                })?;
            }
            left -= batch;
        }
        self.client.write(&out)?;
        self.expect_nothing_open()?;
        self.client.request("$JS.API.CONSUMER.DELETE.BENCH.pull", "")?;
        Ok(())
    }

    /// Waits until the last ack has been handled.
    fn expect_nothing_open(&mut self) -> io::Result<()> {
        for _ in 0..100 {
            let info = self.client.request("$JS.API.CONSUMER.INFO.BENCH.pull", "")?;
            if info["num_ack_pending"] == 0 && info["num_pending"] == 0 {
                return Ok(());
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        Err(Error::other("acks were lost"))
    }
}

impl Work for Pull {
    fn run(&mut self, count: u64) -> io::Result<()> {
        passes(count).try_for_each(|(first, length)| self.pull(first, length))
    }
}

/// Direct gets at random, by sequence or as a KV client reads a key.
struct DirectGet {
    client: Client,
    random: SmallRng,
    by_key: bool,
}

impl DirectGet {
    fn open(server: &Server, by_key: bool) -> io::Result<Box<dyn Work>> {
        let mut client = if by_key { fill_bucket(server)? } else { fill(server)? };
        client.subscribe("_INBOX.bench.got.*", "1")?;
        client.flush()?;
        Ok(Box::new(Self { client, random: SmallRng::seed_from_u64(1), by_key }))
    }

    fn ask(&mut self, number: u64, out: &mut Vec<u8>) {
        let inbox = number % DIRECT_WINDOW;
        let line = if self.by_key {
            let key = self.random.random_range(0..KEYS);
            format!("PUB $JS.API.DIRECT.GET.KV_bench.$KV.bench.key{key:06} _INBOX.bench.got.{inbox} 0\r\n\r\n")
        } else {
            let body = format!(r#"{{"seq":{}}}"#, self.random.random_range(1..=STORED));
            format!("PUB $JS.API.DIRECT.GET.BENCH _INBOX.bench.got.{inbox} {}\r\n{body}\r\n", body.len())
        };
        out.extend_from_slice(line.as_bytes());
    }
}

fn fill_bucket(server: &Server) -> io::Result<Client> {
    let mut client = server.connect()?;
    client.request(
        "$JS.API.STREAM.CREATE.KV_bench",
        r#"{"name":"KV_bench","subjects":["$KV.bench.>"],"storage":"file","allow_direct":true,"max_msgs_per_subject":1,
        "allow_rollup_hdrs":true,"deny_delete":true,"discard":"new"}"#,
    )?;
    Publish::to(server, KEYS, |n| format!("$KV.bench.key{n:06}"), &"x".repeat(PAYLOAD))?.run(KEYS as u64)?;
    Ok(client)
}

impl Work for DirectGet {
    fn run(&mut self, count: u64) -> io::Result<()> {
        let (mut asked, mut got, mut out) = (0, 0, Vec::new());
        while got < count {
            while asked < count && asked - got < DIRECT_WINDOW {
                self.ask(asked, &mut out);
                asked += 1;
            }
            self.client.write(&out)?;
            out.clear();
            got += self.client.read(|message| {
                // A status such as 404 has no body; a message has its payload and the Nats-Sequence header.
                if message.payload.len() == PAYLOAD
                    && memchr::memmem::find(message.headers, b"Nats-Sequence: ").is_some()
                {
                    return Ok(());
                }
                Err(Error::other(format!("not a message: {}", String::from_utf8_lossy(message.headers))))
            })?;
        }
        Ok(())
    }
}

fn refuse_error(payload: &[u8]) -> io::Result<()> {
    match serde_json::from_slice::<serde_json::Value>(payload)?.get("error") {
        Some(error) => Err(Error::other(error.to_string())),
        None => Ok(()),
    }
}
