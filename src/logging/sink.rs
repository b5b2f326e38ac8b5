//! Where lines go: standard error or a file, one at a time.

use super::file::LogFile;
use super::line::{Form, Told, tag};
use super::repeats::{Repeats, Verdict};
use crate::settings::LogSettings;
use jiff::Timestamp;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Targets that may be told in detail; other crates are heard from warnings up.
const OURS: &str = "postroom";

/// The place that lines go to.
pub(super) struct Sink {
    detail: AtomicU8,
    out: Mutex<Out>,
}

/// How much is told: the values of [`Sink::detail`].
const NORMAL: u8 = 0;
const DEBUG: u8 = 1;
const TRACE: u8 = 2;
const DEBUG_AND_TRACE: u8 = DEBUG | TRACE;

struct Out {
    form: Form,
    repeats: Repeats,
    /// Standard error, if there is no file.
    file: Option<LogFile>,
    /// Lines that could not be written since the last one that could.
    lost: u64,
}

impl Sink {
    pub(super) fn open(settings: &LogSettings) -> io::Result<Self> {
        let file = open_file(settings, None).map_err(|(error, _)| error)?;
        let out = Out {
            form: Form::new(settings),
            repeats: Repeats::new(settings.repeat_limit, settings.repeat_interval),
            file,
            lost: 0,
        };
        Ok(Self { detail: AtomicU8::new(detail(settings)), out: Mutex::new(out) })
    }

    pub(super) fn apply(&self, settings: &LogSettings) -> io::Result<()> {
        let mut out = self.out();
        let old = out.file.take();
        match open_file(settings, old) {
            Ok(file) => out.file = file,
            Err((error, old)) => {
                out.file = old;
                return Err(error);
            }
        }
        out.form = Form::new(settings);
        out.repeats = Repeats::new(settings.repeat_limit, settings.repeat_interval);
        self.detail.store(detail(settings), Ordering::Relaxed);
        Ok(())
    }

    pub(super) fn reopen(&self) -> io::Result<()> {
        self.out().file.as_mut().map_or(Ok(()), LogFile::reopen)
    }

    /// Whether events of this kind are told.
    fn tells(&self, metadata: &Metadata<'_>) -> bool {
        let detail = self.detail.load(Ordering::Relaxed);
        let ours = metadata.target().starts_with(OURS);
        match *metadata.level() {
            Level::ERROR | Level::WARN => true,
            Level::INFO => ours,
            Level::DEBUG => ours && detail & DEBUG != 0,
            Level::TRACE => ours && detail & TRACE != 0,
        }
    }

    pub(super) fn tell(&self, metadata: &Metadata<'_>, told: &Told) {
        self.out().tell(tag(metadata), told, *metadata.level() <= Level::WARN);
    }

    /// A panic of a thread that was writing leaves nothing half-done that matters.
    fn out(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Out {
    fn tell(&mut self, tag: &str, told: &Told, limited: bool) {
        let now = Timestamp::now();
        let line = self.form.line(now, tag, told);
        if limited {
            // The fields are part of what a line says, its time is not.
            let said = if told.fields.is_empty() { told.message.clone() } else { format!("{told:?}") };
            match self.repeats.judge(&said, Instant::now()) {
                Verdict::Hold => return,
                Verdict::Write { held_back: 0 } => {}
                Verdict::Write { held_back } => {
                    self.note(now, tag, format!("{held_back} more lines like the next were held back"));
                }
            }
        }
        self.write(now, &line);
    }

    fn note(&mut self, now: Timestamp, tag: &str, message: String) {
        let line = self.form.line(now, tag, &Told { message, fields: Vec::new() });
        self.write(now, &line);
    }

    fn write(&mut self, now: Timestamp, line: &str) {
        let rotated = match &mut self.file {
            Some(file) => file.write(line.as_bytes()),
            None => io::stderr().write_all(line.as_bytes()).map(|()| None),
        };
        match rotated {
            // There is nobody to tell, until writing works again.
            Err(_) => self.lost += 1,
            Ok(rotated) => {
                let lost = std::mem::take(&mut self.lost);
                if lost > 0 {
                    self.note(now, "WRN", format!("{lost} log lines could not be written"));
                }
                match rotated {
                    None => {}
                    Some(Ok(aside)) => {
                        self.note(now, "INF", format!("Rotated log, backup saved as \"{}\"", aside.display()));
                    }
                    Some(Err(error)) => self.note(now, "ERR", format!("The log could not be rotated: {error}")),
                }
            }
        }
    }
}

fn detail(settings: &LogSettings) -> u8 {
    let debug = if settings.debug { DEBUG } else { NORMAL };
    let trace = if settings.traces() { TRACE } else { NORMAL };
    debug | trace
}

/// The file that the settings ask for: `old`, if it is the same.
fn open_file(settings: &LogSettings, old: Option<LogFile>) -> Result<Option<LogFile>, (io::Error, Option<LogFile>)> {
    let Some(path) = &settings.file else { return Ok(None) };
    match old {
        Some(old) if old.is(path, settings.size_limit, settings.max_files) => Ok(Some(old)),
        old => match LogFile::open(path, settings.size_limit, settings.max_files) {
            Ok(file) => Ok(Some(file)),
            Err(error) => Err((error, old)),
        },
    }
}

/// Hears the events of `tracing` and hands them to the sink.
pub(super) struct Teller(pub(super) Arc<Sink>);

impl<S: Subscriber> Layer<S> for Teller {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // Asked again after each change, so that what is not told costs nothing.
        if self.0.tells(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        self.0.tells(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(match self.0.detail.load(Ordering::Relaxed) {
            TRACE | DEBUG_AND_TRACE => LevelFilter::TRACE,
            DEBUG => LevelFilter::DEBUG,
            _ => LevelFilter::INFO,
        })
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut told = Told::default();
        event.record(&mut told);
        self.0.tell(event.metadata(), &told);
    }
}
