use super::*;
use crate::actor::House;
use crate::actor::ear::ear;
use bytes::Bytes;
use tokio::sync::mpsc::UnboundedReceiver;

struct Ears {
    committed: UnboundedReceiver<Committed>,
    fetched: UnboundedReceiver<Fetched>,
    sealed: UnboundedReceiver<Sealed>,
}

fn port() -> (StorePort, Ears) {
    let (committed, heard_committed) = ear();
    let (fetched, heard_fetched) = ear();
    let (sealed, heard_sealed) = ear();
    let (damaged, _) = ear();
    let port = StorePort { committed, fetched, sealed, damaged };
    (port, Ears { committed: heard_committed, fetched: heard_fetched, sealed: heard_sealed })
}

fn draft<'a>(seq: u64, payload: &'a [u8]) -> Draft<'a> {
    Draft { seq, timestamp: seq as i64 * 1000, subject: b"a.b", headers: [b"", b""], payload }
}

fn create(name: &str) -> Change {
    Change::Create { account: "A".into(), name: name.into(), config: Bytes::from_static(b"{}"), created: 7 }
}

async fn commit(stream: &mut dyn StreamStore, ears: &mut Ears, ticket: u64) {
    assert_eq!(stream.commit(ticket), Commitment::Underway);
    let committed = ears.committed.recv().await.expect("answered");
    assert_eq!(committed.ticket, ticket);
    committed.result.expect("committed");
}

async fn close(store: Store) {
    let (done, mut heard) = ear();
    store.close(done);
    heard.recv().await.expect("closed");
}

fn options(dir: &std::path::Path) -> Options {
    Options { slot_bytes: 1 << 20, first_slot_bytes: 256 << 10, ..Options::new(dir) }
}

/// A store as a killed process leaves it: a copy of its files.
fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        let target = to.join(file.file_name());
        match file.file_type().unwrap().is_dir() {
            true => copy(&file.path(), &target),
            false => drop(std::fs::copy(file.path(), target).unwrap()),
        }
    }
}

#[actix_rt::test]
async fn what_was_committed_is_there_after_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let (store, found) = open(&options(&dir.path().join("a")), &House::default()).unwrap();
    assert_eq!((found.streams.len(), found.next_stream), (0, StreamId(1)));
    let (port, mut ears) = port();
    let mut stream = store.stream(StreamId(1), Hot::default(), port);
    stream.stage(create("S"));
    commit(&mut *stream, &mut ears, 1).await;
    for seq in 1..=2000u64 {
        let message = stream.append(draft(seq, &seq.to_be_bytes().repeat(seq as usize % 200)));
        assert_eq!(message.payload().len(), 8 * (seq as usize % 200));
    }
    let state = ConsumerState { delivered_stream: 3, ..ConsumerState::default() };
    let consumer = ConsumerId(1);
    stream.stage(Change::CreateConsumer { consumer, name: "c".into(), config: Bytes::new(), created: 9, state });
    commit(&mut *stream, &mut ears, 2).await;
    stream.stage(Change::Remove { seqs: vec![5, 7] });
    stream.stage(Change::Advance { first: 3, last: 2000, last_timestamp: 2_000_000 });
    commit(&mut *stream, &mut ears, 3).await;
    copy(&dir.path().join("a"), &dir.path().join("b"));

    let (again, found) = open(&options(&dir.path().join("b")), &House::default()).unwrap();
    let [recovered] = &found.streams[..] else { panic!("one stream") };
    assert_eq!((recovered.name.as_str(), recovered.first, recovered.last), ("S", 3, 2000));
    assert_eq!(recovered.index.len(), 1996);
    assert!(recovered.lost.is_empty());
    assert_eq!(recovered.consumers[0].state.delivered_stream, 3);
    let hot = &recovered.hot.0;
    assert!(hot.get(5).is_none());
    assert_eq!(hot.get(2000).unwrap().payload(), 2000u64.to_be_bytes().repeat(0));
    assert_eq!(hot.get(1999).unwrap().payload(), 1999u64.to_be_bytes().repeat(199));
    close(again).await;
    close(store).await;
    drop(ears.fetched);
    drop(ears.sealed);
}

