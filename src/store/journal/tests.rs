use super::load::{load, read_slots};
use super::*;
use crate::store::record::{encode_change, encode_message, stored_message};
use crate::store::sled::{Model, Replay};
use crate::store::{Change, Draft, StreamId};
use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

fn options(dir: &Path) -> JournalOptions {
    JournalOptions { dir: dir.to_path_buf(), first_slot: 16 << 10, slot: 64 << 10 }
}

fn open(dir: &Path) -> Journal {
    let found = load(dir).unwrap();
    Journal::begin(options(dir), found.ring, found.ring_file, found.free, found.next_id)
}

fn message(seq: u64, payload: &[u8]) -> Bytes {
    let mut entry = BytesMut::new();
    encode_message(&mut entry, &Draft { seq, timestamp: 5, subject: b"s", headers: [b"h", b"i"], payload });
    entry.freeze()
}

fn change(change: &Change) -> Bytes {
    let mut entry = BytesMut::new();
    encode_change(&mut entry, change);
    entry.freeze()
}

fn create(stream: u64) -> Group {
    let mut group = Group::new(StreamId(stream));
    let (account, name) = ("A".to_string(), format!("S{stream}"));
    let entry = change(&Change::Create { account, name, config: Bytes::new(), created: 1 });
    // Twice, as streams write it.
    group.push(entry.clone(), None, false);
    group.push(entry, None, false);
    group
}

fn payload(seq: u64, size: usize) -> Vec<u8> {
    seq.to_le_bytes().repeat(size / 8 + 1)
}

/// What recovery finds: sequences and payloads by stream.
fn recover(dir: &Path) -> (Replay, Scan, BTreeMap<(u64, u64), Vec<u8>>) {
    let found = load(dir).unwrap();
    let mut replay = Replay::new(Model::default());
    let slots = read_slots(dir, &found.ring, 0);
    let scan = scan::scan(&slots, found.ring.key, 0, |event| replay.take(event));
    let mut messages = BTreeMap::new();
    for (stream, tail) in &replay.fresh {
        for (seq, entry) in tail.iter() {
            let message = stored_message(seq, entry).expect("its checksum holds");
            messages.insert((*stream, seq), message.payload().to_vec());
        }
    }
    (replay, scan, messages)
}

/// Writes rounds of commits: of each, the stream, and the sizes of its messages.
fn write(dir: &Path, rounds: &[Vec<(u64, Vec<usize>)>]) -> BTreeMap<(u64, u64), Vec<u8>> {
    let mut journal = open(dir);
    let mut written = BTreeMap::new();
    let mut last: BTreeMap<u64, u64> = BTreeMap::new();
    for stream in 0..3 {
        assert_eq!(journal.write([create(stream)].iter()).unwrap(), 1);
    }
    for round in rounds {
        let groups: Vec<Group> = round
            .iter()
            .map(|(stream, sizes)| {
                let mut group = Group::new(StreamId(*stream));
                for size in sizes {
                    let last = last.entry(*stream).or_default();
                    *last += 1;
                    let payload = payload(*last, *size);
                    group.push(message(*last, &payload), Some(*last), false);
                    written.insert((*stream, *last), payload);
                }
                group
            })
            .collect();
        let mut rest = &groups[..];
        while !rest.is_empty() {
            rest = &rest[journal.write(rest.iter()).unwrap()..];
        }
        journal.sync().unwrap();
    }
    journal.mark().unwrap();
    written
}

fn rounds() -> impl Strategy<Value = Vec<Vec<(u64, Vec<usize>)>>> {
    let commit = (0u64..3, proptest::collection::vec(0usize..3000, 1..6));
    proptest::collection::vec(proptest::collection::vec(commit, 1..4), 1..12)
}

