//! Acknowledgements and redelivery (consumers reference, sections 3 and 12).

use super::bench::{Bench, MS, SECOND};
use crate::jetstream::consumer::acks::{AckNumbers, AckVerb};
use crate::jetstream::messages::{Removed, Saved};
use crate::jetstream::stream::config::Retention;
use proptest::prelude::*;
use serde_json::json;

fn explicit() -> serde_json::Value {
    json!({"durable_name": "c", "ack_policy": "explicit"})
}

fn ack(delivered: u64, stream: u64, consumer: u64) -> String {
    format!("$JS.ACK.S.c.{delivered}.{stream}.{consumer}.1700000000000000000.0")
}

const TEN: [&str; 10] = ["s"; 10];

#[actix_rt::test]
async fn the_floor_follows_explicit_acks() {
    let mut bench = Bench::new(explicit(), &TEN).await;
    bench.pull("in", "10").await;
    bench.seen();
    for seq in 1..=3 {
        bench.ack(&ack(1, seq, seq), "", "+ACK").await;
    }
    assert_eq!(bench.counts().await, json!([[10, 10], [3, 3], 7, 0, 0, 0]));
    bench.ack(&ack(1, 5, 5), "r", "").await;
    assert_eq!(bench.counts().await[1], json!([3, 3]));
    bench.ack(&ack(1, 4, 4), "r", "+OK").await;
    assert_eq!(bench.counts().await, json!([[10, 10], [5, 5], 5, 0, 0, 0]));
    assert_eq!(bench.brief(), ["empty to r", "empty to r"]);
    bench.ack(&ack(1, 11, 11), "r", "+ACK").await;
    bench.ack("$JS.ACK.S.c.x.y.z.0.0", "r", "+ACK").await;
    assert!(bench.brief().is_empty(), "what was never delivered is not confirmed");
    assert_eq!(bench.world().state.floor_stream, 5);
}

#[actix_rt::test]
async fn a_nak_brings_it_back_first() {
    let mut bench = Bench::new(explicit(), &TEN).await;
    bench.pull("in", "9").await;
    bench.seen();
    bench.ack(&ack(1, 8, 8), "r", "-NAK").await;
    assert_eq!(bench.brief(), ["empty to r"]);
    bench.pull("in", "2").await;
    assert_eq!(bench.brief(), ["2.8.10+1", "1.10.11+0"]);
    assert_eq!(bench.counts().await, json!([[11, 10], [0, 0], 10, 1, 0, 0]));
    // The reply of the first delivery acknowledges it as well.
    bench.ack(&ack(1, 8, 8), "", "").await;
    assert_eq!(bench.counts().await[3], json!(0));
}

