use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{File, OpenOptions};
use std::io;
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A small value in a file with two places, written in turn: a torn write leaves the value before.
///
/// A place is `[magic u64][generation u64][length u32][crc u32][MessagePack]`.
#[derive(Debug)]
pub struct TwoSlot<T> {
    file: File,
    generation: u64,
    value: PhantomData<T>,
}

const MAGIC: u64 = u64::from_le_bytes(*b"prTWO\0\0\x01");
const HEAD: usize = 24;

/// Bytes of one place: also the limit of what can be written.
pub const PLACE: usize = 64 * 1024;

impl<T: Serialize + DeserializeOwned> TwoSlot<T> {
    /// Opens or creates the file. The value is none if there is no valid one.
    /// The flag tells that the file is not new and one place does not hold what was written there.
    pub fn open(path: &Path) -> io::Result<(Self, Option<T>, bool)> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let length = file.metadata()?.len();
        let mut best: Option<(u64, T)> = None;
        let mut damaged = false;
        for place in 0..2 {
            match read_place(&file, place * PLACE as u64) {
                Ok(Some((generation, value))) => {
                    if best.as_ref().is_none_or(|(newest, _)| *newest < generation) {
                        best = Some((generation, value));
                    }
                }
                Ok(None) => {}
                Err(()) => damaged = true,
            }
        }
        damaged |= length > 0 && best.is_none();
        let (generation, value) = best.map_or((0, None), |(generation, value)| (generation, Some(value)));
        Ok((Self { file, generation, value: PhantomData }, value, damaged))
    }

    /// Writes a new value; it is on the disk after [`sync`](Self::sync).
    pub fn write(&mut self, value: &T) -> io::Result<()> {
        let body = rmp_serde::to_vec(value).map_err(io::Error::other)?;
        if body.len() > PLACE - HEAD {
            return Err(io::Error::other("too many journal slots for the ring file"));
        }
        let generation = self.generation + 1;
        let mut out = Vec::with_capacity(HEAD + body.len());
        out.extend_from_slice(&MAGIC.to_le_bytes());
        out.extend_from_slice(&generation.to_le_bytes());
        out.extend_from_slice(&(body.len() as u32).to_le_bytes());
        let crc = crc32c::crc32c_append(crc32c::crc32c(&generation.to_le_bytes()), &body);
        out.extend_from_slice(&crc.to_le_bytes());
        out.extend_from_slice(&body);
        self.file.write_all_at(&out, (generation % 2) * PLACE as u64)?;
        self.generation = generation;
        Ok(())
    }

    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}

/// `Ok(None)` if nothing was ever written there.
fn read_place<T: DeserializeOwned>(file: &File, offset: u64) -> Result<Option<(u64, T)>, ()> {
    let mut bytes = vec![0; PLACE];
    let mut have = 0;
    while have < PLACE {
        match file.read_at(&mut bytes[have..], offset + have as u64) {
            Ok(0) => break,
            Ok(more) => have += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(()),
        }
    }
    bytes.truncate(have);
    if bytes.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let word = |at: usize| bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes).ok_or(());
    let (magic, generation, sizes) = (word(0)?, word(8)?, word(16)?);
    let (length, crc) = (sizes as u32 as usize, (sizes >> 32) as u32);
    let body = bytes.get(HEAD..HEAD + length).ok_or(())?;
    if magic != MAGIC || crc32c::crc32c_append(crc32c::crc32c(&generation.to_le_bytes()), body) != crc {
        return Err(());
    }
    Ok(Some((generation, rmp_serde::from_slice(body).map_err(drop)?)))
}
