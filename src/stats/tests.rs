use super::report::{ActorReport, Summary};
use super::request::{MAX_LIMIT, Query, Sort};
use super::subjects::{Audience, SYSTEM_PREFIX, token};
use crate::account::AccountId;
use crate::actor::{Measures, Snapshot};
use serde_json::json;

fn report(kind: &'static str, name: &str, depth: u64, p99_ns: u64) -> ActorReport {
    let measures = Measures { depth, depth_max: depth, p99_ns, max_ns: p99_ns, handled: 1, ..Measures::default() };
    let snapshot = Snapshot { round: 1, kind, name: name.into(), measures, state: json!({}) };
    ActorReport::new("s", snapshot, 5, &super::registry::Registry::default())
}

#[test]
fn names_become_tokens() {
    assert_eq!(token("a.b c*>"), "a_b_c__");
    assert_eq!(token(""), "_");
}

#[test]
fn an_audience_is_made_from_the_setting() {
    let audience = Audience::from_setting(AccountId::GLOBAL, "postroom.stats.>");
    assert_eq!(audience.subject("router", "0"), "postroom.stats.router.0");
    let system = Audience { account: AccountId::SYSTEM, prefix: SYSTEM_PREFIX.into() };
    assert_eq!(system.summary(), "$SYS.ACTORS.SUMMARY");
}

#[test]
fn queries_are_read_strictly() {
    assert_eq!(Query::parse(b" \n").unwrap(), Query::default());
    let query = Query::parse(br#"{"kind":"stream","sort":"time","limit":5000}"#).unwrap();
    assert_eq!((query.sort, query.limit()), (Sort::Time, MAX_LIMIT));
    assert!(query.wants("stream", "x") && !query.wants("router", "x"));
    assert!(Query::parse(br#"{"knd":"stream"}"#).unwrap_err().contains("unknown field"));
    assert!(Query::parse(br#"{"sort":"age"}"#).is_err());
}

#[test]
fn a_query_arranges() {
    let mut all = vec![report("b", "x", 1, 9), report("a", "y", 3, 1), report("a", "x", 2, 5)];
    let names = |all: &[ActorReport]| all.iter().map(|r| format!("{}.{}", r.kind, r.name)).collect::<Vec<_>>();
    Query::default().arrange(&mut all);
    assert_eq!(names(&all), ["a.x", "a.y", "b.x"]);
    Query { sort: Sort::Depth, ..Query::default() }.arrange(&mut all);
    assert_eq!(names(&all), ["a.y", "a.x", "b.x"]);
    Query { sort: Sort::Time, limit: Some(1), ..Query::default() }.arrange(&mut all);
    assert_eq!(names(&all), ["b.x"]);
}

#[test]
fn the_roll_up_names_the_worst() {
    let mut summary = Summary::new("s");
    summary.add(&report("stream", "slow", 1, 90));
    summary.add(&report("stream", "deep", 7, 10));
    summary.add_silent("stream");
    let kind = &summary.kinds["stream"];
    assert_eq!((kind.actors, kind.silent, kind.depth, kind.handled), (3, 1, 8, 2));
    assert_eq!((kind.deepest.as_str(), kind.slowest.as_str()), ("deep", "slow"));
    assert_eq!((summary.actors, kind.lag_max_ns), (3, 5));
}
