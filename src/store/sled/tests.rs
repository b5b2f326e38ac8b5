use super::block::{self, ReadBlock};
use super::library::{Library, Placed, Shelf};
use super::meta::volume_path;
use super::model::{Model, StreamModel, cut_out};
use crate::store::record::encode_message;
use crate::store::{Change, Draft};
use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn entry(seq: u64, size: usize) -> Bytes {
    let mut out = BytesMut::new();
    let payload = seq.to_le_bytes().repeat(size / 8 + 1);
    encode_message(&mut out, &Draft { seq, timestamp: 1, subject: b"x", headers: [b"", b""], payload: &payload });
    out.freeze()
}

fn model(last: u64) -> Model {
    let mut model = Model::default();
    model.apply(1, Change::Create { account: "A".into(), name: "S".into(), config: Bytes::new(), created: 1 });
    let stream = model.streams.get_mut(&1).unwrap();
    stream.last = last;
    model
}

/// A library with one volume that holds these messages of stream 1.
fn library(dir: &std::path::Path, seqs: &[u64], size: usize) -> Library {
    let mut library = Library::load(dir).unwrap();
    let entries: Vec<_> = seqs.iter().map(|seq| (*seq, entry(*seq, size))).collect();
    let records = entries.iter().filter_map(|(seq, entry)| block::record_of_entry(*seq, entry));
    let mut model = model(*seqs.last().unwrap());
    library.write_volume(&mut model, Placed::from([(1, block::build(1, records))])).unwrap();
    library.advance(model).unwrap();
    library
}

fn index(library: &Library) -> (Vec<u64>, Vec<u64>) {
    let (mut found, mut damaged) = (Vec::new(), Vec::new());
    let stream: &StreamModel = &library.model.streams[&1];
    library.index(&mut Shelf::default(), 1, stream, |(seq, entry)| match entry {
        Ok(_) => found.push(seq),
        Err(_) => damaged.push(seq),
    });
    (found, damaged)
}

fn largest_slab(dir: &std::path::Path) -> std::path::PathBuf {
    let slabs = volume_path(dir, 0).join("sled/slabs");
    let files = std::fs::read_dir(slabs).unwrap().map(|file| file.unwrap().path());
    files.max_by_key(|path| path.metadata().unwrap().len()).unwrap()
}

#[test]
fn a_flipped_bit_in_a_volume_costs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let seqs: Vec<u64> = (1..=2000).collect();
    drop(library(dir.path(), &seqs, 200));
    let largest = largest_slab(dir.path());
    let sound = std::fs::read(&largest).unwrap();
    let block = memchr::memmem::find(&sound, b"prB\x01").expect("blocks lie there as they are");
    // The frame of zstd, the head and table of a block, a record; each hid more than itself.
    for at in [1, 4, 6, 9, block, block + 5, block + 36, block + 50, block + 9000] {
        let mut bytes = sound.clone();
        bytes[at] ^= 4;
        std::fs::write(&largest, bytes).unwrap();
        let library = Library::load(dir.path()).unwrap();
        assert_eq!(index(&library), (seqs.clone(), vec![]), "byte {at}");
    }
}

#[test]
fn what_an_index_holds_is_a_copy() {
    let entries: Vec<_> = (1..=3).map(|seq| (seq, entry(seq, 100))).collect();
    let records = entries.iter().filter_map(|(seq, entry)| block::record_of_entry(*seq, entry));
    let bytes = block::build(1, records).remove(0).bytes;
    let block = ReadBlock::open(bytes.clone()).unwrap();
    let index: Vec<_> = block.index().into_iter().map(|(seq, entry)| (seq, entry.unwrap())).collect();
    drop(block);
    assert!(bytes.is_unique(), "the index holds on to the payloads");
    for (seq, entry) in index {
        assert_eq!((entry.seq, &entry.subject[..], &entry.headers[..]), (seq, &b"x"[..], &b""[..]));
        assert_eq!(entry.payload_len as usize, (100 / 8 + 1) * 8);
    }
}

#[test]
fn a_damaged_record_in_a_volume_costs_one_message() {
    let dir = tempfile::tempdir().unwrap();
    let seqs: Vec<u64> = (1..=2000).collect();
    drop(library(dir.path(), &seqs, 200));
    let largest = largest_slab(dir.path());
    let mut bytes = std::fs::read(&largest).unwrap();
    let record = 900u64.to_le_bytes().repeat(10);
    let at = memchr::memmem::find(&bytes, &record).expect("payloads lie there as they are") + 40;
    bytes[at] ^= 4;
    bytes[at + 2] ^= 1;
    std::fs::write(&largest, bytes).unwrap();
    let library = Library::load(dir.path()).unwrap();
    let (found, damaged) = index(&library);
    assert_eq!((found.len(), damaged), (1999, vec![900]));
}

