//! Side by side with the reference server: rate as verified at the receiver, and the server's CPU time for each message.
//!
//! `cargo bench --bench compare` runs every workload on both servers in turn, each run on a fresh process and an empty store,
//! and prints the medians. JetStream publishing also runs on the reference with `sync_interval: always`, which is what our
//! default promises: nothing acked before it is on the disk.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

mod load;

use load::options::Options;
use load::report::{self, Table};
use load::server::Contender;
use load::work::{Family, Sample, Workload, measure, median};
use load::{consume, core, publish};

const ALWAYS_SYNCED: &str = "jetstream { store_dir: \"$DIR\", sync_interval: always }\n";

fn main() -> io::Result<ExitCode> {
    let options = Options::from_args();
    let all = [core::workloads(), publish::workloads(), consume::workloads()];
    let chosen: Vec<Workload> = all.into_iter().flatten().filter(|w| options.wants(w.name)).collect();
    if options.list {
        chosen.iter().for_each(|workload| println!("{}", workload.name));
        return Ok(ExitCode::SUCCESS);
    }
    let ours = Contender::new("postroom", &options.server);
    let reference = Contender::new("reference", &options.reference);
    let synced = Contender::new("reference, synced", &options.reference).with_config(ALWAYS_SYNCED);
    let mut table = Table::new(
        &[
            "workload",
            "postroom /s",
            "reference /s",
            "ratio",
            "synced /s",
            "ratio",
            "postroom CPU us",
            "reference CPU us",
            "ratio",
        ]
        .map(String::from),
    );
    let mut failures = 0;
    for workload in &chosen {
        let mut contenders = vec![&ours, &reference];
        if workload.family == Family::JetStreamPublish {
            contenders.push(&synced);
        }
        let results = alternate(workload, &contenders, options.runs, options.time);
        failures += results.iter().filter(|r| r.is_none()).count();
        table.row(row(workload.name, &results));
        eprintln!("{}", summary(workload.name, &results));
    }
    let text = format!(
        "{} beside {}. Median of {} alternating runs of about {} s, on {}.\n\n{}",
        report::version(&options.server),
        report::version(&options.reference),
        options.runs,
        options.time.as_secs_f64(),
        report::machine(),
        table.to_markdown()
    );
    println!("\n{text}");
    if options.write {
        report::write_section("compare", &text)?;
    }
    if failures > 0 {
        eprintln!("runs failed: {failures}");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the contenders in turn; the median of each, or nothing if one of its runs failed.
fn alternate(workload: &Workload, contenders: &[&Contender], runs: usize, time: Duration) -> Vec<Option<Sample>> {
    let mut samples = vec![Vec::new(); contenders.len()];
    for _ in 0..runs {
        for (contender, samples) in contenders.iter().zip(&mut samples) {
            match run_once(workload, contender, time) {
                Ok(sample) => samples.push(sample),
                Err(error) => eprintln!("FAILED: {} on {}: {error}", workload.name, contender.name),
            }
        }
    }
    let middle = |samples: Vec<Sample>| {
        (samples.len() == runs).then(|| Sample {
            rate: median(samples.iter().map(|s| s.rate).collect()),
            cpu_micros: median(samples.iter().map(|s| s.cpu_micros).collect()),
        })
    };
    samples.into_iter().map(middle).collect()
}

fn run_once(workload: &Workload, contender: &Contender, time: Duration) -> io::Result<Sample> {
    let server = contender.start()?;
    measure(workload, &server, time)
        .map_err(|error| io::Error::new(error.kind(), format!("{error}\n{}", server.log_tail())))
}

fn row(name: &str, results: &[Option<Sample>]) -> Vec<String> {
    let sample = |place: usize| results.get(place).copied().flatten();
    let cell = |place, pick: fn(Sample) -> f64, show: fn(f64) -> String| match (results.get(place), sample(place)) {
        (None, _) => "-".into(),
        (Some(_), None) => "failed".into(),
        (Some(_), Some(sample)) => show(pick(sample)),
    };
    let ratio = |over: usize, pick: fn(Sample) -> f64| match (sample(0), sample(over)) {
        (Some(ours), Some(theirs)) => format!("{}x", report::figure(pick(ours) / pick(theirs))),
        _ => "-".into(),
    };
    let rate = |sample: Sample| sample.rate;
    let cpu = |sample: Sample| sample.cpu_micros;
    vec![
        name.into(),
        cell(0, rate, report::rate),
        cell(1, rate, report::rate),
        ratio(1, rate),
        cell(2, rate, report::rate),
        ratio(2, rate),
        cell(0, cpu, report::figure),
        cell(1, cpu, report::figure),
        ratio(1, cpu),
    ]
}

fn summary(name: &str, results: &[Option<Sample>]) -> String {
    let one = |result: &Option<Sample>| match result {
        Some(sample) => format!("{}/s {} us", report::rate(sample.rate), report::figure(sample.cpu_micros)),
        None => "failed".into(),
    };
    format!("{name:<50} {}", results.iter().map(one).collect::<Vec<_>>().join(" | "))
}
