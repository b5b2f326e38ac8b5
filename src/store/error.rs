use std::io;
use std::path::PathBuf;

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("store directory {}: {error}", dir.display())]
    Io { dir: PathBuf, error: io::Error },
    #[error("store directory {} is in use by another process", dir.display())]
    InUse { dir: PathBuf },
    #[error("store directory {} holds other files ({file}) and is not a postroom store", dir.display())]
    Foreign { dir: PathBuf, file: String },
    #[error("store directory {} has format {found}, this version reads up to {known}", dir.display())]
    Newer { dir: PathBuf, found: u32, known: u32 },
}