/// The slot files, with how much of each is in use.
fn slots(dir: &Path) -> Vec<(std::path::PathBuf, usize)> {
    let ring = load(dir).unwrap().ring;
    let used = |slot: &SlotEntry| {
        let path = slot::slot_path(dir, slot.id);
        let bytes = std::fs::read(&path).unwrap();
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        (path, used)
    };
    ring.slots.iter().map(used).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_was_written_is_read(rounds in rounds()) {
        let dir = tempfile::tempdir().unwrap();
        let written = write(dir.path(), &rounds);
        let (replay, scan, found) = recover(dir.path());
        prop_assert_eq!(found, written);
        prop_assert_eq!((scan.torn, replay.unreadable, replay.damage.len()), (0, 0, 0));
    }

    #[test]
    fn a_flipped_bit_costs_one_message_and_is_told(rounds in rounds(), place in any::<prop::sample::Index>(), bit in 0u8..8) {
        let dir = tempfile::tempdir().unwrap();
        let written = write(dir.path(), &rounds);
        let slots = slots(dir.path());
        let total: usize = slots.iter().map(|slot| slot.1).sum();
        let mut at = place.index(total);
        let (path, _) = slots.iter().find(|(_, used)| if at < *used { true } else { at -= used; false }).unwrap();
        let mut bytes = std::fs::read(path).unwrap();
        bytes[at] ^= 1 << bit;
        std::fs::write(path, bytes).unwrap();

        let (replay, _, found) = recover(dir.path());
        for (key, payload) in &found {
            prop_assert_eq!(Some(payload), written.get(key), "never other bytes than were written");
        }
        let missing: Vec<_> = written.keys().filter(|key| !found.contains_key(*key)).collect();
        let told = |key: &(u64, u64)| replay.damage.iter().any(|(stream, range, _)| *stream == key.0 && range.contains(&key.1));
        prop_assert!(missing.len() <= 1, "one bit, one message: {:?}", missing);
        prop_assert!(missing.iter().all(|key| told(key)), "{:?} told as {:?}", missing, replay.damage);
    }

    #[test]
    fn a_journal_cut_anywhere_opens_with_what_is_before_the_cut(rounds in rounds(), place in any::<prop::sample::Index>()) {
        let dir = tempfile::tempdir().unwrap();
        let written = write(dir.path(), &rounds);
        let slots = slots(dir.path());
        let (path, used) = slots.last().unwrap();
        let cut = place.index(*used);
        std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(cut as u64).unwrap();
        let (_, _, found) = recover(dir.path());
        for (key, payload) in &found {
            prop_assert_eq!(Some(payload), written.get(key));
        }
        // It goes on, and nothing of the cut tail comes back.
        let mut journal = open_behind(dir.path());
        let mut group = Group::new(StreamId(0));
        group.push(message(1 << 40, b"after"), Some(1 << 40), false);
        journal.write([group].iter()).unwrap();
        journal.sync().unwrap();
        let (_, _, again) = recover(dir.path());
        prop_assert_eq!(again.len(), found.len() + again.contains_key(&(0, 1 << 40)) as usize);
    }
}

/// As the store opens a journal: behind what could be read.
fn open_behind(dir: &Path) -> Journal {
    let mut found = load(dir).unwrap();
    let slots = read_slots(dir, &found.ring, 0);
    let scan = scan::scan(&slots, found.ring.key, 0, |_| {});
    if let Some(last) = found.ring.slots.last_mut() {
        last.end.get_or_insert(scan.end.max(last.base));
    }
    found.ring.next_base = found.ring.next_base.max(scan.end);
    Journal::begin(options(dir), found.ring, found.ring_file, found.free, found.next_id)
}

#[test]
fn an_unsynced_round_that_is_torn_is_dropped_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = open(dir.path());
    journal.write([create(0)].iter()).unwrap();
    journal.sync().unwrap();
    let mut group = Group::new(StreamId(0));
    for seq in 1..=3 {
        group.push(message(seq, b"torn"), Some(seq), false);
    }
    journal.write([group].iter()).unwrap();
    let (path, used) = slots(dir.path()).remove(0);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[used - 80] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let (replay, scan, found) = recover(dir.path());
    assert_eq!((found.len(), scan.torn, replay.damage.len()), (0, 1, 0));
}

#[test]
fn what_was_abandoned_never_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = open(dir.path());
    journal.write([create(0)].iter()).unwrap();
    journal.sync().unwrap();
    let position = journal.position();
    let group = |seq, text: &[u8]| {
        let mut group = Group::new(StreamId(0));
        group.push(message(seq, text), Some(seq), false);
        group
    };
    journal.write([group(1, b"failed")].iter()).unwrap();
    journal.abandon(position).unwrap();
    journal.write([group(1, b"retried")].iter()).unwrap();
    journal.sync().unwrap();
    let (_, _, found) = recover(dir.path());
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [((0, 1), b"retried".to_vec())]);
}

#[test]
fn released_slots_are_used_again_and_their_stale_frames_are_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = open(dir.path());
    journal.write([create(0)].iter()).unwrap();
    for seq in 1..=400u64 {
        let mut group = Group::new(StreamId(0));
        group.push(message(seq, &[7; 1000]), Some(seq), false);
        journal.write([group].iter()).unwrap();
        journal.sync().unwrap();
        if seq % 50 == 0 {
            journal.release(journal.position());
        }
    }
    let files = std::fs::read_dir(dir.path()).unwrap().count();
    assert!(files <= 6, "{files} files for a journal whose slots are released");
    let found = load(dir.path()).unwrap();
    let slots = read_slots(dir.path(), &found.ring, 0);
    let mut seqs = Vec::new();
    scan::scan(&slots, found.ring.key, 0, |event| {
        if let scan::Event::Frame(frame) = event {
            seqs.push(frame.head.last_seq);
        }
    });
    assert!(seqs.is_sorted() && seqs.last() == Some(&400), "{seqs:?}");
}

#[test]
fn a_lost_ring_file_is_found_out_from_the_slots() {
    let dir = tempfile::tempdir().unwrap();
    let written = write(dir.path(), &vec![vec![(0, vec![2000; 4]), (1, vec![10])]; 12]);
    std::fs::remove_file(dir.path().join("ring")).unwrap();
    assert_eq!(recover(dir.path()).2, written);
}
