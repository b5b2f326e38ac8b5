//! Where settings come from, and how the layers are laid over each other.

use super::error::{Mistake, SettingsError};
use super::layer::Layer;
use super::{Settings, check, conf, environment, toml_file};
use config::{Config, ConfigError, File, FileFormat};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// What the settings were read from: kept, so that they can be read again (SIGHUP).
#[derive(Clone, Debug, Default)]
pub struct ConfigSource {
    file: Option<PathBuf>,
    flags: Layer,
    manner: Manner,
    digest: Option<String>,
}

/// How the program was started, which decides one default: see [`Manner::Reference`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// By itself, or with our own file: JetStream is on unless it is switched off.
    #[default]
    Own,
    /// As nats-server is: by its flags or with its kind of file. JetStream is off unless it is asked for.
    Reference,
}

/// Settings as read, with what else the reading found out.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The settings, checked.
    pub settings: Settings,
    /// What is odd, but no reason not to start: to be told on standard error.
    pub warnings: Vec<Mistake>,
    /// Where to read them again.
    pub source: ConfigSource,
}

impl ConfigSource {
    /// A file (TOML if its name ends in `.toml`, else nats-server's language) and flags over it, either of which may
    /// be missing.
    pub fn new(file: Option<PathBuf>, flags: Layer, manner: Manner) -> Self {
        Self { file, flags, manner, digest: None }
    }

    /// The file, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// `sha256:...` of what the file said when it was last read.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// How the program was started.
    pub fn manner(&self) -> Manner {
        self.manner
    }

    /// Reads everything: defaults, file, environment, flags.
    pub fn load(&self) -> Result<Loaded, SettingsError> {
        let mut source = self.clone();
        let mut warnings = Vec::new();
        let defaults = Settings::default();
        let mut builder = Config::builder().add_source(Config::try_from(&defaults).map_err(internal)?);
        let is_toml = self.file.as_deref().is_some_and(is_toml);
        if self.manner == Manner::Reference && !is_toml {
            let mut off = Layer::default();
            off.set("jetstream.enabled", false, "as nats-server starts");
            // A subscriber to `>` must not see more than it would there.
            off.set("stats.subject", "", "as nats-server starts");
            builder = builder.add_source(off);
        }
        match &self.file {
            Some(path) if is_toml => {
                let text = std::fs::read_to_string(path).map_err(|e| SettingsError::Open(path.clone(), e))?;
                toml_file::check(&text, path)?;
                source.digest = Some(digest(&text));
                builder = builder.add_source(File::from_str(&text, FileFormat::Toml));
            }
            Some(path) => {
                let document = conf::read(path)?;
                source.digest = Some(document.digest);
                warnings.extend(document.warnings);
                builder = builder.add_source(document.layer);
            }
            None => {}
        }
        let variables = std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)));
        let variables = environment::layer(variables)?;
        builder = builder.add_source(variables.clone()).add_source(self.flags.clone());
        let origin = |key: &str| self.flags.origin(key).or_else(|| variables.origin(key)).map(String::from);
        let read = builder.build().and_then(Config::try_deserialize);
        let mut settings: Settings = read.map_err(|error| mistake(error, origin))?;
        settings.server.tags.iter_mut().for_each(|tag| *tag = tag.to_lowercase());
        let mistakes = check::mistakes(&settings);
        if !mistakes.is_empty() {
            return Err(SettingsError::Mistakes(mistakes));
        }
        warnings.extend(check::warnings(&settings));
        Ok(Loaded { settings, warnings, source })
    }
}

/// Whether a file of this name is ours.
pub fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("toml"))
}

/// Over what the file says rather than its bytes: comments and the order of keys do not count.
fn digest(text: &str) -> String {
    let parsed = text.parse::<toml::Table>().map(|table| table.to_string()).unwrap_or_default();
    let hex: String = Sha256::digest(parsed.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

fn internal(error: ConfigError) -> SettingsError {
    Mistake::new("", format!("the defaults do not load: {error}")).into()
}

/// A value that the layers agreed on but the settings do not take; `origin` tells where a key's value was written.
fn mistake(error: ConfigError, origin: impl Fn(&str) -> Option<String>) -> SettingsError {
    let (place, key, text) = match error {
        ConfigError::Type { origin, unexpected, expected, key } => {
            (origin, key, format!("expected {expected}, found {unexpected}"))
        }
        ConfigError::At { error, origin, key } => (origin, key, error.to_string()),
        error => (None, None, error.to_string()),
    };
    let Some(key) = key else { return Mistake::new(place.unwrap_or_default(), text).into() };
    let place = place.or_else(|| origin(&key)).unwrap_or_default();
    Mistake::new(place, format!("{key}: {text}")).into()
}
