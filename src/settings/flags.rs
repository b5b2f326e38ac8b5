//! The command line, in the manner of nats-server: short and long names, one or two dashes, `-p 4222` or `-p=4222`.
//! Reference section 8.1.

use super::layer::Layer;
use super::source::{ConfigSource, Manner, is_toml};
use std::path::PathBuf;

/// What the command line asks for.
#[derive(Clone, Debug)]
pub enum Command {
    /// Run a server.
    Run(ConfigSource),
    /// Read the configuration file and tell whether it is good (`-t`, `config check FILE`).
    Check(ConfigSource),
    /// Print the configuration file as TOML (`config convert FILE`).
    Convert(ConfigSource),
    /// Send a signal to a running server: the name, and a pid or the path of a pid file.
    Signal {
        /// As given before the `=`.
        name: String,
        /// As given behind it.
        target: Option<String>,
    },
    /// Print the usage.
    Help,
    /// Print the version.
    Version,
}

/// Why a command line cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsageError {
    /// A flag is unknown or its value does not fit: told with the usage, and exit status 0, as the reference does.
    Flag(String),
    /// Anything else: exit status 1.
    Line(String),
}

/// A flag: its names, what it takes, what it sets.
struct Flag {
    names: &'static [&'static str],
    does: Does,
}

#[derive(Clone, Copy)]
enum Does {
    /// Sets these to true, or to the boolean behind `=`.
    Switch(&'static [&'static str]),
    /// Sets a text.
    Text(&'static str),
    /// Sets a whole number.
    Number(&'static str),
    /// `-c`
    File,
    /// `-sl`
    Signal,
    Check,
    Help,
    Version,
    /// A feature that is not here yet; whether it takes a value.
    NotYet(bool),
    /// A number that means nothing here.
    IgnoredNumber,
}

#[rustfmt::skip]
const FLAGS: &[Flag] = &[
    flag(&["a", "addr", "net"], Does::Text("server.host")),
    flag(&["p", "port"], Does::Number("server.port")),
    flag(&["n", "name", "server_name"], Does::Text("server.name")),
    flag(&["P", "pid"], Does::Text("server.pid_file")),
    flag(&["c", "config"], Does::File),
    flag(&["t"], Does::Check),
    flag(&["sl", "signal"], Does::Signal),
    flag(&["client_advertise"], Does::Text("server.client_advertise")),
    flag(&["ports_file_dir"], Does::Text("server.ports_file_dir")),
    flag(&["l", "log"], Does::Text("log.file")),
    flag(&["T", "logtime"], Does::Switch(&["log.time"])),
    flag(&["logtime_utc"], Does::Switch(&["log.utc"])),
    flag(&["D", "debug"], Does::Switch(&["log.debug"])),
    flag(&["V", "trace"], Does::Switch(&["log.trace"])),
    flag(&["VV"], Does::Switch(&["log.trace", "log.trace_verbose"])),
    flag(&["DV"], Does::Switch(&["log.debug", "log.trace"])),
    flag(&["DVV"], Does::Switch(&["log.debug", "log.trace", "log.trace_verbose"])),
    flag(&["log_size_limit"], Does::Number("log.size_limit")),
    flag(&["max_traced_msg_len"], Does::Number("log.max_traced_msg_len")),
    flag(&["js", "jetstream"], Does::Switch(&["jetstream.enabled"])),
    flag(&["sd", "store_dir"], Does::Text("jetstream.store_dir")),
    flag(&["user"], Does::Text("auth.user")),
    flag(&["pass"], Does::Text("auth.password")),
    flag(&["auth"], Does::Text("auth.token")),
    flag(&["profile"], Does::IgnoredNumber),
    flag(&["h", "help"], Does::Help),
    flag(&["help_tls"], Does::NotYet(false)),
    flag(&["v", "version"], Does::Version),

    flag(&["m", "http_port"], Does::NotYet(true)),
    flag(&["ms", "https_port"], Does::NotYet(true)),
    flag(&["s", "syslog"], Does::NotYet(false)),
    flag(&["r", "remote_syslog"], Does::NotYet(true)),
    flag(&["tls"], Does::NotYet(false)),
    flag(&["tlsverify"], Does::NotYet(false)),
    flag(&["tlscert"], Does::NotYet(true)),
    flag(&["tlskey"], Does::NotYet(true)),
    flag(&["tlscacert"], Does::NotYet(true)),
    flag(&["routes"], Does::NotYet(true)),
    flag(&["cluster"], Does::NotYet(true)),
    flag(&["cluster_name"], Does::NotYet(true)),
    flag(&["cluster_listen"], Does::NotYet(true)),
    flag(&["cluster_advertise"], Does::NotYet(true)),
    flag(&["no_advertise"], Does::NotYet(false)),
    flag(&["connect_retries"], Does::NotYet(true)),
];

const fn flag(names: &'static [&'static str], does: Does) -> Flag {
    Flag { names, does }
}

/// The text of `-h`.
pub const USAGE: &str = include_str!("usage.txt");

