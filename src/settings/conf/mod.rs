//! The configuration language of nats-server: its grammar, and what its keys mean for our [`Settings`].
//!
//! [`parser`] turns text into [`Map`]s of values with positions, knowing no key; `keys` turns those into a
//! [`Layer`] of settings. Reference sections 8.3 and 9.
//!
//! [`Settings`]: super::Settings

mod cursor;
mod error;
mod keys;
pub mod parser;
mod scalar;
#[cfg(test)]
mod tests;
mod value;

pub use error::ConfError;
pub use value::{Entry, Item, Map, Position, Value};

use super::error::{Mistake, SettingsError};
use super::layer::Layer;
use std::path::Path;

/// A `.conf` file, read.
#[derive(Clone, Debug)]
pub struct Document {
    /// The settings it makes.
    pub layer: Layer,
    /// What is odd about it, but no reason not to start.
    pub warnings: Vec<Mistake>,
    /// `sha256:...` over what it says.
    pub digest: String,
}

/// Reads a file, its includes and the variables it takes from the process environment.
pub fn read(path: &Path) -> Result<Document, SettingsError> {
    let map = parser::parse_file(path, &|name| std::env::var(name).ok())?;
    understand(&map, path)
}

/// Takes the meaning of a parsed file.
pub fn understand(map: &Map, path: &Path) -> Result<Document, SettingsError> {
    let mut reading = keys::Reading::default();
    reading.top(map);
    if map.is_empty() {
        reading.warnings.push(Mistake::new(path.display(), "config has no values or is empty"));
    }
    if !reading.errors.is_empty() {
        return Err(SettingsError::Mistakes(reading.errors));
    }
    Ok(Document { layer: reading.layer, warnings: reading.warnings, digest: map.digest() })
}
