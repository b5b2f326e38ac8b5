use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Writes the process id, in decimal. The file stays at exit, as the reference's does.
pub fn write_pid_file(path: &Path) -> io::Result<()> {
    std::fs::write(path, std::process::id().to_string())
}

/// `<program>_<pid>.ports`: where this server listens, for whoever started it on a random port. Removed when dropped.
pub struct PortsFile(PathBuf);

impl PortsFile {
    pub fn write(dir: &Path, clients: SocketAddr) -> io::Result<Self> {
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(Path::file_name).and_then(|n| n.to_str()).unwrap_or("postroom");
        let path = dir.join(format!("{program}_{}.ports", std::process::id()));
        let ports = serde_json::json!({ "nats": [format!("nats://{clients}")] });
        // Whoever waits for the file must not find half of it.
        let mut file = tempfile_beside(&path)?;
        file.0.write_all(ports.to_string().as_bytes())?;
        std::fs::rename(&file.1, &path)?;
        Ok(Self(path))
    }
}

fn tempfile_beside(path: &Path) -> io::Result<(std::fs::File, PathBuf)> {
    let beside = path.with_extension("ports.new");
    Ok((std::fs::File::create(&beside)?, beside))
}

impl Drop for PortsFile {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.0) {
            tracing::warn!("cannot remove {}: {error}", self.0.display());
        }
    }
}
