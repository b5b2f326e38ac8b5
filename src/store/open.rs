use super::committer::{Committer, CommitterOptions};
use super::journal::{Journal, JournalOptions, load, scan};
use super::recovery::recover_all;
use super::sled::archive::Introduce;
use super::sled::sealer::FoundDamaged;
use super::sled::{Archive, Library, Replay, Sealer};
use super::{OpenError, Options, Recovery, Store, SyncMode};
use crate::actor::{House, launch};
use actix_rt::Arbiter;
use fs2::FileExt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

/// The version of the on-disk format that is written; `docs/storage.md`.
pub const FORMAT: u32 = 1;

const FORMAT_FILE: &str = "FORMAT";
const LOCK_FILE: &str = "LOCK";

/// Opens a store, or makes a new one: reads back what is there, and starts the actors, each on a thread of its own.
///
/// Blocks. Called within an actix system. Damage that can be worked around is logged and told in the result.
pub fn open(options: &Options, house: &House) -> Result<(Store, Recovery), OpenError> {
    let dir = options.dir.clone();
    let lock = take_directory(&dir)?;
    open_locked(options, house, lock).map_err(|error| OpenError::Io { dir, error })
}

fn open_locked(options: &Options, house: &House, lock: File) -> io::Result<(Store, Recovery)> {
    let library = Library::load(&options.dir)?;
    let sealed = library.model.position;
    let journal_dir = options.dir.join("journal");
    let found = load::load(&journal_dir)?;
    if found.is_new && sealed > 0 {
        tracing::error!("store: the journal is gone, what was in no volume yet is lost");
    }
    let mut ring = found.ring;
    let mut replay = Replay::new(library.model.clone());
    let slots = load::read_slots(&journal_dir, &ring, sealed);
    let scanned = scan::scan(&slots, ring.key, sealed, |event| replay.take(event));
    drop(slots);
    if scanned.torn > 0 {
        tracing::warn!("journal: {} frames of a commit cut short at position {}", scanned.torn, scanned.end);
    }
    if let Some(last) = ring.slots.last_mut() {
        last.end.get_or_insert(scanned.end.max(last.base));
    }
    ring.next_base = ring.next_base.max(sealed).max(scanned.end);
    let (recovery, damaged) = recover_all(replay, &library);
    let journal_options =
        JournalOptions { dir: journal_dir, first_slot: options.first_slot_bytes, slot: options.slot_bytes };
    let journal = Journal::begin(journal_options, ring, found.ring_file, found.free, found.next_id);
    if let SyncMode::Interval(every) = options.sync {
        tracing::warn!("store: synced every {every:?} only: a power cut may cost what was acknowledged since");
    }
    let held = recovery.streams.iter().map(|stream| stream.hot.0.bytes() as u64).sum();
    Ok((start(options, house, (journal, sealed, held, lock), library, damaged), recovery))
}

/// Starts the three actors, each on a thread of its own: all of them block.
fn start(
    options: &Options,
    house: &House,
    (journal, sealed, held, lock): (Journal, u64, u64, File),
    library: Library,
    damaged: Vec<FoundDamaged>,
) -> Store {
    let own_thread = || Arbiter::new().handle();
    let archive = Archive::new(options.dir.clone(), &library.model);
    let archive = launch(&own_thread(), house, move |_| archive);
    let reader = archive.clone();
    let sealer = launch(&own_thread(), house, move |own| Sealer::new(library, reader, own.outlet(), damaged));
    let committer_options =
        CommitterOptions { sync: options.sync, hot_bytes: options.hot_bytes, seal_after: options.seal_after };
    let volumes = sealer.clone();
    let committer = launch(&own_thread(), house, move |own| {
        Committer::new(journal, committer_options, sealed, held, volumes, own, lock)
    });
    archive.send(Introduce { sealer: sealer.outlet(), committer: committer.outlet() });
    Store { committer, archive: archive.outlet(), sealer: sealer.outlet() }
}

/// Makes sure that the directory is ours, and ours alone.
fn take_directory(dir: &Path) -> Result<File, OpenError> {
    let failed = |error| OpenError::Io { dir: dir.to_path_buf(), error };
    std::fs::create_dir_all(dir).map_err(failed)?;
    let ours = [FORMAT_FILE, LOCK_FILE, "journal", "volumes", "meta", "pointer", "lost+found"];
    let mut known = 0;
    let mut foreign = None;
    for file in std::fs::read_dir(dir).map_err(failed)? {
        let name = file.map_err(failed)?.file_name().to_string_lossy().into_owned();
        match ours.contains(&name.as_str()) {
            true => known += 1,
            false => foreign = Some(name),
        }
    }
    if let Some(file) = foreign.filter(|_| known == 0) {
        return Err(OpenError::Foreign { dir: dir.to_path_buf(), file });
    }
    let lock_path = dir.join(LOCK_FILE);
    let lock =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(lock_path).map_err(failed)?;
    lock.try_lock_exclusive().map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => OpenError::InUse { dir: dir.to_path_buf() },
        _ => failed(error),
    })?;
    check_format(dir)?;
    Ok(lock)
}

/// The format file is `postroom store <version>`.
fn check_format(dir: &Path) -> Result<(), OpenError> {
    let failed = |error| OpenError::Io { dir: dir.to_path_buf(), error };
    let path = dir.join(FORMAT_FILE);
    let mut text = String::new();
    match File::open(&path).and_then(|file| file.take(256).read_to_string(&mut text)) {
        Ok(_) => {}
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => {}
        Err(error) => return Err(failed(error)),
    }
    let found = text.trim().strip_prefix("postroom store ").and_then(|version| version.parse().ok());
    match found {
        Some(FORMAT) => Ok(()),
        Some(found) if found > FORMAT => Err(OpenError::Newer { dir: dir.to_path_buf(), found, known: FORMAT }),
        _ => {
            if dir.join("journal").exists() {
                tracing::warn!(
                    "store: the file {FORMAT_FILE} is lost or damaged, taking the store for format {FORMAT}"
                );
            }
            let mut file = File::create(&path).map_err(failed)?;
            file.write_all(format!("postroom store {FORMAT}\n").as_bytes()).map_err(failed)?;
            // A power cut later would leave an empty file, and a complaint.
            file.sync_all().and_then(|()| File::open(dir)?.sync_all()).map_err(failed)
        }
    }
}
