//! Tables as Markdown, on the terminal and in `docs/performance.md`.

use std::fs;
use std::io::{self, Error};
use std::path::Path;
use std::process::Command;

/// A Markdown table, padded so that it also reads well as text.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(head: &[String]) -> Self {
        Self { rows: vec![head.to_vec()] }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub fn to_markdown(&self) -> String {
        let columns = self.rows[0].len();
        let width = |c: usize| self.rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            for (column, width) in widths.iter().enumerate() {
                let cell = row.get(column).map_or("", String::as_str);
                text += &if column == 0 { format!("| {cell:<width$} ") } else { format!("| {cell:>width$} ") };
            }
            text += "|\n";
            if number == 0 {
                text += &widths.iter().enumerate().map(|(c, w)| rule(c, *w)).collect::<String>();
                text += "|\n";
            }
        }
        text
    }
}

/// The line under the head: the first column to the left, figures to the right.
fn rule(column: usize, width: usize) -> String {
    let dashes = "-".repeat(width + 1);
    if column == 0 { format!("|{dashes}-") } else { format!("|{dashes}:") }
}

/// A rate, short: 12.3 M, 45.6 k, 789.
pub fn rate(per_second: f64) -> String {
    match per_second {
        r if r >= 1e6 => format!("{:.2} M", r / 1e6),
        r if r >= 1e4 => format!("{:.0} k", r / 1e3),
        r if r >= 1e3 => format!("{:.1} k", r / 1e3),
        r => format!("{r:.0}"),
    }
}

/// A time for one thing, or a ratio: three figures.
pub fn figure(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

/// Where and on what the figures were measured: the kernel's words, no host names.
pub fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        cpu.lines().find(|l| l.starts_with("model name")).and_then(|l| l.split(": ").nth(1)).unwrap_or("unknown CPU");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{model}, {cores} cores, Linux {}", kernel.trim())
}

/// The first line a program prints for `--version`.
pub fn version(program: &Path) -> String {
    let output = Command::new(program).arg("--version").output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("unknown version").to_string()
}

/// Replaces what stands between `<!-- NAME -->` and `<!-- /NAME -->` in `docs/performance.md`.
pub fn write_section(name: &str, text: &str) -> io::Result<()> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/performance.md");
    let page = fs::read_to_string(&file)?;
    let (open, close) = (format!("<!-- {name} -->"), format!("<!-- /{name} -->"));
    let missing = || Error::other(format!("no section {open} in {}", file.display()));
    let (before, rest) = page.split_once(&open).ok_or_else(missing)?;
    let (_, after) = rest.split_once(&close).ok_or_else(missing)?;
    fs::write(&file, format!("{before}{open}\n{text}\n{close}{after}"))
}
