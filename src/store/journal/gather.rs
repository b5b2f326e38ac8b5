use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Pieces of memory to be written one behind the other with as few calls as possible.
#[derive(Default)]
pub(super) struct Gather {
    pieces: Vec<libc::iovec>,
}

/// What Linux takes in one call (`UIO_MAXIOV`).
const MOST_PIECES: usize = 1024;

impl Gather {
    /// Adds a piece. It is only looked at by the system call in [`write_all_at`](Self::write_all_at): see there.
    pub(super) fn push(&mut self, start: *const u8, length: usize) {
        if length > 0 {
            self.pieces.push(libc::iovec { iov_base: start.cast_mut().cast(), iov_len: length });
        }
    }

    /// Writes all pieces at an offset of the file.
    ///
    /// # Safety
    /// Every piece must still be there: the owner of its memory has lived since it was pushed, and nobody writes to it.
    pub(super) unsafe fn write_all_at(&mut self, file: &File, mut offset: u64) -> io::Result<()> {
        let mut pieces = &mut self.pieces[..];
        while !pieces.is_empty() {
            let count = pieces.len().min(MOST_PIECES) as libc::c_int;
            // SAFETY: the vector holds `count` entries, and they point to live memory as the caller promises.
            let written = unsafe { libc::pwritev(file.as_raw_fd(), pieces.as_ptr(), count, offset as libc::off_t) };
            match written {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                1.. => {
                    offset += written as u64;
                    pieces = skip(pieces, written as usize);
                }
                _ => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    }
}

/// What is left after `written` bytes.
fn skip(mut pieces: &mut [libc::iovec], mut written: usize) -> &mut [libc::iovec] {
    while let Some(first) = pieces.first_mut() {
        if written < first.iov_len {
            first.iov_base = first.iov_base.cast::<u8>().wrapping_add(written).cast();
            first.iov_len -= written;
            break;
        }
        written -= first.iov_len;
        pieces = &mut pieces[1..];
    }
    pieces
}
