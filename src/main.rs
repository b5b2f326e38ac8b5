//! The `postroom` program: arguments become settings, settings become a broker.

use postroom::settings::flags::{self, Command, USAGE, UsageError};
use postroom::settings::{ConfigSource, Loaded};
use postroom::{broker, logging, signals};
use std::process::ExitCode;

/// Memory of so many bytes that is freed stays at hand.
#[cfg(target_env = "gnu")]
const KEPT_FREE: libc::c_int = 32 << 20;
/// Only a piece larger than this is asked of the kernel, and given back to it, by itself.
#[cfg(target_env = "gnu")]
const MAPPED_ALONE: libc::c_int = 8 << 20;

fn main() -> ExitCode {
    // SAFETY: the first thing that happens, on the only thread.
    unsafe { postroom::store::sled::hide_sync_command() };
    keep_freed_memory();
    match flags::parse(std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned())) {
        Ok(Command::Run(source)) => run(&source),
        Ok(Command::Check(source)) => check(&source),
        Ok(Command::Convert(source)) => convert(&source),
        Ok(Command::Signal { name, target }) => match signals::send(&name, target.as_deref()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(error),
        },
        Ok(Command::Help) => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        Ok(Command::Version) => {
            println!(
                "postroom: v{}, in place of nats-server: v{}",
                env!("CARGO_PKG_VERSION"),
                logging::PROTOCOL_VERSION
            );
            ExitCode::SUCCESS
        }
        // Scripts that pass a flag of some other version expect this to be no failure.
        Err(UsageError::Flag(text)) => {
            eprintln!("{text}\n{USAGE}");
            ExitCode::SUCCESS
        }
        Err(UsageError::Line(text)) => fail(text),
    }
}

/// Has the allocator keep the buffers of the last moment for the next one. It would give those of some hundred kilobytes
/// back to the kernel each time, and have each page cleared and mapped anew: 8 publishers to 8 subscribers cost 0.24 us
/// of CPU a message like that, and 0.09 us with this.
#[cfg(target_env = "gnu")]
fn keep_freed_memory() {
    // SAFETY: nothing but numbers is handed over, before there is a second thread.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_ALONE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_FREE);
    }
}

#[cfg(not(target_env = "gnu"))]
fn keep_freed_memory() {}

fn run(source: &ConfigSource) -> ExitCode {
    let Loaded { settings, warnings, source } = match source.load() {
        Ok(loaded) => loaded,
        Err(error) => return fail(error),
    };
    for warning in &warnings {
        eprintln!("{warning}");
    }
    if let Err(error) = logging::start(&settings.log) {
        let file = settings.log.file.unwrap_or_default();
        return fail(format!("cannot open the log file {}: {error}", file.display()));
    }
    broker::run(settings, source)
}

/// As the reference: a warning is reason enough for a bad mark.
fn check(source: &ConfigSource) -> ExitCode {
    let loaded = match source.load() {
        Ok(loaded) => loaded,
        Err(error) => return fail(error),
    };
    if !loaded.warnings.is_empty() {
        let lines: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
        return fail(lines.join("\n"));
    }
    let file = loaded.source.file().map(|f| f.display().to_string()).unwrap_or_default();
    eprintln!("postroom: configuration file {file} is valid ({})", loaded.source.digest().unwrap_or_default());
    ExitCode::SUCCESS
}

fn convert(source: &ConfigSource) -> ExitCode {
    let loaded = match source.load() {
        Ok(loaded) => loaded,
        Err(error) => return fail(error),
    };
    for warning in &loaded.warnings {
        eprintln!("{warning}");
    }
    match toml::to_string_pretty(&loaded.settings) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => fail(error),
    }
}

fn fail(error: impl std::fmt::Display) -> ExitCode {
    eprintln!("postroom: {error}");
    ExitCode::FAILURE
}
