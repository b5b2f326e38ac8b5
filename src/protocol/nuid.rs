//! Names nobody else has (consumers reference 0).

use sha2::{Digest, Sha256};

/// Characters of a nuid: `0-9A-Za-z`.
pub const NUID_LENGTH: usize = 22;

const SHORT_HASH_LENGTH: usize = 8;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A fresh nuid of [`NUID_LENGTH`] characters.
pub fn nuid() -> String {
    nuid::next().as_str().to_owned()
}

/// The eight characters that stand for a name where it would be too long or could not stand as it is; `$G` is
/// `szMpdrwD`.
pub fn short_hash(name: &str) -> String {
    let digest = Sha256::digest(name.as_bytes());
    let character = |&byte: &u8| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]);
    digest.iter().take(SHORT_HASH_LENGTH).map(character).collect()
}

/// A name for a consumer that was given none: the short hash of a fresh nuid.
pub fn fresh_name() -> String {
    short_hash(&nuid())
}
