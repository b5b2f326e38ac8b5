use super::file::LogFile;
use super::line::{Form, Told};
use super::repeats::{Repeats, Verdict};
use super::sink::{Sink, Teller};
use crate::settings::{LogFormat, LogSettings};
use jiff::Timestamp;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing_subscriber::layer::SubscriberExt;

fn told(message: &str) -> Told {
    Told {
        message: message.into(),
        fields: vec![("stream", "ORDERS".into()), ("seq", 7u64.into()), ("why", "disk full".into())],
    }
}

#[test]
fn lines_look_like_the_references() {
    let now: Timestamp = "2026-11-30T19:49:34.376548Z".parse().unwrap();
    let pid = std::process::id();
    let settings = LogSettings { utc: true, ..Default::default() };
    assert_eq!(
        Form::new(&settings).line(now, "INF", &told("lost")),
        format!("[{pid}] 2026/11/30 19:49:34.376548 [INF] lost stream=ORDERS seq=7 why=\"disk full\"\n")
    );
    let settings = LogSettings { time: false, ..settings };
    let evil = Told { message: "a\nb\x1b[31m".into(), ..Default::default() };
    assert_eq!(Form::new(&settings).line(now, "WRN", &evil), format!("[{pid}] [WRN] a\\nb\\u{{1b}}[31m\n"));
    let settings = LogSettings { format: LogFormat::Json, time: true, ..settings };
    let line = Form::new(&settings).line(now, "ERR", &told("lost"));
    let object: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        object,
        serde_json::json!({"time": "2026-11-30T19:49:34.376548Z", "level": "ERR", "pid": pid, "message": "lost", "stream": "ORDERS", "seq": 7, "why": "disk full"})
    );
}

#[test]
fn repeated_lines_are_held_back_and_counted() {
    let start = Instant::now();
    let mut repeats = Repeats::new(2, Duration::from_secs(10));
    let mut judge = |text: &str, secs: u64| repeats.judge(text, start + Duration::from_secs(secs));
    let write = |held_back| Verdict::Write { held_back };
    assert_eq!(
        [judge("a", 0), judge("a", 1), judge("a", 2), judge("a", 3)],
        [write(0), write(0), Verdict::Hold, Verdict::Hold]
    );
    assert_eq!(judge("b", 3), write(0));
    assert_eq!(judge("a", 10), write(2));
    assert_eq!(judge("a", 11), write(0));
    assert_eq!(judge("a", 12), Verdict::Hold);
}

#[test]
fn a_flood_of_different_lines_takes_no_more_memory() {
    let start = Instant::now();
    let mut repeats = Repeats::new(1, Duration::from_secs(10));
    for i in 0..5000 {
        assert_eq!(repeats.judge(&i.to_string(), start), Verdict::Write { held_back: 0 });
    }
    // Untracked beyond the bound: still written, and tracked again once there is room.
    assert_eq!(repeats.judge("4999", start), Verdict::Write { held_back: 0 });
    let later = start + Duration::from_secs(11);
    assert_eq!(
        [repeats.judge("x", later), repeats.judge("x", later)],
        [Verdict::Write { held_back: 0 }, Verdict::Hold]
    );
}

#[test]
fn a_full_file_is_set_aside_and_the_oldest_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    std::fs::write(folder.path().join("x.log.notes"), "mine").unwrap();
    let mut file = LogFile::open(&path, 10, 2).unwrap();
    let mut rotations = 0;
    for line in ["123456\n", "abcdef\n", "ghijkl\n", "mnopqr\n"] {
        if let Some(aside) = file.write(line.as_bytes()).unwrap() {
            assert!(aside.unwrap().to_str().unwrap().contains("x.log.20"));
            rotations += 1;
        }
    }
    assert_eq!(rotations, 3);
    let mut names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!((names.len(), names[0].as_str(), names[2].as_str()), (3, "x.log", "x.log.notes"));
    assert_eq!(std::fs::read_to_string(folder.path().join(&names[1])).unwrap(), "ghijkl\n");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mnopqr\n");
}

#[test]
fn a_renamed_file_is_followed_by_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    let mut file = LogFile::open(&path, 0, 0).unwrap();
    file.write(b"old\n").unwrap();
    std::fs::rename(&path, folder.path().join("y.log")).unwrap();
    file.reopen().unwrap();
    file.write(b"new\n").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "new\n");
}

#[test]
fn events_are_told_by_level_and_whose_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    let settings = LogSettings { file: Some(path.clone()), time: false, repeat_limit: 1, ..Default::default() };
    let sink = Arc::new(Sink::open(&settings).unwrap());
    tracing::subscriber::with_default(tracing_subscriber::registry().with(Teller(sink.clone())), || {
        let tell = || {
            tracing::info!(seq = 7, "told");
            tracing::debug!("in detail");
            tracing::trace!("every line");
            tracing::info!(target: "elsewhere", "not ours");
            tracing::warn!(target: "elsewhere", "still heard");
            crate::fatal!("the end");
        };
        tell();
        sink.apply(&LogSettings { debug: true, repeat_limit: 0, ..settings.clone() }).unwrap();
        tracing::callsite::rebuild_interest_cache();
        tell();
        tracing::error!("x");
        tracing::error!("x");
    });
    let text = std::fs::read_to_string(&path).unwrap().replace(&format!("[{}] ", std::process::id()), "");
    let once = "[INF] told seq=7\n[WRN] still heard\n[FTL] the end\n";
    let detailed = "[INF] told seq=7\n[DBG] in detail\n[WRN] still heard\n[FTL] the end\n";
    assert_eq!(text, format!("{once}{detailed}[ERR] x\n[ERR] x\n"));
}

#[test]
fn a_file_that_cannot_be_opened_leaves_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    let settings = LogSettings { file: Some(path.clone()), ..Default::default() };
    let sink = Sink::open(&settings).unwrap();
    let nowhere = LogSettings { file: Some(folder.path().join("none/x.log")), ..settings };
    assert!(sink.apply(&nowhere).is_err());
    std::fs::remove_file(&path).unwrap();
    sink.reopen().unwrap();
    assert!(path.exists());
}
