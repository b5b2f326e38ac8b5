//! Generations of `meta`: a model, written whole beside the one before and named by the pointer file.

use super::model::{Model, StreamModel};
use super::vault::{self, Vault};
use crate::store::journal::two_slot::TwoSlot;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Names the generation that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointer {
    pub generation: u64,
}

/// What is not of one stream.
#[derive(Serialize, Deserialize)]
struct Head {
    position: u64,
    next_stream: u64,
    next_volume: u64,
    streams: Vec<u64>,
}

const TREE: &[u8] = b"model";
const HEAD_KEY: &[u8] = b"head";

/// Writes a generation; it counts once the pointer names it.
pub fn write(dir: &Path, model: &Model) -> io::Result<()> {
    vault::write(dir, vec![contents(model)?])
}

/// A model as a tree of a vault: also the catalog in each volume.
pub fn contents(model: &Model) -> io::Result<vault::Tree> {
    let streams = model.streams.keys().copied().collect();
    let (position, next_stream, next_volume) = (model.position, model.next_stream, model.next_volume);
    let head = Head { position, next_stream, next_volume, streams };
    let mut values = vec![(HEAD_KEY.to_vec(), seal(&head)?)];
    for (id, stream) in &model.streams {
        values.push((stream_key(*id), seal(stream)?));
    }
    Ok((TREE.to_vec(), values))
}

/// Reads a model; streams that are damaged are left out and counted.
pub fn read(vault: &mut Vault) -> io::Result<(Model, usize)> {
    let head: Head = unseal(vault.get(TREE, HEAD_KEY)?)?;
    let mut model = Model {
        position: head.position,
        next_stream: head.next_stream,
        next_volume: head.next_volume,
        streams: BTreeMap::new(),
    };
    let mut damaged = 0;
    for id in head.streams {
        match vault.get(TREE, &stream_key(id)).and_then(unseal::<StreamModel>) {
            Ok(stream) => drop(model.streams.insert(id, stream)),
            Err(error) => {
                tracing::error!("meta: stream number {id} is damaged: {error}");
                damaged += 1;
            }
        }
    }
    Ok((model, damaged))
}

fn stream_key(id: u64) -> Vec<u8> {
    [b"s", &id.to_be_bytes()[..]].concat()
}

fn seal(value: &impl Serialize) -> io::Result<Bytes> {
    let body = rmp_serde::to_vec(value).map_err(io::Error::other)?;
    Ok([&crc32c::crc32c(&body).to_le_bytes()[..], &body].concat().into())
}

fn unseal<T: DeserializeOwned>(value: Option<Bytes>) -> io::Result<T> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "checksum mismatch");
    let value = value.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "not there"))?;
    let (crc, body) = value.split_first_chunk::<4>().ok_or_else(damaged)?;
    if crc32c::crc32c(body) != u32::from_le_bytes(*crc) {
        return Err(damaged());
    }
    rmp_serde::from_slice(body).map_err(io::Error::other)
}

pub fn generation_path(dir: &Path, generation: u64) -> PathBuf {
    dir.join("meta").join(format!("{generation:08}"))
}

pub fn volume_path(dir: &Path, volume: u64) -> PathBuf {
    dir.join("volumes").join(format!("{volume:08}"))
}

pub fn open_pointer(dir: &Path) -> io::Result<(TwoSlot<Pointer>, Option<Pointer>, bool)> {
    TwoSlot::open(&dir.join("pointer"))
}

/// The numbered folders below a folder, in order.
pub fn numbered(dir: &Path) -> Vec<u64> {
    let Ok(files) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut numbers: Vec<u64> = files.filter_map(|file| file.ok()?.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}
