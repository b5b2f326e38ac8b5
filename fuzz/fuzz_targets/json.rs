//! Request bodies: whatever the bytes, an error or a configuration, and never a panic. What is taken can be shown and
//! sent again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use postroom::jetstream::api::json::{decode, decode_lenient, is_empty_request, is_jsonish};
use postroom::jetstream::consumer::ConsumerConfig;
use postroom::jetstream::stream::StreamConfig;

fuzz_target!(|body: &[u8]| {
    let _ = (is_jsonish(body), is_empty_request(body));
    let _ = decode_lenient::<ConsumerConfig>(body);
    let _ = decode::<StreamConfig>(body, false);
    if let Ok(config) = decode::<StreamConfig>(body, true) {
        let shown = serde_json::to_vec(&config).expect("a configuration is plain data");
        assert_eq!(decode::<StreamConfig>(&shown, true), Ok(config));
    }
});
