//! Whatever a `.conf` file says, reading it ends with settings or an error: `cargo fuzz run conf`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use postroom::settings::conf::{parser, understand};
use std::path::Path;

fuzz_target!(|text: &str| {
    let environment = |_: &str| None;
    if let Ok(map) = parser::parse_text(text, "fuzz.conf", Path::new("/nonexistent"), &environment) {
        let _ = map.digest();
        let _ = understand(&map, Path::new("fuzz.conf"));
    }
});
