use crate::actor::{Mailbox, Outlet, Receive};
use crate::jetstream::AccountLimits;
use crate::jetstream::Limits;
use crate::jetstream::error::{ApiError, ErrCode};
use crate::jetstream::messages::{ApiCall, Describe, ServerShutdown, UpdateStream, Usage};
use crate::jetstream::stream::StreamConfig;
use crate::jetstream::stream::config::Storage;
use crate::store::{RecoveredStream, StreamId};
use crate::subject::collides;
use std::collections::{BTreeMap, HashMap};

/// A Stream as JetStream reaches it.
#[derive(Clone, Debug)]
pub struct StreamPort {
    pub call: Outlet<ApiCall>,
    pub update: Outlet<UpdateStream>,
    pub describe: Outlet<Describe>,
    pub shutdown: Outlet<ServerShutdown>,
}

impl StreamPort {
    pub fn to<S>(stream: &Mailbox<S>) -> Self
    where
        S: Receive<ApiCall> + Receive<UpdateStream> + Receive<Describe> + Receive<ServerShutdown>,
    {
        let (call, update) = (stream.outlet(), stream.outlet());
        Self { call, update, describe: stream.outlet(), shutdown: stream.outlet() }
    }
}

/// Whether a stream can be asked.
pub enum Standing {
    Open(StreamPort),
    /// Not served: it was found in the store and needs what this server does not know (kept, so that it can be
    /// deleted), or its actor has panicked.
    Offline {
        reason: String,
        recovered: Option<Box<RecoveredStream>>,
    },
}

/// A stream of the account.
pub struct Entry {
    pub id: StreamId,
    /// Checked, with all defaults. After an update it is the new one, though the stream may still refuse it.
    pub config: StreamConfig,
    pub standing: Standing,
    pub bytes: u64,
    pub messages: u64,
    /// Hidden ones included.
    pub consumers: usize,
    /// Calls forwarded and not yet answered.
    pub underway: usize,
    /// How often it began anew after a panic.
    pub revivals: u32,
}

/// The streams of an account, by name.
#[derive(Default)]
pub struct Catalogue {
    streams: BTreeMap<String, Entry>,
    names: HashMap<StreamId, String>,
}

/// Bytes per kind of storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub memory: u64,
    pub file: u64,
}

impl Entry {
    pub fn new(id: StreamId, config: StreamConfig, standing: Standing) -> Self {
        Self { id, config, standing, bytes: 0, messages: 0, consumers: 0, underway: 0, revivals: 0 }
    }
}

impl Catalogue {
    /// Those that can be told something.
    pub fn ports(&self) -> impl Iterator<Item = &StreamPort> {
        self.streams.values().filter_map(|entry| match &entry.standing {
            Standing::Open(port) => Some(port),
            Standing::Offline { .. } => None,
        })
    }

    pub fn len(&self) -> usize {
        self.streams.len()
    }

    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.streams.get(name)
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut Entry> {
        self.streams.get_mut(name)
    }

    pub fn by_id(&mut self, id: StreamId) -> Option<&mut Entry> {
        self.streams.get_mut(self.names.get(&id)?)
    }

    /// In the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.streams.values()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.streams.values_mut()
    }

    pub fn insert(&mut self, entry: Entry) {
        let name = entry.config.name.clone();
        self.names.insert(entry.id, name.clone());
        if let Some(before) = self.streams.insert(name, entry) {
            self.names.remove(&before.id);
        }
    }

    pub fn remove(&mut self, name: &str) -> Option<Entry> {
        let entry = self.streams.remove(name)?;
        self.names.remove(&entry.id);
        Some(entry)
    }

    pub fn remove_id(&mut self, id: StreamId) -> Option<Entry> {
        self.streams.remove(&self.names.remove(&id)?)
    }

    pub fn record(&mut self, usage: &Usage) {
        if let Some(entry) = self.by_id(usage.stream) {
            (entry.bytes, entry.messages, entry.consumers) = (usage.bytes, usage.messages, usage.consumers);
        }
    }

    /// Streams that have a subject which collides with the filter; all without one.
    pub fn matching<'a>(&'a self, filter: &'a str) -> impl Iterator<Item = &'a Entry> {
        let wanted = move |subject: &String| collides(subject.as_bytes(), filter.as_bytes());
        self.iter().filter(move |entry| filter.is_empty() || entry.config.subjects.iter().any(wanted))
    }

    /// Whether a subject of this configuration belongs to another stream.
    pub fn is_taken(&self, config: &StreamConfig) -> bool {
        let others = self.iter().filter(|entry| entry.config.name != config.name);
        let mut taken = others.flat_map(|entry| &entry.config.subjects);
        taken.any(|theirs| config.subjects.iter().any(|own| collides(own.as_bytes(), theirs.as_bytes())))
    }

    /// Bytes stored.
    pub fn used(&self) -> Sums {
        self.sums(|entry| entry.bytes)
    }

    /// Bytes that streams may fill, as their `max_bytes` say.
    pub fn reserved(&self) -> Sums {
        self.sums(|entry| u64::try_from(entry.config.max_bytes).unwrap_or(0))
    }

    pub fn consumers(&self) -> usize {
        self.iter().map(|entry| entry.consumers).sum()
    }

    fn sums(&self, bytes: impl Fn(&Entry) -> u64) -> Sums {
        self.iter().fold(Sums::default(), |mut sums, entry| {
            let sum = match entry.config.storage {
                Storage::File => &mut sums.file,
                Storage::Memory => &mut sums.memory,
            };
            *sum = sum.saturating_add(bytes(entry));
            sums
        })
    }

    /// Whether there is room for a stream of this configuration, new or in the place of the one of its name (streams
    /// reference, section 9). Only an increase of `max_bytes` needs room.
    pub fn has_room(&self, config: &StreamConfig, limits: &Limits, account: &AccountLimits) -> Result<(), ApiError> {
        // A stream without a limit counts one byte: a storage that is switched off has not even that.
        let wanted = i128::from(config.max_bytes.max(1));
        let before = self.get(&config.name).filter(|entry| entry.config.storage == config.storage);
        let before = before.map_or(0, |entry| i128::from(entry.config.max_bytes.max(0)));
        if before > 0 && wanted <= before {
            return Ok(());
        }
        let reserved = self.reserved();
        let (reserved, caps, refusal) = match config.storage {
            Storage::File => (reserved.file, [account.max_storage, limits.max_file], ErrCode::StorageResourcesExceeded),
            Storage::Memory => {
                (reserved.memory, [account.max_memory, limits.max_memory], ErrCode::MemoryResourcesExceeded)
            }
        };
        let total = i128::from(reserved) - before + wanted;
        match caps.iter().any(|cap| *cap >= 0 && total > i128::from(*cap)) {
            true => Err(refusal.api()),
            false => Ok(()),
        }
    }
}