/// What was gathered from a command line.
#[derive(Default)]
struct Line {
    layer: Layer,
    file: Option<PathBuf>,
    signal: Option<String>,
    check: bool,
    help: bool,
    version: bool,
    any: bool,
}

/// Reads a command line, without the program's own name.
pub fn parse(args: impl IntoIterator<Item = String>) -> Result<Command, UsageError> {
    let mut args = args.into_iter();
    let mut line = Line::default();
    let mut words = Vec::new();
    while let Some(arg) = args.next() {
        let name = match arg.strip_prefix("--").or_else(|| arg.strip_prefix('-')) {
            Some("") if arg == "--" => {
                words.extend(args.by_ref());
                break;
            }
            Some(name) if !name.is_empty() => name,
            // The first word that is no flag ends the flags.
            _ => {
                words.push(arg);
                words.extend(args.by_ref());
                break;
            }
        };
        if name.starts_with('-') || name.starts_with('=') {
            return Err(UsageError::Flag(format!("bad flag syntax: {arg}")));
        }
        let (name, value) = name.split_once('=').map_or((name, None), |(n, v)| (n, Some(v.to_string())));
        line.apply(name, value, &mut args)?;
    }
    line.command(words)
}

impl Line {
    fn apply(
        &mut self,
        name: &str,
        value: Option<String>,
        rest: &mut impl Iterator<Item = String>,
    ) -> Result<(), UsageError> {
        let Some(flag) = FLAGS.iter().find(|flag| flag.names.contains(&name)) else {
            return Err(UsageError::Flag(format!("flag provided but not defined: -{name}")));
        };
        let on = match &value {
            None => true,
            Some(text) if flag.does.takes_value() => !text.is_empty(),
            Some(text) => boolean(text).ok_or_else(|| {
                UsageError::Flag(format!("invalid boolean value \"{text}\" for -{name}: parse error"))
            })?,
        };
        let value = match value {
            None if flag.does.takes_value() => {
                rest.next().ok_or_else(|| UsageError::Flag(format!("flag needs an argument: -{name}")))?
            }
            value => value.unwrap_or_default(),
        };
        let origin = format!("flag -{name}");
        self.any = true;
        match flag.does {
            Does::Switch(paths) => paths.iter().for_each(|path| self.layer.set(path, on, &origin)),
            Does::Text(path) => self.layer.set(path, value, &origin),
            Does::Number(path) => self.layer.set(path, number(name, &value)?, &origin),
            Does::IgnoredNumber => {
                number(name, &value)?;
            }
            Does::File => self.file = Some(value.into()),
            Does::Signal => self.signal = Some(value),
            Does::Check => self.check = on,
            Does::Help => self.help = on,
            Does::Version => self.version = on,
            Does::NotYet(true) => return Err(UsageError::Line(format!("flag -{name} is not supported yet"))),
            Does::NotYet(false) if on => return Err(UsageError::Line(format!("flag -{name} is not supported yet"))),
            Does::NotYet(false) => {}
        }
        Ok(())
    }

    fn command(mut self, words: Vec<String>) -> Result<Command, UsageError> {
        if self.version {
            return Ok(Command::Version);
        }
        if self.help {
            return Ok(Command::Help);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            [] => {}
            ["version", ..] => return Ok(Command::Version),
            ["help", ..] => return Ok(Command::Help),
            ["config", what @ ("check" | "convert"), file] => {
                self.file = Some(file.into());
                let source = self.source();
                return Ok(if what == "check" { Command::Check(source) } else { Command::Convert(source) });
            }
            ["config", ..] => {
                return Err(UsageError::Line("expected: config check FILE, or config convert FILE".into()));
            }
            [word, ..] => return Err(UsageError::Line(format!("unrecognized command: \"{word}\""))),
        }
        if let Some(signal) = self.signal {
            let (name, target) = signal.split_once('=').map_or((signal.as_str(), None), |(n, t)| (n, Some(t)));
            return Ok(Command::Signal { name: name.into(), target: target.map(Into::into) });
        }
        if self.check && self.file.is_none() {
            let text = "must specify [-c, --config] option to check configuration file syntax";
            return Err(UsageError::Line(text.into()));
        }
        Ok(if self.check { Command::Check(self.source()) } else { Command::Run(self.source()) })
    }

    /// A TOML file makes it our own manner, any other file or flag the reference's.
    fn source(self) -> ConfigSource {
        let own = self.file.as_deref().map_or(!self.any, is_toml);
        ConfigSource::new(self.file, self.layer, if own { Manner::Own } else { Manner::Reference })
    }
}

impl Does {
    fn takes_value(self) -> bool {
        use Does::{File, IgnoredNumber, NotYet, Number, Signal, Text};
        matches!(self, Text(_) | Number(_) | File | Signal | NotYet(true) | IgnoredNumber)
    }
}

fn number(name: &str, text: &str) -> Result<i64, UsageError> {
    text.parse().map_err(|_| UsageError::Flag(format!("invalid value \"{text}\" for flag -{name}: parse error")))
}

/// The booleans of Go's flags.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}
