//! How long a publish takes inside the stream; run by hand: `cargo test --profile quick --lib -- --ignored stream_bench`.

use super::world::{World, config};
use crate::jetstream::stream::StreamConfig;
use std::time::Instant;

#[actix_rt::test]
#[ignore = "a measurement, not a check"]
async fn stream_bench() {
    for (name, max_msgs) in [("keeping all", -1), ("keeping 10,000", 10_000)] {
        let mut world = World::new(StreamConfig { max_msgs, ..config(&["a.*"]) });
        let payload = "x".repeat(128);
        let subjects: Vec<String> = (0..500).map(|n| format!("a.{}", n % 7)).collect();
        let batch: Vec<_> =
            subjects.iter().map(|subject| (subject.as_str(), &[] as &[(&str, &str)], payload.as_str())).collect();
        let mut spent = std::time::Duration::ZERO;
        for _ in 0..400 {
            world.send(&batch);
            let begun = Instant::now();
            tokio::task::yield_now().await;
            spent += begun.elapsed();
            world.settle().await;
            world.seen().published.clear();
        }
        println!("{name}: {} ns for a message", spent.as_nanos() / (400 * 500));
    }
}