#[actix_rt::test]
async fn a_second_opener_is_told_which_directory_is_in_use() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = open(&options(dir.path()), &House::default()).unwrap();
    let Err(error) = open(&options(dir.path()), &House::default()) else { panic!("opened twice") };
    assert!(matches!(error, OpenError::InUse { .. }) && error.to_string().contains(&*dir.path().to_string_lossy()));
    close(store).await;
    assert!(open(&options(dir.path()), &House::default()).is_ok(), "free again after it was closed");
}

#[actix_rt::test]
async fn foreign_directories_and_newer_formats_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("holiday.jpg"), b"x").unwrap();
    assert!(matches!(open(&options(dir.path()), &House::default()), Err(OpenError::Foreign { .. })));
    std::fs::remove_file(dir.path().join("holiday.jpg")).unwrap();
    std::fs::write(dir.path().join("FORMAT"), b"postroom store 99\n").unwrap();
    assert!(matches!(open(&options(dir.path()), &House::default()), Err(OpenError::Newer { found: 99, .. })));
}

#[actix_rt::test]
async fn what_is_sealed_is_read_from_volumes() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = open(&options(dir.path()), &House::default()).unwrap();
    let (port, mut ears) = port();
    let mut stream = store.stream(StreamId(1), Hot::default(), port);
    stream.stage(create("S"));
    for seq in 1..=3000u64 {
        stream.append(draft(seq, &seq.to_be_bytes().repeat(seq as usize % 200)));
    }
    commit(&mut *stream, &mut ears, 1).await;
    stream.stage(Change::Remove { seqs: vec![17] });
    commit(&mut *stream, &mut ears, 2).await;
    close(store).await;
    assert_eq!(ears.sealed.recv().await.unwrap().last, 3000);
    stream.sealed(&Sealed { last: 3000 });
    assert_eq!(stream.hot_bytes(), 0);

    let (store, found) = open(&options(dir.path()), &House::default()).unwrap();
    let [recovered] = &found.streams[..] else { panic!("one stream") };
    assert_eq!((recovered.first, recovered.last, recovered.index.len()), (1, 3000, 2999));
    assert!(recovered.hot.0.is_empty(), "all of it lies in a volume");
    let (port, mut ears) = self::port();
    let mut stream = store.stream(StreamId(1), Hot::default(), port);
    assert!(matches!(stream.get(5), Lookup::Elsewhere));
    stream.fetch(9, vec![5, 3000, 2999, 4000]);
    let fetched = ears.fetched.recv().await.unwrap();
    let payload = |at: usize| fetched.messages[at].as_ref().unwrap().payload().to_vec();
    assert_eq!(payload(0), 5u64.to_be_bytes().repeat(5));
    assert_eq!(payload(2), 2999u64.to_be_bytes().repeat(199));
    assert_eq!(fetched.messages[3].as_ref().unwrap_err(), &Missing { seq: 4000, damaged: false });
    // What comes after the seal is hot, and goes to a second volume.
    for seq in 3001..=3100u64 {
        stream.append(draft(seq, b"later"));
    }
    stream.stage(Change::Advance { first: 2000, last: 3100, last_timestamp: 1 });
    commit(&mut *stream, &mut ears, 3).await;
    close(store).await;
    let (store, found) = open(&options(dir.path()), &House::default()).unwrap();
    let [recovered] = &found.streams[..] else { panic!("one stream") };
    assert_eq!((recovered.first, recovered.last, recovered.index.len()), (2000, 3100, 1101));
    close(store).await;
}

