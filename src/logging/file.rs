//! A log file that is set aside when it has grown to its limit.

use jiff::Zoned;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that lines are appended to.
pub(super) struct LogFile {
    path: PathBuf,
    file: File,
    size: u64,
    /// The size at which it is set aside next.
    next: u64,
    limit: u64,
    keep: usize,
}

impl LogFile {
    /// Opens `path` for appending; beyond `limit` bytes it is set aside and begun again (0: never), and `keep` files
    /// are kept, the current one included (0: all).
    pub(super) fn open(path: &Path, limit: u64, keep: usize) -> io::Result<Self> {
        let (file, size) = append_to(path)?;
        Ok(Self { path: path.into(), file, size, next: limit, limit, keep })
    }

    pub(super) fn is(&self, path: &Path, limit: u64, keep: usize) -> bool {
        (self.path.as_path(), self.limit, self.keep) == (path, limit, keep)
    }

    /// Appends a line. Gives the path of the file that was set aside before, if one was, or why none could be.
    pub(super) fn write(&mut self, line: &[u8]) -> io::Result<Option<io::Result<PathBuf>>> {
        let full = self.limit > 0 && self.size > 0 && self.size + line.len() as u64 > self.next;
        let rotated = full.then(|| self.rotate());
        self.file.write_all(line)?;
        self.size += line.len() as u64;
        Ok(rotated)
    }

    /// Opens the file again by its name.
    pub(super) fn reopen(&mut self) -> io::Result<()> {
        (self.file, self.size) = append_to(&self.path)?;
        self.next = self.limit;
        Ok(())
    }

    fn rotate(&mut self) -> io::Result<PathBuf> {
        // Should it not work, the next try is a whole limit later, not at the next line.
        self.next = self.size.saturating_add(self.limit);
        let mut aside = self.path.clone().into_os_string();
        aside.push(Zoned::now().strftime(".%Y.%m.%d.%H.%M.%S.%9f").to_string());
        let aside = PathBuf::from(aside);
        fs::rename(&self.path, &aside)?;
        self.reopen()?;
        self.remove_oldest();
        Ok(aside)
    }

    /// Removes set-aside files beyond those to keep. Their names sort by time.
    fn remove_oldest(&self) {
        let (Some(name), Some(keep)) = (self.path.file_name().and_then(|n| n.to_str()), self.keep.checked_sub(1))
        else {
            return;
        };
        let folder = self.path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut aside: Vec<PathBuf> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let file = entry.file_name();
                let time = file.to_str()?.strip_prefix(name)?.strip_prefix('.')?;
                let is_time = time.len() == "2026.01.31.08.30.00.000000000".len()
                    && time.bytes().all(|b| b.is_ascii_digit() || b == b'.');
                is_time.then(|| entry.path())
            })
            .collect();
        aside.sort();
        let spare = aside.len().saturating_sub(keep);
        for path in aside.iter().take(spare) {
            // One that stays is met again at the next rotation.
            let _ = fs::remove_file(path);
        }
    }
}

fn append_to(path: &Path) -> io::Result<(File, u64)> {
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    let size = file.metadata()?.len();
    Ok((file, size))
}
