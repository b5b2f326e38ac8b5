//! What can be wrong with settings, as told to whoever wrote them.

use super::conf::ConfError;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why there are no settings. Its text has one line per mistake, with file, line and column where there are any.
#[derive(Debug)]
pub enum SettingsError {
    /// A file could not be read.
    Open(PathBuf, io::Error),
    /// A `.conf` file breaks its grammar.
    Conf(Box<ConfError>),
    /// Keys or values are wrong, each told with its place.
    Mistakes(Vec<Mistake>),
}

/// One wrong key or value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// `file:line:column`, an environment variable, or a flag; empty where settings do not fit together.
    pub place: String,
    /// What is wrong and what was expected.
    pub text: String,
}

impl Mistake {
    /// A mistake at `place`.
    pub fn new(place: impl fmt::Display, text: impl Into<String>) -> Self {
        Self { place: place.to_string(), text: text.into() }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.text)
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(path, error) => write!(f, "open {}: {}", path.display(), os_text(error)),
            Self::Conf(error) => error.fmt(f),
            Self::Mistakes(mistakes) => {
                for (i, mistake) in mistakes.iter().enumerate() {
                    if i > 0 {
                        f.write_str("\n")?;
                    }
                    mistake.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for SettingsError {}

impl From<ConfError> for SettingsError {
    fn from(error: ConfError) -> Self {
        match error {
            ConfError::Open { path, source } => Self::Open(path, source),
            error => Self::Conf(Box::new(error)),
        }
    }
}

impl From<Mistake> for SettingsError {
    fn from(mistake: Mistake) -> Self {
        Self::Mistakes(vec![mistake])
    }
}

/// The system's own words for an error, in lower case and without its number, as Go prints them.
pub fn os_text(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

/// The one of `known` that `word` was probably meant to be: few letters wrong, for its length.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    known.into_iter().map(|k| (distance(&word, k), k)).filter(|(d, _)| *d <= allowed).min().map(|(_, k)| k)
}

/// Letters to insert, drop, change or swap with their neighbour to get from `a` to `b`.
fn distance(a: &str, b: &str) -> usize {
    const TOO_LONG: usize = 64;
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(TOO_LONG).collect(), b.chars().take(TOO_LONG).collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (i, 0) => i,
                (0, j) => j,
                _ => {
                    let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let mut best = change.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        best = best.min(rows[i - 2][j - 2] + 1);
                    }
                    best
                }
            };
        }
    }
    rows[a.len()][b.len()]
}
