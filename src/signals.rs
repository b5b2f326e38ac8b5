//! The signals a server understands, and sending one to it (`--signal`). Reference section 8.2.

use std::fmt;
use std::io;
use std::path::Path;

/// What a running server can be told by a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// End at once: SIGKILL.
    Stop,
    /// Shut down: SIGINT.
    Quit,
    /// Shut down: SIGTERM; ignored in lame duck mode.
    Term,
    /// Close the log file and open it again: SIGUSR1.
    Reopen,
    /// Read the configuration again: SIGHUP.
    Reload,
    /// Let clients go one after the other, then shut down: SIGUSR2.
    LameDuck,
}

impl Signal {
    /// All of them, with their names on the command line.
    pub const ALL: [(&'static str, Signal); 6] = [
        ("stop", Signal::Stop),
        ("quit", Signal::Quit),
        ("term", Signal::Term),
        ("reopen", Signal::Reopen),
        ("reload", Signal::Reload),
        ("ldm", Signal::LameDuck),
    ];

    /// The signal of this name.
    pub fn named(name: &str) -> Option<Signal> {
        Self::ALL.iter().find(|(n, _)| *n == name).map(|(_, signal)| *signal)
    }

    /// The system's number for it.
    pub fn number(self) -> i32 {
        match self {
            Signal::Stop => libc::SIGKILL,
            Signal::Quit => libc::SIGINT,
            Signal::Term => libc::SIGTERM,
            Signal::Reopen => libc::SIGUSR1,
            Signal::Reload => libc::SIGHUP,
            Signal::LameDuck => libc::SIGUSR2,
        }
    }

    /// The signal of this number, if a server can catch and understand it.
    pub fn of_number(number: i32) -> Option<Signal> {
        Self::ALL.iter().map(|(_, signal)| *signal).find(|s| s.number() == number && *s != Signal::Stop)
    }

    /// The system's words for it, as in the log line `Trapped "hangup" signal`.
    pub fn description(self) -> &'static str {
        match self {
            Signal::Stop => "killed",
            Signal::Quit => "interrupt",
            Signal::Term => "terminated",
            Signal::Reopen => "user defined signal 1",
            Signal::Reload => "hangup",
            Signal::LameDuck => "user defined signal 2",
        }
    }
}

/// Why a signal was not sent.
#[derive(Debug)]
pub enum SignalError {
    /// No signal has this name.
    Unknown(String),
    /// Neither a process id nor a file with one.
    BadPid(String),
    /// The system refuses: there is no such process, or it is not ours.
    Refused(i32, io::Error),
    /// No process id was given, and not exactly one server runs.
    NotOne(Vec<i32>),
}

impl fmt::Display for SignalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "unknown signal \"{name}\""),
            Self::BadPid(text) => write!(f, "invalid pid: {text}"),
            Self::Refused(pid, error) => write!(f, "cannot send a signal to process {pid}: {error}"),
            Self::NotOne(pids) if pids.is_empty() => f.write_str("no postroom processes running"),
            Self::NotOne(pids) => {
                let pids: Vec<String> = pids.iter().map(i32::to_string).collect();
                write!(f, "multiple postroom processes running:\n{}", pids.join("\n"))
            }
        }
    }
}

impl std::error::Error for SignalError {}

/// Sends the signal called `name` to `target`, a process id or the path of a file with one; without a target to the
/// one server that runs on this machine.
pub fn send(name: &str, target: Option<&str>) -> Result<(), SignalError> {
    let signal = Signal::named(name).ok_or_else(|| SignalError::Unknown(name.into()))?;
    let pid = match target {
        Some(target) => pid(target)?,
        None => match running_servers()[..] {
            [pid] => pid,
            ref pids => return Err(SignalError::NotOne(pids.to_vec())),
        },
    };
    // SAFETY: kill takes two integers and touches no memory of ours.
    if unsafe { libc::kill(pid, signal.number()) } == 0 {
        Ok(())
    } else {
        Err(SignalError::Refused(pid, io::Error::last_os_error()))
    }
}

/// A number, or the number in a file. Not 0 or less: those would mean whole groups of processes.
fn pid(target: &str) -> Result<i32, SignalError> {
    let bad = || SignalError::BadPid(target.into());
    let number = match target.parse::<i32>() {
        Ok(pid) => pid,
        Err(_) => {
            let text = std::fs::read_to_string(Path::new(target)).map_err(|_| bad())?;
            text.trim().parse().map_err(|_| bad())?
        }
    };
    if number > 0 { Ok(number) } else { Err(bad()) }
}

/// Process ids of the other processes that run this very program.
fn running_servers() -> Vec<i32> {
    let Ok(own) = std::env::current_exe() else { return Vec::new() };
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let me = std::process::id() as i32;
    let mut pids: Vec<i32> = processes
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let exe = std::fs::read_link(entry.path().join("exe")).ok()?;
            (pid != me && exe == own).then_some(pid)
        })
        .collect();
    pids.sort_unstable();
    pids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree() {
        for (name, signal) in Signal::ALL {
            assert_eq!(Signal::named(name), Some(signal));
        }
        assert_eq!(Signal::of_number(libc::SIGHUP), Some(Signal::Reload));
        assert_eq!(Signal::of_number(libc::SIGKILL), None);
        assert_eq!(Signal::named("dance"), None);
    }

    #[test]
    fn whole_groups_of_processes_are_never_meant() {
        for target in ["0", "-1", "nowhere.pid", "/proc/version"] {
            assert!(matches!(pid(target), Err(SignalError::BadPid(_))), "{target}");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "4711\n").unwrap();
        assert_eq!(pid(&file.path().display().to_string()).unwrap(), 4711);
    }
}
