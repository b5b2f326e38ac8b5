//! How costs grow with the work: the same question at sizes a factor of ten apart.

use std::io::{self, Error};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::client::Client;
use super::meter::{Meter, SETTLE, millis};
use super::publish::Publish;
use super::server::{Contender, Server};
use super::work::{Work, median};

const SMALL_READ_BUFFER: usize = 4096;
/// How long a stream may stay unavailable after a start.
const RECOVERY_LIMIT: Duration = Duration::from_secs(60);
/// PubAcks open while a stream is filled.
const FILL_WINDOW: usize = 4_000;
const PAYLOAD: &str = match str::from_utf8(&[b'x'; 128]) {
    Ok(text) => text,
    Err(_) => unreachable!(),
};

/// Answers a question about a server, given the number of runs; both servers answer with the same lines in the same order.
pub type Answer = fn(&Contender, usize) -> io::Result<Vec<Figure>>;
pub type Question = (&'static str, Answer);

pub const QUESTIONS: &[Question] = &[
    ("idle", idle),
    ("connections", connections),
    ("subscriptions", subscriptions),
    ("streams", streams),
    ("consumers", consumers),
    ("messages", messages),
    ("subjects", subjects),
];

/// One figure of one server.
pub struct Figure {
    pub what: String,
    pub unit: &'static str,
    pub value: f64,
}

fn figure(what: impl Into<String>, unit: &'static str, value: f64) -> Figure {
    Figure { what: what.into(), unit, value }
}

/// An empty server with JetStream: how fast it is there, and what it takes while it does nothing.
fn idle(contender: &Contender, runs: usize) -> io::Result<Vec<Figure>> {
    let mut starts = Vec::new();
    for _ in 0..runs.max(5) {
        let begun = Instant::now();
        let server = contender.start()?;
        starts.push(millis(begun.elapsed()));
        drop(server);
    }
    let server = contender.start()?;
    sleep(SETTLE);
    let (resident, cpu) = (server.resident()?, server.cpu()?);
    let watched = Duration::from_secs(5);
    sleep(watched);
    let cpu = server.cpu()?.saturating_sub(cpu);
    Ok(vec![
        figure("start to first PONG, empty store", "ms", median(starts)),
        figure("idle, resident memory", "MB", resident as f64 / 1e6),
        figure("idle, CPU", "ms/s", millis(cpu) / watched.as_secs_f64()),
    ])
}

fn connections(contender: &Contender, _: usize) -> io::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for count in [100, 1_000, 10_000] {
        let server = contender.start()?;
        let mut meter = Meter::start(&server)?;
        let mut held = Vec::new();
        for _ in 0..count {
            held.push(Client::with_buffer(TcpStream::connect(server.addr)?, SMALL_READ_BUFFER)?);
        }
        meter.stop()?;
        figures.push(figure(format!("{count} connections, memory of one"), "KiB", meter.memory_kib() / count as f64));
        figures.push(figure(format!("{count} connections, CPU to open one"), "us", meter.cpu_micros() / count as f64));
    }
    Ok(figures)
}

fn subscriptions(contender: &Contender, _: usize) -> io::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for count in [1_000, 10_000, 100_000] {
        let server = contender.start()?;
        let mut client = server.connect()?;
        let mut meter = Meter::start(&server)?;
        let lines: String = (0..count).map(|n| format!("SUB cost.{n}.* {n}\r\n")).collect();
        client.write(lines.as_bytes())?;
        client.flush()?;
        meter.stop()?;
        figures.push(figure(
            format!("{count} subscriptions, memory of one"),
            "bytes",
            meter.memory_kib() * 1024.0 / count as f64,
        ));
        figures.push(figure(format!("{count} subscriptions, CPU to add one"), "us", meter.cpu_micros() / count as f64));

        // One message for each, in an order that helps no cache.
        let mut publisher = server.connect()?;
        let stride = 7_919;
        let published = 100_000;
        let block: String = (0..published).map(|n| format!("PUB cost.{}.x 1\r\nx\r\n", n * stride % count)).collect();
        let mut meter = Meter::start(&server)?;
        let reader = std::thread::spawn(move || read_count(client, published as u64));
        publisher.write(block.as_bytes())?;
        reader.join().map_err(|_| Error::other("the reader panicked"))??;
        meter.stop()?;
        let each = meter.cpu_micros() / published as f64;
        figures.push(figure(format!("{count} subscriptions, CPU of a message to one of them"), "us", each));
    }
    Ok(figures)
}