#[test]
fn damaged_metadata_of_sled_is_put_back() {
    let dir = tempfile::tempdir().unwrap();
    let seqs: Vec<u64> = (1..=500).collect();
    drop(library(dir.path(), &seqs, 100));
    for file in std::fs::read_dir(volume_path(dir.path(), 0).join("sled/metadata")).unwrap() {
        let path = file.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.iter_mut().skip(3).step_by(7).for_each(|byte| *byte ^= 0x55);
        std::fs::write(&path, bytes).unwrap();
    }
    let library = Library::load(dir.path()).unwrap();
    assert_eq!(index(&library), (seqs, vec![]));
}

#[test]
fn lost_meta_is_rebuilt_from_volumes() {
    let dir = tempfile::tempdir().unwrap();
    let seqs: Vec<u64> = (1..=500).filter(|seq| seq % 7 != 0).collect();
    let before = library(dir.path(), &seqs, 100).model;
    std::fs::remove_dir_all(dir.path().join("meta")).unwrap();
    let rebuilt = Library::load(dir.path()).unwrap();
    assert_eq!(rebuilt.model, before);
    assert_eq!(index(&rebuilt), (seqs.clone(), vec![]));
    drop(rebuilt);
    std::fs::remove_file(dir.path().join("pointer")).unwrap();
    assert_eq!(index(&Library::load(dir.path()).unwrap()).0, seqs);
}

#[test]
fn a_volume_that_is_gone_is_told_and_the_store_opens() {
    let dir = tempfile::tempdir().unwrap();
    drop(library(dir.path(), &[1, 2, 3, 9], 100));
    std::fs::remove_dir_all(volume_path(dir.path(), 0)).unwrap();
    let library = Library::load(dir.path()).unwrap();
    let stream = &library.model.streams[&1];
    assert_eq!((stream.blocks.len(), stream.lost.clone()), (0, vec![1..=3, 9..=9]));
}

#[test]
fn what_is_found_damaged_twice_is_counted_once() {
    let mut model = model(100);
    let stream = model.streams.get_mut(&1).unwrap();
    stream.blocks.insert(1, super::model::Block { last: 100, bytes: 5000, volume: 0 });
    stream.lose_sealed(5..=9, 250);
    stream.lose_sealed(5..=9, 250);
    stream.lose_sealed(7..=7, 50);
    stream.lose(6..=6, 50);
    assert_eq!((stream.lost_bytes, stream.lost.clone()), (250, vec![5..=9]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn blocks_give_back_what_was_put_in(gaps in proptest::collection::vec((prop_oneof![9 => 1u64..4, 1 => 65_000u64..66_000], 0usize..5000), 1..80)) {
        let mut seq = 0;
        let entries: Vec<_> = gaps.iter().map(|(gap, size)| { seq += gap; (seq, entry(seq, *size)) }).collect();
        let records = entries.iter().filter_map(|(seq, entry)| block::record_of_entry(*seq, entry));
        let blocks = block::build(7, records);
        let mut found = Vec::new();
        for new in blocks {
            let block = ReadBlock::open(new.bytes).unwrap();
            prop_assert_eq!((block.stream, block.first, block.last), (7, new.first, new.last));
            for (seq, record) in block.records() {
                found.push((seq, record.unwrap().2.to_vec()));
                let message = block.message(seq).unwrap().unwrap();
                prop_assert_eq!(&message.payload()[..8], seq.to_le_bytes());
            }
            let there: BTreeSet<u64> = block.records().map(|(seq, _)| seq).collect();
            let gaps: BTreeSet<u64> = new.gaps.into_iter().flatten().collect();
            prop_assert!(gaps.is_disjoint(&there) && gaps.len() + there.len() == (new.last - new.first + 1) as usize);
        }
        let put: Vec<_> = entries.iter().map(|(seq, entry)| (*seq, entry[16..].to_vec())).collect();
        prop_assert_eq!(found, put);
    }

    #[test]
    fn cutting_out_ranges_is_like_cutting_out_numbers(list in proptest::collection::btree_set(0u64..60, 0..30), from in 0u64..60, length in 0u64..20) {
        let mut ranges = super::library::ranges(list.iter().copied());
        let gone = from..=from + length;
        cut_out(&mut ranges, &gone);
        let left: Vec<u64> = ranges.into_iter().flatten().collect();
        let expected: Vec<u64> = list.into_iter().filter(|n| !gone.contains(n)).collect();
        prop_assert_eq!(left, expected);
    }
}