/// Prints rates; `cargo test --profile quick --lib store::tests::rates -- --ignored --nocapture`.
#[actix_rt::test]
#[ignore = "a measurement"]
async fn rates() {
    let dir = tempfile::tempdir_in(std::env::var("STORE_DIR").unwrap_or(".".into())).unwrap();
    let (store, _) = open(&Options::new(dir.path()), &House::default()).unwrap();
    let (port, mut ears) = port();
    let mut stream = store.stream(StreamId(1), Hot::default(), port);
    stream.stage(create("S"));
    commit(&mut *stream, &mut ears, 0).await;
    let mut took = Vec::new();
    let mut seq = 0;
    for ticket in 1..=1000 {
        seq += 1;
        let begun = std::time::Instant::now();
        stream.append(draft(seq, &[7; 128]));
        commit(&mut *stream, &mut ears, ticket).await;
        took.push(begun.elapsed().as_micros());
    }
    took.sort_unstable();
    println!("one at a time: p50 {} us, p99 {} us", took[500], took[990]);
    for (size, in_flight, batch, total) in
        [(128, 4000, 64, 1_000_000u64), (1024, 4000, 64, 200_000), (16384, 400, 16, 20_000)]
    {
        let payload = vec![7; size];
        let begun = std::time::Instant::now();
        let (mut sent, mut acked, mut ticket) = (0, 0, 10_000);
        while acked < total {
            while sent < total && sent - acked < in_flight {
                for _ in 0..batch {
                    seq += 1;
                    stream.append(draft(seq, &payload));
                }
                sent += batch;
                ticket += 1;
                stream.commit(ticket);
            }
            ears.committed.recv().await.unwrap().result.unwrap();
            acked += batch;
            while let Ok(committed) = ears.committed.try_recv() {
                committed.result.unwrap();
                acked += batch;
            }
            while let Ok(sealed) = ears.sealed.try_recv() {
                stream.sealed(&sealed);
            }
        }
        let rate = total as f64 / begun.elapsed().as_secs_f64();
        println!("{size} B, {in_flight} in flight: {rate:.0} msgs/s, hot {} MB", stream.hot_bytes() >> 20);
    }
    let killed = dir.path().with_extension("killed");
    copy(dir.path(), &killed);
    let begun = std::time::Instant::now();
    let (again, found) = open(&Options::new(&killed), &House::default()).unwrap();
    println!("open after a kill: {:?}, {} messages", begun.elapsed(), found.streams[0].index.len());
    let begun = std::time::Instant::now();
    close(again).await;
    println!("close: {:?}", begun.elapsed());
    std::fs::remove_dir_all(&killed).unwrap();
    close(store).await;
}

#[actix_rt::test]
async fn a_stream_can_be_read_anew_while_the_store_is_open() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = open(&options(dir.path()), &House::default()).unwrap();
    let (port, mut ears) = port();
    let mut stream = store.stream(StreamId(1), Hot::default(), port.clone());
    stream.stage(create("S"));
    for seq in 1..=10u64 {
        stream.append(draft(seq, b"hello"));
    }
    commit(&mut *stream, &mut ears, 1).await;
    // A message that its stream no longer has in memory, for a removal that was never committed.
    stream.stage(Change::Remove { seqs: vec![4] });
    stream.roll_back(11);
    assert!(matches!(stream.get(4), Lookup::Elsewhere));
    stream.fetch(2, vec![4]);
    assert_eq!(ears.fetched.recv().await.unwrap().messages[0].as_ref().unwrap().payload(), b"hello");
    drop(stream);

    let (done, mut heard) = ear();
    store.recover(StreamId(1), done.clone());
    let found = heard.recv().await.unwrap().0.unwrap().expect("it is there");
    assert_eq!((found.first, found.last, found.index.len()), (1, 10, 10));
    assert_eq!(found.hot.0.len(), 10);
    store.recover(StreamId(2), done);
    assert!(heard.recv().await.unwrap().0.unwrap().is_none());
    close(store).await;
}

#[actix_rt::test]
async fn a_refused_commit_refuses_what_follows_until_the_stream_has_learned_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = open(&options(dir.path()), &House::default()).unwrap();
    let (port, mut ears) = port();
    let mut stream = store.stream(StreamId(1), Hot::default(), port);
    stream.stage(create("S"));
    commit(&mut *stream, &mut ears, 1).await;
    // No room for a slot that holds this: the directory is gone.
    let journal = dir.path().join("journal");
    let aside = dir.path().join("journal-aside");
    std::fs::rename(&journal, &aside).unwrap();
    stream.append(draft(1, &vec![0; 2 << 20]));
    stream.commit(2);
    stream.append(draft(2, b"small"));
    stream.commit(3);
    for ticket in [2, 3] {
        let committed = ears.committed.recv().await.unwrap();
        assert_eq!(committed.ticket, ticket);
        committed.result.unwrap_err();
    }
    stream.roll_back(1);
    std::fs::rename(&aside, &journal).unwrap();
    stream.append(draft(1, b"again"));
    commit(&mut *stream, &mut ears, 4).await;
    close(store).await;
    let (store, found) = open(&options(dir.path()), &House::default()).unwrap();
    assert_eq!((found.streams[0].last, found.streams[0].index.len()), (1, 1));
    close(store).await;
}

