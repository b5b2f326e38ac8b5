//! A frame: header, the entries of one commit, padding to eight bytes, trailer.
//!
//! Header and trailer say the same, so that one of them may be damaged. Both carry the absolute position of the frame
//! and a checksum seeded with the journal's random key, so that a stale frame in a slot used again cannot verify.

/// Bytes of a header, and of a trailer.
pub const HEAD: usize = 64;

/// What a frame costs beside its entries, without padding.
pub const FRAME_OVERHEAD: usize = 2 * HEAD;

/// Frames begin at multiples of this.
pub const ALIGN: usize = 8;

const HEADER_MAGIC: u32 = u32::from_le_bytes(*b"prJF");
const TRAILER_MAGIC: u32 = u32::from_le_bytes(*b"prJT");

/// What stands in header and trailer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameHead {
    /// Absolute position of the header.
    pub position: u64,
    /// Bytes of all entries.
    pub length: u32,
    /// Entries; none in a mark, which only tells what is durable.
    pub entries: u32,
    pub stream: u64,
    /// The first and the last sequence of the messages in it; zero if there is none.
    pub first_seq: u64,
    pub last_seq: u64,
    /// Messages among the entries.
    pub messages: u32,
    /// Everything below this position was known to be on the disk when the frame was written.
    pub durable: u64,
}

/// Header or trailer?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Header,
    Trailer,
}

impl FrameHead {
    /// Bytes of the whole frame.
    pub fn size(&self) -> u64 {
        frame_size(self.length as usize) as u64
    }

    /// The position behind the frame.
    pub fn end(&self) -> u64 {
        self.position.saturating_add(self.size())
    }

    pub fn is_mark(&self) -> bool {
        self.entries == 0
    }

    pub fn encode(&self, key: u64, end: End) -> [u8; HEAD] {
        let mut out = [0; HEAD];
        let magic = if end == End::Header { HEADER_MAGIC } else { TRAILER_MAGIC };
        out[..4].copy_from_slice(&magic.to_le_bytes());
        out[8..16].copy_from_slice(&self.position.to_le_bytes());
        out[16..20].copy_from_slice(&self.length.to_le_bytes());
        out[20..24].copy_from_slice(&self.entries.to_le_bytes());
        out[24..32].copy_from_slice(&self.stream.to_le_bytes());
        out[32..40].copy_from_slice(&self.first_seq.to_le_bytes());
        out[40..48].copy_from_slice(&self.last_seq.to_le_bytes());
        out[48..56].copy_from_slice(&self.durable.to_le_bytes());
        out[56..60].copy_from_slice(&self.messages.to_le_bytes());
        let crc = checksum(&out, key);
        out[4..8].copy_from_slice(&crc.to_le_bytes());
        out
    }

    /// `None` unless the bytes begin with a header or trailer of this journal that vouches for itself.
    pub fn decode(bytes: &[u8], key: u64, end: End) -> Option<Self> {
        let bytes: &[u8; HEAD] = bytes.get(..HEAD)?.try_into().ok()?;
        let magic = if end == End::Header { HEADER_MAGIC } else { TRAILER_MAGIC };
        if u32_at(bytes, 0) != magic || u32_at(bytes, 4) != checksum(bytes, key) {
            return None;
        }
        Some(Self {
            position: u64_at(bytes, 8),
            length: u32_at(bytes, 16),
            entries: u32_at(bytes, 20),
            stream: u64_at(bytes, 24),
            first_seq: u64_at(bytes, 32),
            last_seq: u64_at(bytes, 40),
            durable: u64_at(bytes, 48),
            messages: u32_at(bytes, 56),
        })
    }
}

/// Bytes of a frame whose entries take `length`.
pub fn frame_size(length: usize) -> usize {
    length.next_multiple_of(ALIGN) + FRAME_OVERHEAD
}

fn checksum(head: &[u8; HEAD], key: u64) -> u32 {
    let seed = crc32c::crc32c(&key.to_le_bytes());
    crc32c::crc32c_append(crc32c::crc32c_append(seed, &head[..4]), &head[8..])
}

fn u32_at(bytes: &[u8; HEAD], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8; HEAD], at: usize) -> u64 {
    (u32_at(bytes, at) as u64) | (u32_at(bytes, at + 4) as u64) << 32
}
