//! What one source says about some settings, by path.

use config::{ConfigError, Map, Source, Value, ValueKind};

/// Some settings, each by its path (`server.port`), as one source gave them.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    values: Vec<(String, Value)>,
}

impl Layer {
    /// Sets `path`; `origin` says where that was written, for errors about the value.
    pub fn set(&mut self, path: &str, value: impl Into<ValueKind>, origin: &str) {
        self.values.retain(|(p, _)| p != path);
        self.values.push((path.into(), Value::new(Some(&origin.to_string()), value)));
    }

    /// Where the value of `path` was written, if it is set here.
    pub fn origin(&self, path: &str) -> Option<&str> {
        self.values.iter().find(|(p, _)| p == path).and_then(|(_, value)| value.origin())
    }

    /// Whether `path` is set here.
    pub fn has(&self, path: &str) -> bool {
        self.values.iter().any(|(p, _)| p == path)
    }
}

impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, Value>, ConfigError> {
        Ok(self.values.iter().cloned().collect())
    }
}
