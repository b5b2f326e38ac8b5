//! Puts right what one flipped bit did to a slot of sled's.

/// The polynomial of the crc32 of zip files, its bits in reverse.
const POLYNOMIAL: u32 = 0xEDB8_8320;

/// A slot ends with a crc32, little-endian, its lowest byte changed so that it is never that of zeroes.
const CHANGED_BY: u32 = 0xAF;

/// Content and checksum of a slot.
fn parts(slot: &[u8]) -> Option<(&[u8], u32)> {
    let (content, crc) = slot.split_last_chunk::<4>()?;
    Some((content, u32::from_le_bytes(*crc) ^ CHANGED_BY))
}

/// Whether something was written there that is no longer what it was.
pub fn is_damaged(slot: &[u8]) -> bool {
    parts(slot).is_some_and(|(content, crc)| crc32fast::hash(content) != crc && content.iter().any(|byte| *byte != 0))
}

/// Turns the one bit back whose turning explains the checksum, and says whether there is one.
///
/// A crc is linear: by how much it is off depends on the place of the bit alone, and up to half a gigabyte no two places
/// are alike. More bits than one can look like another one, so what comes out needs a checksum of its own.
pub fn turn_back_one_bit(slot: &mut [u8]) -> bool {
    let Some((content, crc)) = parts(slot) else { return false };
    let (bits, off) = (content.len() * 8, crc32fast::hash(content) ^ crc);
    // A bit of the checksum itself.
    if off.count_ones() == 1 {
        return true;
    }
    // From the last bit of the content to the first.
    let mut by = POLYNOMIAL;
    for before_end in 0..bits {
        if by == off {
            let bit = bits - 1 - before_end;
            slot[bit / 8] ^= 1 << (bit % 8);
            return true;
        }
        by = by >> 1 ^ if by & 1 == 1 { POLYNOMIAL } else { 0 };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slot(mut content: Vec<u8>) -> Vec<u8> {
        let crc = crc32fast::hash(&content) ^ CHANGED_BY;
        content.extend_from_slice(&crc.to_le_bytes());
        content
    }

    proptest! {
        #[test]
        fn any_one_bit_is_turned_back(content in prop::collection::vec(any::<u8>(), 1..3000), place in any::<prop::sample::Index>()) {
            let sound = slot(content);
            prop_assert!(!is_damaged(&sound));
            let mut damaged = sound.clone();
            let bit = place.index(sound.len() * 8);
            damaged[bit / 8] ^= 1 << (bit % 8);
            prop_assume!(damaged[..damaged.len() - 4].iter().any(|byte| *byte != 0));
            prop_assert!(is_damaged(&damaged) && turn_back_one_bit(&mut damaged));
            prop_assert_eq!(&damaged[..sound.len() - 4], &sound[..sound.len() - 4]);
        }

        #[test]
        fn two_bits_are_not_taken_for_one_far_away(content in prop::collection::vec(any::<u8>(), 1..300), places in prop::array::uniform2(any::<prop::sample::Index>())) {
            let sound = slot(content);
            let bits = (sound.len() - 4) * 8;
            let [one, two] = places.map(|place| place.index(bits));
            prop_assume!(one != two);
            let mut damaged = sound;
            damaged[one / 8] ^= 1 << (one % 8);
            damaged[two / 8] ^= 1 << (two % 8);
            let before = damaged.clone();
            // Either nothing explains it, or a bit of the checksum seems to: the content stays as it is.
            turn_back_one_bit(&mut damaged);
            prop_assert_eq!(damaged, before);
        }
    }
}
