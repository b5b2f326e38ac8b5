//! `[stats]`: what the house tells about its actors.

use super::super::units;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// `[stats]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StatsSettings {
    /// Whether actors are asked and their answers published.
    pub enabled: bool,
    /// Where to: a subject that ends in `>`, which `<kind>.<name>` takes the place of.
    pub subject: String,
    /// How often.
    #[serde(with = "units::duration")]
    pub interval: Duration,
}

impl Default for StatsSettings {
    fn default() -> Self {
        Self { enabled: true, subject: "postroom.stats.>".into(), interval: Duration::from_secs(1) }
    }
}
