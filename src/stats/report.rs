use super::registry::Registry;
use crate::actor::{Measures, Snapshot};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The version of the reports' fields.
pub const VERSION: u32 = 1;

/// One actor, as published on `<prefix>.<kind>.<name>`.
#[derive(Clone, Debug, Serialize)]
pub struct ActorReport {
    pub v: u32,
    pub server: String,
    pub kind: &'static str,
    pub name: String,
    /// Depth, counts and times.
    #[serde(flatten)]
    pub measures: Measures,
    /// How long the probe waited in the mailbox, in nanoseconds: what a message would wait.
    pub lag_ns: u64,
    /// How often an actor of this kind and name ended by a panic and was begun again.
    pub restarts: u64,
    /// The actor's own numbers.
    pub state: Value,
}

impl ActorReport {
    pub fn new(server: &str, snapshot: Snapshot, lag_ns: u64, registry: &Registry) -> Self {
        let name = super::subjects::token(&snapshot.name);
        let panics = registry.panics(snapshot.kind, &name);
        let mut measures = snapshot.measures;
        if let (None, Some((_, text))) = (&measures.last_panic, panics) {
            measures.last_panic = Some(text.clone());
        }
        Self {
            v: VERSION,
            server: server.to_string(),
            kind: snapshot.kind,
            restarts: panics.map_or(0, |p| p.0),
            name,
            measures,
            lag_ns,
            state: snapshot.state,
        }
    }
}

/// All actors of a kind together.
#[derive(Clone, Debug, Default, Serialize, PartialEq)]
pub struct KindSummary {
    pub actors: u64,
    /// Did not answer the probe within the interval.
    pub silent: u64,
    pub depth: u64,
    /// The deepest mailbox of the kind, and whose it is.
    pub depth_max: u64,
    pub deepest: String,
    pub handled: u64,
    pub busy_ns: u64,
    /// The longest that one message took, and whose it was.
    pub max_ns: u64,
    pub slowest: String,
    /// The longest that a probe waited in a mailbox.
    pub lag_max_ns: u64,
    pub panics: u64,
    pub restarts: u64,
}

/// The roll-up, as published on `<prefix>.SUMMARY`.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub v: u32,
    pub server: String,
    pub actors: u64,
    pub kinds: BTreeMap<&'static str, KindSummary>,
}

impl Summary {
    pub fn new(server: &str) -> Self {
        Self { v: VERSION, server: server.to_string(), actors: 0, kinds: BTreeMap::new() }
    }

    pub fn add(&mut self, report: &ActorReport) {
        let kind = self.kinds.entry(report.kind).or_default();
        let measures = &report.measures;
        self.actors += 1;
        kind.actors += 1;
        kind.depth += measures.depth;
        if measures.depth_max > kind.depth_max {
            (kind.depth_max, kind.deepest) = (measures.depth_max, report.name.clone());
        }
        kind.handled += measures.handled;
        kind.busy_ns += measures.busy_ns;
        if measures.max_ns > kind.max_ns {
            (kind.max_ns, kind.slowest) = (measures.max_ns, report.name.clone());
        }
        kind.lag_max_ns = kind.lag_max_ns.max(report.lag_ns);
        kind.panics += measures.panics;
        kind.restarts += report.restarts;
    }

    pub fn add_silent(&mut self, kind: &'static str) {
        let kind = self.kinds.entry(kind).or_default();
        self.actors += 1;
        kind.actors += 1;
        kind.silent += 1;
    }
}
