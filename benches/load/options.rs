//! The command line of the benchmarks.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

const USAGE: &str = "\
cargo bench --bench NAME -- [options]
    --server PATH      the broker under test          (default: the one built here)
    --reference PATH   the nats-server beside it      (default: the one of .ci/run, or on PATH)
    --only PATTERN     only what has PATTERN in its name, may be given several times
    --runs N           runs of each, the median counts (default 3)
    --seconds S        time of one run, about          (default 1.5)
    --write            put the table into docs/performance.md
    --list             names only";

pub struct Options {
    pub server: PathBuf,
    pub reference: PathBuf,
    only: Vec<String>,
    pub runs: usize,
    pub time: Duration,
    pub write: bool,
    pub list: bool,
}

impl Options {
    /// Reads the arguments; says what is wrong and leaves if they are.
    pub fn from_args() -> Self {
        Self::parse(std::env::args().skip(1)).unwrap_or_else(|what| {
            eprintln!("{what}\n{USAGE}");
            std::process::exit(2)
        })
    }

    fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            server: env!("CARGO_BIN_EXE_postroom").into(),
            reference: find_reference(),
            only: Vec::new(),
            runs: 3,
            time: Duration::from_millis(1500),
            write: false,
            list: false,
        };
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or(format!("{flag} wants a value"));
            match flag.as_str() {
                "--server" => options.server = value()?.into(),
                "--reference" => options.reference = value()?.into(),
                "--only" => options.only.push(value()?.to_lowercase()),
                "--runs" => options.runs = value()?.parse().ok().filter(|n| *n > 0).ok_or("--runs wants a number")?,
                "--seconds" => {
                    let seconds = value()?.parse::<f64>().ok().filter(|s| *s > 0.0 && *s <= 600.0);
                    options.time = Duration::from_secs_f64(seconds.ok_or("--seconds wants a number up to 600")?);
                }
                "--write" => options.write = true,
                "--list" => options.list = true,
                // Cargo itself passes it.
                "--bench" => {}
                _ => return Err(format!("unknown option {flag}")),
            }
        }
        if options.write && !options.only.is_empty() {
            return Err("--write replaces the whole table, so it does not go with --only".into());
        }
        Ok(options)
    }

    pub fn wants(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.only.is_empty() || self.only.iter().any(|pattern| name.contains(pattern))
    }
}

/// The reference that `.ci/run tools` installed, or the first on PATH that is a program itself: a script that wraps it would be
/// measured along with it.
fn find_reference() -> PathBuf {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/ci/venv/bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places =
        std::iter::once(installed).chain(std::env::split_paths(&path)).map(|folder| folder.join("nats-server"));
    places.find(|file| is_program(file)).unwrap_or_else(|| "nats-server".into())
}

fn is_program(file: &Path) -> bool {
    let mut magic = [0; 4];
    File::open(file).and_then(|mut f| f.read_exact(&mut magic)).is_ok() && magic == *b"\x7fELF"
}