fn read_count(mut client: Client, count: u64) -> io::Result<()> {
    let mut came = 0;
    while came < count {
        came += client.count()?;
    }
    Ok(())
}

fn streams(contender: &Contender, _: usize) -> io::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for count in [10, 100, 1_000] {
        let mut server = contender.start()?;
        let mut client = server.connect()?;
        let mut meter = Meter::start(&server)?;
        for number in 0..count {
            let config = format!(r#"{{"name":"S{number}","subjects":["cost.{number}.>"],"storage":"file"}}"#);
            client.request(&format!("$JS.API.STREAM.CREATE.S{number}"), &config)?;
        }
        meter.stop()?;
        figures.push(figure(format!("{count} streams, time to create one"), "ms", meter.wall_millis() / count as f64));
        figures.push(figure(format!("{count} streams, memory of one"), "KiB", meter.memory_kib() / count as f64));

        let published = 20_000;
        let mut publish = Publish::to(&server, 1_000, |n| format!("cost.{}.{n}", n % count), PAYLOAD)?;
        let mut meter = Meter::start(&server)?;
        publish.run(published)?;
        meter.stop()?;
        figures.push(figure(
            format!("{count} streams, CPU of a message to one of them"),
            "us",
            meter.cpu_micros() / published as f64,
        ));
        drop((client, publish));
        figures.push(figure(
            format!("{count} streams, restart after SIGTERM"),
            "ms",
            millis(server.stop_and_restart()?),
        ));
        let info = server.connect()?.request("$JS.API.INFO", "")?;
        if info["streams"] != count {
            return Err(Error::other(format!("{} streams are left of {count}", info["streams"])));
        }
    }
    Ok(figures)
}

fn consumers(contender: &Contender, _: usize) -> io::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for count in [10, 100, 1_000] {
        let server = contender.start()?;
        let mut client = server.connect()?;
        client.request("$JS.API.STREAM.CREATE.S", r#"{"name":"S","subjects":["cost.>"],"storage":"file"}"#)?;
        let mut meter = Meter::start(&server)?;
        for number in 0..count {
            let config = format!(
                r#"{{"stream_name":"S","config":{{"durable_name":"c{number}","ack_policy":"explicit","filter_subject":"cost.{number}.>"}}}}"#
            );
            client.request(&format!("$JS.API.CONSUMER.DURABLE.CREATE.S.c{number}"), &config)?;
        }
        meter.stop()?;
        figures.push(figure(
            format!("{count} consumers, time to create one"),
            "ms",
            meter.wall_millis() / count as f64,
        ));
        figures.push(figure(format!("{count} consumers, memory of one"), "KiB", meter.memory_kib() / count as f64));

        let published = 20_000;
        let mut publish = Publish::to(&server, 1_000, |n| format!("cost.{}.x", n % count), PAYLOAD)?;
        let mut meter = Meter::start(&server)?;
        publish.run(published)?;
        meter.stop()?;
        figures.push(figure(
            format!("{count} consumers, CPU to store a message"),
            "us",
            meter.cpu_micros() / published as f64,
        ));
    }
    Ok(figures)
}

/// A stream with ever more messages on 10,000 subjects: memory, restart, and a replay of the few that a filter lets through.
fn messages(contender: &Contender, _: usize) -> io::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for count in [10_000, 100_000, 1_000_000u64] {
        let mut server = contender.start()?;
        let mut client = server.connect()?;
        client.request("$JS.API.STREAM.CREATE.S", r#"{"name":"S","subjects":["cost.>"],"storage":"file"}"#)?;
        let mut meter = Meter::start(&server)?;
        Publish::to(&server, 10_000, |n| format!("cost.{n:05}"), PAYLOAD)?.run(count)?;
        meter.stop()?;
        drop(client);
        let title = |what: &str| format!("{count} messages, {what}");
        figures.push(figure(title("memory of one"), "bytes", meter.memory_kib() * 1024.0 / count as f64));
        figures.push(figure(title("disk of one"), "bytes", server.stored_bytes()? as f64 / count as f64));
        figures.push(figure(
            title("filtered replay, the subject of every 10,000th"),
            "ms",
            millis(filtered_replay(&server, count)?),
        ));
        figures.push(figure(title("restart after SIGKILL"), "ms", millis(restart(&mut server, true, count)?)));
        figures.push(figure(title("the same replay after it"), "ms", millis(filtered_replay(&server, count)?)));
        figures.push(figure(title("restart after SIGTERM"), "ms", millis(restart(&mut server, false, count)?)));
        figures.push(figure(title("resident after it"), "MB", server.resident()? as f64 / 1e6));
    }
    Ok(figures)
}

