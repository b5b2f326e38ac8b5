//! A sled database as this store uses it: written once, in one go, closed, opened again, read back, then only read.
//!
//! Beside the database lies a guard: a copy of its small files (settings, metadata) and the sizes of the others. Before
//! each opening the copies are put back, so that neither a damaged metadata log (which can make reads hang) nor what
//! an earlier opening left behind is ever seen.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Few values per leaf: values are large, and a damaged leaf takes all of its values with it.
const FANOUT: usize = 8;

/// zstd without looking for repetitions: what is worth compressing is compressed before.
const ZSTD_LEVEL: i32 = -1000;

const CACHE_BYTES: usize = 8 << 20;

type Db = sled::Db<FANOUT>;

/// The name of a tree, and its keys and values.
pub type Tree = (Vec<u8>, Vec<(Vec<u8>, Bytes)>);

/// What a vault is made of.
pub type Contents = Vec<Tree>;

/// What a vault has to hold: of each value its tree, key, length and crc32c.
type Receipts = Vec<(Vec<u8>, Vec<(Vec<u8>, usize, u32)>)>;

/// An open database, for reading.
pub struct Vault {
    dir: PathBuf,
    db: Option<Db>,
    trees: BTreeMap<Vec<u8>, sled::Tree<FANOUT>>,
}

#[derive(Serialize, Deserialize)]
struct Guard {
    /// Path within the database, content.
    copies: Vec<(String, Bytes)>,
    sizes: Vec<(String, u64)>,
}

/// The two copies of a guard.
const GUARDS: [&str; 2] = ["guard-a", "guard-b"];

/// The folder of the database within that of the vault.
pub const DATABASE: &str = "sled";

/// Writes a vault and makes sure that it can be read. Leaves nothing behind if it cannot be written.
///
/// The values leave memory as they go into the database.
pub fn write(dir: &Path, contents: Contents) -> io::Result<()> {
    let written = write_and_verify(dir, contents);
    if written.is_err() {
        fs::remove_dir_all(dir).ok();
    }
    written
}

fn write_and_verify(dir: &Path, contents: Contents) -> io::Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    let database = dir.join(DATABASE);
    fs::create_dir_all(dir)?;
    let receipts = fill(open_db(&database)?, contents)?;
    let files = files_below(&database)?;
    for file in &files {
        File::open(file)?.sync_all()?;
    }
    write_guard(dir, &database, &files)?;
    for folder in [database.join("slabs"), database.join("metadata"), database, dir.to_path_buf()] {
        File::open(folder)?.sync_all()?;
    }
    if let Some(parent) = dir.parent() {
        File::open(parent)?.sync_all()?;
    }
    let mut vault = Vault::open(dir)?;
    for (tree, values) in &receipts {
        for (key, length, crc) in values {
            let found = vault.get(tree, key)?;
            if found.is_none_or(|value| value.len() != *length || crc32c::crc32c(&value) != *crc) {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "a fresh volume does not hold what was written",
                ));
            }
        }
    }
    Ok(())
}

fn fill(db: Db, contents: Contents) -> io::Result<Receipts> {
    let filled = (|| {
        let mut receipts = Receipts::with_capacity(contents.len());
        for (name, values) in contents {
            let tree = db.open_tree(&name)?;
            let mut put = Vec::with_capacity(values.len());
            for (key, value) in values {
                tree.insert(&key, &value[..])?;
                put.push((key, value.len(), crc32c::crc32c(&value)));
            }
            receipts.push((name, put));
        }
        db.flush()?;
        Ok(receipts)
    })();
    if filled.is_err() {
        // Dropping a database that could not flush can hang for ever; its memory is the lesser harm.
        std::mem::forget(db);
    }
    filled
}

fn open_db(path: &Path) -> io::Result<Db> {
    // No flusher of its own: it aborts the process on an error.
    let config = sled::Config::new().path(path).flush_every_ms(None).cache_capacity_bytes(CACHE_BYTES);
    config.zstd_compression_level(ZSTD_LEVEL).open()
}

fn files_below(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => files.extend(files_below(&entry.path())?),
            false => files.push(entry.path()),
        }
    }
    Ok(files)
}

fn write_guard(dir: &Path, database: &Path, files: &[PathBuf]) -> io::Result<()> {
    let mut guard = Guard { copies: Vec::new(), sizes: Vec::new() };
    for file in files {
        let name = file.strip_prefix(database).map_err(io::Error::other)?.to_string_lossy().into_owned();
        match name.starts_with("slabs/") {
            true => guard.sizes.push((name, fs::metadata(file)?.len())),
            false => guard.copies.push((name, fs::read(file)?.into())),
        }
    }
    let body = rmp_serde::to_vec(&guard).map_err(io::Error::other)?;
    for name in GUARDS {
        let mut file = File::create(dir.join(name))?;
        file.write_all(&crc32c::crc32c(&body).to_le_bytes())?;
        file.write_all(&body)?;
        file.sync_all()?;
    }
    Ok(())
}

fn read_guard(dir: &Path) -> io::Result<Guard> {
    for name in GUARDS {
        let Ok(bytes) = fs::read(dir.join(name)) else { continue };
        let Some((crc, body)) = bytes.split_first_chunk::<4>() else { continue };
        if crc32c::crc32c(body) == u32::from_le_bytes(*crc) {
            return rmp_serde::from_slice(body).map_err(io::Error::other);
        }
        tracing::warn!("store: {} is damaged (checksum mismatch), using its copy", dir.join(name).display());
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "both guards are damaged or gone"))
}

impl Vault {
    /// Opens a vault for reading. Blocks, and costs some 80 file descriptors.
    pub fn open(dir: &Path) -> io::Result<Self> {
        let guard = read_guard(dir)?;
        let database = dir.join(DATABASE);
        let metadata = database.join("metadata");
        if metadata.exists() {
            fs::remove_dir_all(&metadata)?;
        }
        fs::create_dir_all(&metadata)?;
        for (name, content) in &guard.copies {
            fs::write(database.join(name), content)?;
        }
        for (name, size) in &guard.sizes {
            let found = fs::metadata(database.join(name)).map_or(0, |metadata| metadata.len());
            if found < *size {
                let file = database.join(name);
                tracing::error!("store: {} is damaged: {found} of {size} bytes are left", file.display());
                // sled dumps a stack when it reads behind the end; zeroes fail its checksum as well.
                File::options().create(true).write(true).truncate(false).open(file)?.set_len(*size)?;
            }
        }
        Ok(Self { dir: dir.to_path_buf(), db: Some(open_db(&database)?), trees: BTreeMap::new() })
    }

    /// A value. After an error, the damaged value stays unreadable, and the others can be read again.
    pub fn get(&mut self, tree: &[u8], key: &[u8]) -> io::Result<Option<Bytes>> {
        let got = self.try_get(tree, key);
        if got.is_err() {
            // An error poisons an open database.
            self.trees.clear();
            self.db = None;
            self.db = Some(open_db(&self.dir.join(DATABASE))?);
        }
        got
    }

    fn try_get(&mut self, name: &[u8], key: &[u8]) -> io::Result<Option<Bytes>> {
        let Some(db) = &self.db else { return Err(io::Error::other("the database cannot be opened again")) };
        let tree = match self.trees.get(name) {
            Some(tree) => tree,
            None => {
                let tree = db.open_tree(name)?;
                self.trees.entry(name.to_vec()).or_insert(tree)
            }
        };
        Ok(tree.get(key)?.map(Bytes::from_owner))
    }
}
