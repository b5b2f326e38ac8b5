use super::subjects::token;
use crate::actor::{Hello, Probe};
use actix::prelude::Recipient;
use std::collections::{BTreeMap, HashMap};

/// The actors that live, in the order they came, and how often each had to begin again.
#[derive(Default)]
pub struct Registry {
    actors: BTreeMap<u64, Known>,
    next: u64,
    panics: HashMap<(&'static str, String), (u64, String)>,
}

/// An actor that can be probed.
pub struct Known {
    pub kind: &'static str,
    /// Its name as a subject token.
    pub name: String,
    pub probe: Recipient<Probe>,
}

/// Different actors whose panics are remembered; beyond, new ones are only logged.
const MAX_REMEMBERED_PANICS: usize = 10_000;

impl Registry {
    pub fn add(&mut self, hello: Hello) {
        let name = token(&hello.name);
        self.actors.insert(self.next, Known { kind: hello.kind, name, probe: hello.probe });
        self.next += 1;
    }

    /// Forgets those that have ended.
    pub fn prune(&mut self) {
        self.actors.retain(|_, known| known.probe.connected());
    }

    pub fn panicked(&mut self, kind: &'static str, name: &str, text: String) {
        let key = (kind, token(name));
        if self.panics.len() >= MAX_REMEMBERED_PANICS && !self.panics.contains_key(&key) {
            return;
        }
        let entry = self.panics.entry(key).or_default();
        entry.0 += 1;
        entry.1 = text;
    }

    /// How often an actor of this kind and name ended by a panic, and the text of the last.
    pub fn panics(&self, kind: &'static str, name: &str) -> Option<&(u64, String)> {
        self.panics.get(&(kind, name.to_string()))
    }

    pub fn len(&self) -> usize {
        self.actors.len()
    }

    /// At most `max` actors from the number `from` on.
    pub fn slice(&self, from: u64, max: usize) -> impl Iterator<Item = (u64, &Known)> {
        self.actors.range(from..).take(max).map(|(&number, known)| (number, known))
    }

    pub fn get(&self, number: u64) -> Option<&Known> {
        self.actors.get(&number)
    }
}