#[actix_rt::test]
async fn a_nak_may_ask_for_time() {
    let bench = Bench::new(explicit(), &TEN).await;
    bench.pull("in", "2").await;
    bench.ack(&ack(1, 1, 1), "", r#"-NAK {"delay":2000000000}"#).await;
    bench.ack(&ack(1, 2, 2), "", "-NAK 300ms").await;
    bench.pull("in", r#"{"batch":10,"max_bytes":130}"#).await;
    bench.seen();
    bench.pull("in", "10").await;
    bench.seen();
    bench.pull("in", "10").await;
    bench.pass(310 * MS).await;
    assert!(bench.brief()[0].starts_with("2.2."));
    bench.pass(1700 * MS).await;
    assert!(bench.brief()[0].starts_with("2.1."));
}

#[actix_rt::test]
async fn unacknowledged_messages_come_again() {
    let bench = Bench::new(json!({"durable_name": "c", "ack_policy": "explicit", "ack_wait": SECOND}), &TEN).await;
    bench.pull("in", "3").await;
    bench.ack(&ack(1, 2, 2), "", "+WPI").await;
    bench.seen();
    bench.pull("in", "20").await;
    bench.seen();
    bench.pass(900 * MS).await;
    bench.ack(&ack(1, 2, 2), "", "+WPI").await;
    assert!(bench.brief().is_empty());
    bench.pass(102 * MS).await;
    let brief = bench.brief();
    assert_eq!(brief[..2], ["2.1.11+0", "2.3.12+0"]);
    assert_eq!(brief.len(), 9, "all but the one in progress");
}

#[actix_rt::test]
async fn backoff_and_max_deliver() {
    let config = json!({
        "durable_name": "c", "ack_policy": "explicit", "max_deliver": 4, "backoff": [200 * MS, 600 * MS],
    });
    let mut bench = Bench::new(config, &["s"]).await;
    bench.listen("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.S.c").await;
    bench.pull("in", "20").await;
    assert_eq!(bench.brief(), ["1.1.1+0"]);
    for (wait, numbers) in [(200, "2.1.2+0"), (600, "3.1.3+0"), (600, "4.1.4+0")] {
        bench.pass((wait - 1) * MS).await;
        assert!(bench.brief().is_empty());
        bench.pass(2 * MS).await;
        assert_eq!(bench.brief(), [numbers]);
    }
    bench.pass(602 * MS).await;
    let advisory: serde_json::Value = serde_json::from_str(&bench.seen()[0].payload).expect("JSON");
    assert_eq!(advisory["type"], "io.nats.jetstream.advisory.v1.max_deliver");
    assert_eq!((&advisory["stream_seq"], &advisory["deliveries"]), (&json!(1), &json!(4)));
    assert_eq!(bench.counts().await, json!([[4, 1], [0, 0], 0, 1, 1, 0]));
    // Late, but welcome.
    bench.ack(&ack(4, 1, 4), "", "").await;
    assert_eq!(bench.counts().await[3], json!(0));
}

#[actix_rt::test]
async fn ack_all() {
    let mut bench = Bench::new(json!({"durable_name": "c", "ack_policy": "all"}), &TEN).await;
    bench.pull("in", "8").await;
    bench.ack(&ack(1, 5, 5), "", "").await;
    assert_eq!(bench.counts().await, json!([[8, 8], [5, 5], 3, 0, 0, 2]));
    bench.ack(&ack(1, 3, 3), "r", "").await;
    assert_eq!(bench.counts().await[1], json!([5, 5]));
    bench.ack(&ack(1, 7, 7), "", "-NAK").await;
    bench.seen();
    bench.pull("in", "1").await;
    assert_eq!(bench.brief(), ["2.7.9+2"]);
    bench.ack(&ack(2, 7, 9), "", "+TERM").await;
    assert_eq!(bench.counts().await, json!([[9, 8], [9, 7], 1, 0, 0, 2]));
}

#[actix_rt::test]
async fn next_acknowledges_and_pulls() {
    let bench = Bench::new(explicit(), &TEN).await;
    bench.pull("in", "1").await;
    bench.seen();
    bench.ack(&ack(1, 1, 1), "more", "+NXT 2").await;
    let seen = bench.seen();
    assert_eq!(
        seen.iter().map(|s| (&s.to[..], s.numbers())).collect::<Vec<_>>(),
        [("more", "1.2.2+8".to_string()), ("more", "1.3.3+7".to_string())]
    );
    assert_eq!(bench.world().state.floor_stream, 1);
}

#[actix_rt::test]
async fn too_many_pending_stall() {
    let config = json!({"durable_name": "c", "ack_policy": "explicit", "max_ack_pending": 2});
    let bench = Bench::new(config, &TEN).await;
    bench.pull("in", r#"{"batch":5,"no_wait":true}"#).await;
    assert_eq!(bench.brief(), ["1.1.1+9", "1.2.2+8"]);
    bench.ack(&ack(1, 1, 1), "", "").await;
    assert_eq!(bench.brief(), ["1.3.3+7"]);
}

#[actix_rt::test]
async fn a_confirmed_ack_is_durable() {
    let bench = Bench::new(explicit(), &TEN).await;
    bench.pull("in", "2").await;
    bench.seen();
    bench.world().hold_saves = true;
    bench.ack(&ack(1, 1, 1), "r", "+ACK").await;
    assert!(bench.brief().is_empty(), "not yet");
    bench.ack(&ack(1, 1, 1), "again", "+ACK").await;
    assert!(bench.brief().is_empty(), "no more durable than the first");
    let held = std::mem::take(&mut bench.world().held);
    bench.world().hold_saves = false;
    for ticket in held {
        bench.consumer.send(Saved { ticket, ok: true });
    }
    bench.settle().await;
    assert_eq!(bench.brief(), ["empty to r", "empty to again"]);
}

#[actix_rt::test]
async fn after_a_failed_save_all_is_saved() {
    let bench = Bench::with(explicit(), &TEN, |birth| birth.retention = Retention::WorkQueue).await;
    bench.pull("in", "3").await;
    bench.seen();
    bench.world().fail_saves = true;
    bench.ack(&ack(1, 1, 1), "r", "+ACK").await;
    assert!(bench.brief().is_empty());
    let saves = bench.world().saves;
    bench.settle().await;
    assert_eq!(bench.world().saves, saves, "not at once");
    bench.world().fail_saves = false;
    bench.pass(SECOND).await;
    let world = bench.world();
    assert_eq!((world.whole_saves, world.state.floor_stream, &world.settled[..]), (1, 1, &[1][..]));
}

#[actix_rt::test]
async fn a_message_that_is_deleted_is_terminated() {
    let mut bench = Bench::new(explicit(), &TEN).await;
    bench.listen("$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.S.c").await;
    bench.pull("in", "3").await;
    bench.seen();
    for seq in [1, 7] {
        bench.world().messages.remove(&seq);
        bench.consumer.send(Removed { seqs: [seq].into() });
    }
    bench.settle().await;
    let seen = bench.seen();
    assert!(seen[0].payload.contains("Unacknowledged message was deleted"));
    assert_eq!(seen.len(), 1);
    assert_eq!(bench.counts().await, json!([[3, 3], [1, 1], 2, 0, 0, 6]));
    bench.pull("in", "10").await;
    assert_eq!(
        bench.seen().iter().map(|s| s.payload.clone()).collect::<Vec<_>>(),
        ["m4", "m5", "m6", "m8", "m9", "m10"]
    );
}

#[test]
fn what_acknowledgements_say() {
    assert_eq!(AckVerb::parse(b""), AckVerb::Ack);
    assert_eq!(AckVerb::parse(b"+ACK "), AckVerb::Unknown);
    assert_eq!(AckVerb::parse(b"-NAK"), AckVerb::Nak(None));
    assert_eq!(AckVerb::parse(b"-NAKfoo"), AckVerb::Nak(None));
    assert_eq!(AckVerb::parse(br#"-NAK {"delay":5}"#), AckVerb::Nak(Some(5)));
    assert_eq!(AckVerb::parse(br#"-NAK {"delay":"300ms"}"#), AckVerb::Nak(None));
    assert_eq!(AckVerb::parse(b"-NAK 300ms"), AckVerb::Nak(Some(300 * MS)));
    assert_eq!(AckVerb::parse(b"+TERM because reasons "), AckVerb::Term(b"because reasons"));
    assert_eq!(AckVerb::parse(b"+NXT {}"), AckVerb::Next(b" {}"));
    assert_eq!(AckNumbers::parse(b"1.2.3.4.5"), AckNumbers { delivered: 1, stream: 2, consumer: 3 });
    assert_eq!(AckNumbers::parse(b"1.x").stream, u64::MAX);
    assert_eq!(AckNumbers::parse(b"1.99999999999999999999").stream, u64::MAX);
}

proptest! {
    #[test]
    fn any_acknowledgement_is_taken_calmly(subject in proptest::collection::vec(any::<u8>(), 0..40),
                                           body in proptest::collection::vec(any::<u8>(), 0..40)) {
        let _ = AckNumbers::parse(&subject);
        let _ = AckVerb::parse(&body);
    }

    #[test]
    fn numbers_are_read_back(delivered: u64, stream: u64, consumer: u64) {
        let text = format!("{delivered}.{stream}.{consumer}.1.2");
        prop_assert_eq!(AckNumbers::parse(text.as_bytes()), AckNumbers { delivered, stream, consumer });
    }
}

#[actix_rt::test]
async fn acknowledged_late_it_goes_unused_from_then_on() {
    let config = json!({"ack_policy": "explicit", "ack_wait": 60 * SECOND, "inactive_threshold": SECOND});
    let bench = Bench::new(config, &["s"]).await;
    bench.pull("in", "1").await;
    // It has been looked at meanwhile, and kept, for the message may yet be acknowledged.
    bench.pass(5 * SECOND).await;
    assert!(!bench.world().expired);
    bench.ack(&ack(1, 1, 1), "r", "+ACK").await;
    bench.pass(SECOND).await;
    assert!(!bench.world().expired);
    bench.pass(SECOND).await;
    assert!(bench.world().expired);
}
