//! Cost against work: what one more connection, subscription, stream, consumer, message or subject costs, on both servers.
//!
//! Each question is asked at several sizes, a factor of ten apart, so that a cost that grows faster than the work shows.

use std::fs;
use std::io::{self, Error};
use std::process::{Command, ExitCode};

mod load;

use load::growth::{Answer, Figure, QUESTIONS, Question};
use load::options::Options;
use load::report::{self, Table};
use load::server::Contender;

fn main() -> io::Result<ExitCode> {
    let options = Options::from_args();
    let chosen: Vec<&Question> = QUESTIONS.iter().filter(|(name, _)| options.wants(name)).collect();
    if options.list {
        chosen.iter().for_each(|(name, _)| println!("{name}"));
        return Ok(ExitCode::SUCCESS);
    }
    raise_descriptors()?;
    let contenders = [Contender::new("postroom", &options.server), Contender::new("reference", &options.reference)];
    let mut table = Table::new(&["work", "unit", "postroom", "reference", "ratio"].map(String::from));
    let mut failures = 0;
    for (name, answer) in chosen {
        match ask(&contenders, *answer, options.runs) {
            Ok(rows) => rows.into_iter().for_each(|row| {
                eprintln!("{}", row.join("  "));
                table.row(row);
            }),
            Err(error) => {
                eprintln!("FAILED: {name}: {error}");
                table.row(vec![format!("{name}: failed")]);
                failures += 1;
            }
        }
    }
    let text = format!(
        "{} beside {}. Start times: median of {} starts; the rest measured once. On {}.\n\n{}",
        report::version(&options.server),
        report::version(&options.reference),
        options.runs,
        report::machine(),
        table.to_markdown()
    );
    println!("\n{text}");
    if options.write {
        report::write_section("cost", &text)?;
    }
    if failures > 0 {
        eprintln!("questions failed: {failures}");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Allows this process and the servers it starts as many descriptors as the machine lets them have: ten thousand connections
/// need more than the usual soft limit.
fn raise_descriptors() -> io::Result<()> {
    let limits = fs::read_to_string("/proc/self/limits")?;
    let line = limits.lines().find(|line| line.starts_with("Max open files"));
    let hard =
        line.and_then(|line| line.split_whitespace().nth(4)).ok_or_else(|| Error::other("no limit of open files"))?;
    let me = std::process::id().to_string();
    Command::new("prlimit").args(["--pid", &me, &format!("--nofile={hard}:{hard}")]).status()?;
    Ok(())
}

fn ask(contenders: &[Contender; 2], answer: Answer, runs: usize) -> io::Result<Vec<Vec<String>>> {
    let [ours, theirs] = contenders;
    let answers = answer(ours, runs)?.into_iter().zip(answer(theirs, runs)?);
    let row = |(a, b): (Figure, Figure)| {
        let ratio = if b.value > 0.0 { format!("{}x", report::figure(a.value / b.value)) } else { "-".into() };
        vec![a.what, a.unit.into(), report::figure(a.value), report::figure(b.value), ratio]
    };
    Ok(answers.map(row).collect())
}