/// Commits batches of messages, as many at a time as fit, until all are acknowledged.
async fn fill(stream: &mut dyn StreamStore, ears: &mut Ears, seqs: std::ops::RangeInclusive<u64>, size: usize) {
    let (first, last) = (*seqs.start(), *seqs.end());
    let mut underway = 0;
    let mut hear = async |stream: &mut dyn StreamStore| {
        ears.committed.recv().await.expect("answered").result.expect("committed");
        while let Ok(sealed) = ears.sealed.try_recv() {
            stream.sealed(&sealed);
        }
    };
    for seq in first..=last {
        stream.append(draft(seq, &seq.to_be_bytes().repeat(size / 8)));
        if seq % 16 == 0 || seq == last {
            stream.commit(seq);
            underway += 1;
        }
        if underway > 8 {
            hear(stream).await;
            underway -= 1;
        }
    }
    for _ in 0..underway {
        hear(stream).await;
    }
}

#[actix_rt::test]
async fn at_rest_the_journal_holds_no_slots_and_positions_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let slots = || {
        let files = std::fs::read_dir(dir.path().join("journal")).unwrap();
        files.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with("slot-")).count()
    };
    let mut position = 0;
    for round in 0..3u64 {
        let (store, found) = open(&options(dir.path()), &House::default()).unwrap();
        assert_eq!(slots(), 0, "the first write begins a slot");
        assert_eq!(found.streams.first().map_or(0, |stream| stream.index.len()), 100 * round as usize);
        let (port, mut ears) = port();
        let mut stream = store.stream(StreamId(1), Hot::default(), port);
        stream.stage(create("S"));
        fill(&mut *stream, &mut ears, 100 * round + 1..=100 * round + 100, 64).await;
        assert!(slots() > 0);
        close(store).await;
        assert_eq!(slots(), 0);
        let ring = journal::load::load(&dir.path().join("journal")).unwrap().ring;
        assert!(ring.slots.is_empty() && ring.next_base > position);
        position = ring.next_base;
    }
}

#[actix_rt::test]
async fn with_an_interval_commits_are_written_at_once_and_synced_later() {
    let dir = tempfile::tempdir().unwrap();
    let sync = SyncMode::Interval(std::time::Duration::from_secs(3600));
    let options = |name: &str| Options { sync, ..options(&dir.path().join(name)) };
    let (store, _) = open(&options("a"), &House::default()).unwrap();
    let (port, mut ears) = port();
    let mut stream = store.stream(StreamId(1), Hot::default(), port);
    stream.stage(create("S"));
    fill(&mut *stream, &mut ears, 1..=500, 64).await;
    copy(&dir.path().join("a"), &dir.path().join("b"));
    let (again, found) = open(&options("b"), &House::default()).unwrap();
    assert_eq!(found.streams[0].index.len(), 500, "a killed process loses nothing");
    close(again).await;
    close(store).await;
}

#[actix_rt::test]
async fn what_streams_hold_is_bounded_while_commits_wait_for_the_sealer() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { hot_bytes: 2 << 20, ..options(dir.path()) };
    let (store, _) = open(&options, &House::default()).unwrap();
    let (port, mut ears) = port();
    let mut stream = store.stream(StreamId(1), Hot::default(), port);
    stream.stage(create("S"));
    let mut most = 0;
    for round in 0..16u64 {
        fill(&mut *stream, &mut ears, 1000 * round + 1..=1000 * round + 1000, 1024).await;
        most = most.max(stream.hot_bytes());
    }
    // What is hot, a slot's worth that is being sealed, and what was committed before its stream heard of a seal.
    assert!(most < 6 << 20, "{most} bytes of 16 MB are in memory");
    close(store).await;
    let (store, found) = open(&options, &House::default()).unwrap();
    let [recovered] = &found.streams[..] else { panic!("one stream") };
    let missing: Vec<u64> = (1..=16_000).filter(|seq| !recovered.index.iter().any(|entry| entry.seq == *seq)).collect();
    assert_eq!((recovered.index.len(), sled::library::ranges(missing.into_iter())), (16_000, vec![]));
    close(store).await;
}

#[actix_rt::test]
async fn small_volumes_are_merged() {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..7u64 {
        let (store, found) = open(&options(dir.path()), &House::default()).unwrap();
        assert_eq!(found.streams.first().map_or(0, |stream| stream.index.len()), 10 * round as usize);
        let (port, mut ears) = port();
        let mut stream = store.stream(StreamId(1), Hot::default(), port);
        stream.stage(create("S"));
        fill(&mut *stream, &mut ears, 10 * round + 1..=10 * round + 10, 64).await;
        close(store).await;
    }
    let (store, _) = open(&options(dir.path()), &House::default()).unwrap();
    let volumes = std::fs::read_dir(dir.path().join("volumes")).unwrap().count();
    assert!(volumes <= 2, "{volumes} volumes for 70 messages");
    close(store).await;
}

