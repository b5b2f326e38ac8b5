//! Looking for blanks and line ends, eight bytes at a time.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * ONES;

/// The position of the first byte up to and including the blank (0x20), from `from` on. Control bytes other than tab,
/// CR and LF count too: the caller looks at what it found.
#[inline]
pub(super) fn find_low(buffer: &[u8], mut from: usize) -> Option<usize> {
    while let Some(word) = buffer.get(from..from + 8) {
        let word = u64::from_le_bytes(word.try_into().expect("the slice is eight bytes"));
        // A byte below 0x21 is one whose low seven bits do not reach 0x80 when 0x5f is added, and whose top bit is off.
        let low = !(((word & !HIGH) + 0x5f * ONES) | word) & HIGH;
        if low != 0 {
            return Some(from + (low.trailing_zeros() / 8) as usize);
        }
        from += 8;
    }
    let rest = buffer.get(from..)?;
    rest.iter().position(|&byte| byte <= b' ').map(|at| from + at)
}

#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// A size as the protocol writes it: one to nine digits. Leading zeros are fine.
#[inline]
pub(super) fn size(digits: &[u8]) -> Option<usize> {
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    digits.iter().try_fold(0usize, |sum, digit| {
        let value = digit.wrapping_sub(b'0');
        (value < 10).then(|| sum * 10 + usize::from(value))
    })
}