/// Stops the server, hard or politely, and starts it again: the time until the stream tells that all its messages are there.
fn restart(server: &mut Server, hard: bool, count: u64) -> io::Result<Duration> {
    let started = if hard { server.crash_and_restart()? } else { server.stop_and_restart()? };
    let begun = Instant::now();
    loop {
        // While it recovers, a server may refuse the question.
        let info = server.connect()?.request("$JS.API.STREAM.INFO.S", "");
        let waited = begun.elapsed();
        match info {
            Ok(info) if info["state"]["messages"] == count => return Ok(started + waited),
            Ok(info) => {
                return Err(Error::other(format!("{} messages are left of {count}", info["state"]["messages"])));
            }
            Err(error) if waited > RECOVERY_LIMIT => return Err(error),
            Err(_) => sleep(Duration::from_millis(1)),
        }
    }
}

/// Creates a filtered consumer without acks and waits for the last of its messages.
fn filtered_replay(server: &Server, stored: u64) -> io::Result<Duration> {
    let wanted = stored / 10_000;
    let mut client = server.connect()?;
    client.subscribe("cost-replay", "replay")?;
    client.flush()?;
    let config = r#"{"stream_name":"S","config":{"name":"replay","deliver_subject":"cost-replay","ack_policy":"none",
        "filter_subject":"cost.07919","mem_storage":true,"inactive_threshold":300000000000}}"#;
    let subject = "$JS.API.CONSUMER.CREATE.S.replay.cost.07919";
    let begun = Instant::now();
    client.write(format!("PUB {subject} {}\r\n{config}\r\n", config.len()).as_bytes())?;
    let mut came = 0;
    while came < wanted {
        client.read(|message| {
            came += u64::from(message.sid == b"replay");
            Ok(())
        })?;
    }
    let took = begun.elapsed();
    client.request("$JS.API.CONSUMER.DELETE.S.replay", "")?;
    Ok(took)
}

/// Ever more subjects in a stream, one message on each: what the newest of one costs to find.
fn subjects(contender: &Contender, _: usize) -> io::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for count in [1_000, 10_000, 100_000usize] {
        let server = contender.start()?;
        let mut client = server.connect()?;
        client.request(
            "$JS.API.STREAM.CREATE.S",
            r#"{"name":"S","subjects":["cost.>"],"storage":"file","allow_direct":true,"max_msgs_per_subject":1}"#,
        )?;
        let mut meter = Meter::start(&server)?;
        fill_subjects(&server, count)?;
        meter.stop()?;
        figures.push(figure(
            format!("{count} subjects, memory of one"),
            "bytes",
            meter.memory_kib() * 1024.0 / count as f64,
        ));
        let asked = 20_000;
        client.subscribe("cost-got", "got")?;
        let lines: String = (0..asked)
            .map(|n| format!("PUB $JS.API.DIRECT.GET.S.cost.{:06} cost-got 0\r\n\r\n", n * 7_919 % count))
            .collect();
        let mut meter = Meter::start(&server)?;
        let mut got = 0;
        // In slices: a server may refuse more open requests than it has room for.
        for slice in lines.as_bytes().chunks(lines.len() / asked * 500) {
            client.write(slice)?;
            let open = got + (slice.len() / (lines.len() / asked)) as u64;
            while got < open {
                got += client.count()?;
            }
        }
        meter.stop()?;
        figures.push(figure(
            format!("{count} subjects, CPU to get the newest of one"),
            "us",
            meter.cpu_micros() / asked as f64,
        ));
    }
    Ok(figures)
}

/// One message on each of `count` subjects.
fn fill_subjects(server: &Server, count: usize) -> io::Result<()> {
    let window = count.min(FILL_WINDOW);
    for first in (0..count).step_by(window) {
        Publish::to(server, window, |n| format!("cost.{:06}", first + n), PAYLOAD)?.run(window as u64)?;
    }
    Ok(())
}