/// A step of a stream's life.
#[derive(Clone, Debug)]
enum Step {
    Append(u8),
    Remove(Vec<u64>),
    Advance(u64),
    RemoveRange(u64, u64),
    Reopen,
    Kill,
}

fn steps() -> impl proptest::strategy::Strategy<Value = Vec<Step>> {
    use proptest::prelude::*;
    let step = prop_oneof![
        6 => (1u8..40).prop_map(Step::Append),
        3 => proptest::collection::vec(1u64..200, 1..6).prop_map(Step::Remove),
        1 => (1u64..100).prop_map(Step::Advance),
        2 => (1u64..200, 1u64..20).prop_map(|(from, length)| Step::RemoveRange(from, length)),
        2 => Just(Step::Reopen),
        1 => Just(Step::Kill),
    ];
    proptest::collection::vec(step, 1..16)
}

/// Goes through the steps; after each reopening the store must tell and give what a plain map holds.
async fn live(steps: Vec<Step>) {
    let dir = tempfile::tempdir().unwrap();
    let mut home = dir.path().join("0");
    let mut model = std::collections::BTreeMap::new();
    let (mut last, mut ticket) = (0u64, 0);
    let mut killed = Vec::new();
    let (mut store, _) = open(&options(&home), &House::default()).unwrap();
    let (port, mut ears) = port();
    let mut stream = store.stream(StreamId(1), Hot::default(), port);
    stream.stage(create("S"));
    for (number, step) in steps.into_iter().chain([Step::Kill, Step::Reopen]).enumerate() {
        match &step {
            Step::Append(count) => {
                for _ in 0..*count {
                    last += 1;
                    let payload = last.to_be_bytes().repeat(last as usize % 50);
                    stream.append(draft(last, &payload));
                    model.insert(last, payload);
                }
            }
            Step::Remove(seqs) => {
                model.retain(|seq, _| !seqs.contains(seq));
                stream.stage(Change::Remove { seqs: seqs.clone() });
            }
            Step::Advance(first) => {
                let first = *(first.min(&(last + 1)));
                model.retain(|seq, _| *seq >= first);
                stream.stage(Change::Advance { first, last, last_timestamp: 1 });
            }
            Step::RemoveRange(from, length) => {
                let range = *from..from + length;
                model.retain(|seq, _| !range.contains(seq));
                stream.stage(Change::RemoveRanges { ranges: vec![range] });
            }
            Step::Reopen | Step::Kill => {}
        }
        if stream.is_dirty() {
            ticket += 1;
            commit(&mut *stream, &mut ears, ticket).await;
        }
        match step {
            Step::Reopen => close(store).await,
            Step::Kill => {
                let next = dir.path().join((number + 1).to_string());
                copy(&home, &next);
                home = next;
                killed.push(store);
            }
            _ => continue,
        }
        let (again, mut found) = open(&options(&home), &House::default()).unwrap();
        store = again;
        let recovered = found.streams.remove(0);
        assert!(recovered.index.iter().map(|entry| entry.seq).eq(model.keys().copied()));
        assert!(recovered.last == last && recovered.lost.is_empty());
        let (port, new_ears) = self::port();
        ears = new_ears;
        stream = store.stream(StreamId(1), recovered.hot, port);
        let elsewhere: Vec<u64> = model
            .keys()
            .copied()
            .filter(|seq| match stream.get(*seq) {
                Lookup::Here(message) => {
                    assert_eq!(message.payload(), model[seq]);
                    false
                }
                Lookup::Elsewhere => true,
            })
            .collect();
        stream.fetch(0, elsewhere.clone());
        for (seq, message) in elsewhere.iter().zip(ears.fetched.recv().await.unwrap().messages) {
            assert_eq!(message.unwrap().payload(), model[seq]);
        }
    }
    for store in killed.into_iter().chain([store]) {
        close(store).await;
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 3, ..Default::default() })]

    #[test]
    fn a_store_is_like_a_map_however_often_it_is_reopened(steps in steps()) {
        actix_rt::System::new().block_on(live(steps));
    }
}
