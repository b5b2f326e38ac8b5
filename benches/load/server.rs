//! A broker under test: one process, one store folder, its CPU time and memory as the kernel counts them.

use std::fs;
use std::io::{self, Error, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::client::Client;

/// How long a server may take until it answers.
const START_LIMIT: Duration = Duration::from_secs(120);
/// How long it may take to leave after SIGTERM before it is killed.
const STOP_LIMIT: Duration = Duration::from_secs(30);
/// The kernel's USER_HZ, the unit of the times in `/proc/PID/stat`.
const TICKS_PER_SECOND: u64 = 100;
const PAGE_SIZE: u64 = 4096;

/// A program and the way to start it.
#[derive(Clone, Debug)]
pub struct Contender {
    pub name: String,
    pub program: PathBuf,
    /// Config text handed over with `-c`; `$DIR` in it stands for the store folder, which then is not given as a flag.
    pub config: Option<&'static str>,
}

impl Contender {
    pub fn new(name: &str, program: &Path) -> Self {
        Self { name: name.into(), program: program.into(), config: None }
    }

    pub fn with_config(mut self, config: &'static str) -> Self {
        self.config = Some(config);
        self
    }

    /// Starts on an empty store and returns once it answers a PING.
    pub fn start(&self) -> io::Result<Server> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{}-{number}", std::process::id()));
        fs::create_dir_all(&dir)?;
        let (child, addr, _) = self.launch(&dir).inspect_err(|_| drop(fs::remove_dir_all(&dir)))?;
        Ok(Server { contender: self.clone(), child, addr, dir })
    }

    fn launch(&self, dir: &Path) -> io::Result<(Child, SocketAddr, Duration)> {
        let addr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let store = dir.join("store");
        let mut command = Command::new(&self.program);
        command.args(["-a", "127.0.0.1", "-p", &addr.port().to_string(), "-js"]);
        match self.config {
            None => command.arg("-sd").arg(&store),
            Some(text) => {
                let file = dir.join("server.conf");
                fs::write(&file, text.replace("$DIR", &store.to_string_lossy()))?;
                command.arg("-c").arg(file)
            }
        };
        let log = fs::OpenOptions::new().create(true).append(true).open(dir.join("log"))?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let begun = Instant::now();
        let mut child = command
            .spawn()
            .map_err(|e| Error::new(e.kind(), format!("cannot start {}: {e}", self.program.display())))?;
        loop {
            if is_answering(addr) {
                return Ok((child, addr, begun.elapsed()));
            }
            if let Some(status) = child.try_wait()? {
                let log = fs::read_to_string(dir.join("log")).unwrap_or_default();
                return Err(Error::other(format!("{} left at start with {status}: {log}", self.program.display())));
            }
            if begun.elapsed() > START_LIMIT {
                child.kill()?;
                child.wait()?;
                return Err(Error::other(format!("{} does not answer", self.program.display())));
            }
            sleep(Duration::from_micros(500));
        }
    }
}

/// Whether the port is open and a connection gets through to the first PONG.
fn is_answering(addr: SocketAddr) -> bool {
    TcpStream::connect(addr).is_ok_and(|socket| Client::over(socket).is_ok())
}

/// A running broker; it is killed and its folder removed when this is dropped.
pub struct Server {
    contender: Contender,
    child: Child,
    pub addr: SocketAddr,
    dir: PathBuf,
}

impl Server {
    pub fn name(&self) -> &str {
        &self.contender.name
    }

    /// A new connection, past its first PONG.
    pub fn connect(&self) -> io::Result<Client> {
        Client::connect(self.addr)
    }

    /// CPU time the process has used, all threads together.
    ///
    /// `schedstat` counts nanoseconds but forgets threads that ended; `stat` counts ticks of 10 ms and forgets nothing. Both
    /// can only be too low, so the larger one is taken.
    pub fn cpu(&self) -> io::Result<Duration> {
        let proc = PathBuf::from(format!("/proc/{}", self.child.id()));
        let stat = fs::read_to_string(proc.join("stat"))?;
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks: u64 = after_name.split_whitespace().skip(11).take(2).filter_map(|f| f.parse::<u64>().ok()).sum();
        let mut nanos = 0;
        for task in fs::read_dir(proc.join("task"))? {
            // A thread may end between the listing and the reading.
            let text = fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
            nanos += text.split(' ').next().and_then(|f| f.parse::<u64>().ok()).unwrap_or(0);
        }
        Ok(Duration::from_nanos(nanos.max(ticks * (1_000_000_000 / TICKS_PER_SECOND))))
    }

    /// Resident memory in bytes.
    pub fn resident(&self) -> io::Result<u64> {
        let statm = fs::read_to_string(format!("/proc/{}/statm", self.child.id()))?;
        let pages = statm.split(' ').nth(1).and_then(|f| f.parse::<u64>().ok());
        pages.map(|p| p * PAGE_SIZE).ok_or_else(|| Error::other("no resident size in /proc"))
    }

    /// SIGKILL, then a start on the same files: the time until it answers.
    pub fn crash_and_restart(&mut self) -> io::Result<Duration> {
        self.child.kill()?;
        self.child.wait()?;
        self.start_again()
    }

    /// SIGTERM, then a start on the same files: the time until it answers.
    pub fn stop_and_restart(&mut self) -> io::Result<Duration> {
        self.terminate()?;
        self.start_again()
    }

    /// Bytes of the store on the disk.
    pub fn stored_bytes(&self) -> io::Result<u64> {
        let mut total = 0;
        let mut folders = vec![self.dir.join("store")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                let meta = entry.metadata()?;
                if meta.is_dir() {
                    folders.push(entry.path());
                } else {
                    total += std::os::unix::fs::MetadataExt::blocks(&meta) * 512;
                }
            }
        }
        Ok(total)
    }

    fn terminate(&mut self) -> io::Result<()> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        let begun = Instant::now();
        while self.child.try_wait()?.is_none() {
            if begun.elapsed() > STOP_LIMIT {
                self.child.kill()?;
            }
            sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    fn start_again(&mut self) -> io::Result<Duration> {
        let (child, addr, took) = self.contender.launch(&self.dir)?;
        self.child = child;
        self.addr = addr;
        Ok(took)
    }

    /// The end of the server's log, for an error report.
    pub fn log_tail(&self) -> String {
        let mut text = String::new();
        if let Ok(mut file) = fs::File::open(self.dir.join("log")) {
            let _ = file.read_to_string(&mut text);
        }
        let lines: Vec<&str> = text.lines().rev().take(5).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}
