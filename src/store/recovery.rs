//! Makes of models and messages what streams are told when they begin.

use super::record::{index_entry, layout, stored_message};
use super::sled::library::{Shelf, ranges};
use super::sled::sealer::FoundDamaged;
use super::sled::{ConsumerModel, Library, Replay, StreamModel};
use super::tail::Tail;
use super::{ConsumerId, Hot, IndexEntry, RecoveredConsumer, RecoveredStream, Recovery, StreamId};
use crate::protocol::StoredMessage;
use bytes::Bytes;

/// All streams, and what was found damaged in volumes on the way.
pub(super) fn recover_all(replay: Replay, library: &Library) -> (Recovery, Vec<FoundDamaged>) {
    let mut fresh = replay.fresh;
    let mut shelf = Shelf::default();
    let mut damaged = Vec::new();
    let next_stream = StreamId(replay.model.next_stream.max(1));
    let streams = replay.model.streams.into_iter().map(|(id, model)| {
        let entries = fresh.remove(&id).unwrap_or_default();
        let (stream, lost) = recover_stream(library, &mut shelf, id, model, &entries);
        damaged.extend(lost);
        stream
    });
    let streams = streams.collect();
    (Recovery { streams, next_stream }, damaged)
}

/// One stream: `entries` are its messages that are in no volume.
pub(super) fn recover_stream(
    library: &Library,
    shelf: &mut Shelf,
    id: u64,
    mut model: StreamModel,
    entries: &Tail<Bytes>,
) -> (RecoveredStream, Option<FoundDamaged>) {
    let mut index = Vec::with_capacity(entries.len());
    let lost = read_index(library, shelf, id, &mut model, &mut index);
    let mut hot = Tail::default();
    for (seq, entry) in entries.iter() {
        let Some((at, message)) = layout(entry).zip(stored_message(seq, entry)) else { continue };
        index.push(index_entry(seq, entry, &at));
        hot.push(seq, entry.len(), message);
    }
    (recovered(StreamId(id), model, index, hot), lost)
}

/// Reads what volumes hold of a stream; what is damaged there is told.
fn read_index(
    library: &Library,
    shelf: &mut Shelf,
    id: u64,
    model: &mut StreamModel,
    index: &mut Vec<IndexEntry>,
) -> Option<FoundDamaged> {
    let mut lost = Vec::new();
    library.index(shelf, id, model, |(seq, entry)| match entry {
        Ok(entry) => index.push(entry),
        Err(_) => lost.push(seq),
    });
    if lost.is_empty() {
        return None;
    }
    let ranges = ranges(lost.into_iter());
    for range in &ranges {
        tracing::error!(
            "stream {} > {}: messages {} to {} are damaged in their volume (checksum mismatch) and lost",
            model.account,
            model.name,
            range.start(),
            range.end()
        );
        model.lose_sealed(range.clone(), 0);
    }
    Some(FoundDamaged { stream: id, ranges, bytes: 0 })
}

fn recovered(id: StreamId, model: StreamModel, index: Vec<IndexEntry>, hot: Tail<StoredMessage>) -> RecoveredStream {
    let consumer = |(id, consumer): (u64, ConsumerModel)| RecoveredConsumer {
        id: ConsumerId(id),
        name: consumer.name,
        config: consumer.config,
        created: consumer.created,
        state: consumer.state,
    };
    RecoveredStream {
        id,
        account: model.account,
        name: model.name,
        config: model.config,
        created: model.created,
        first: index.first().map_or(model.first.max(model.last + 1), |entry| entry.seq),
        last: model.last,
        last_timestamp: model.last_timestamp,
        index,
        lost: model.lost,
        lost_bytes: model.lost_bytes,
        consumers: model.consumers.into_iter().map(consumer).collect(),
        next_consumer: ConsumerId(model.next_consumer),
        hot: Hot(hot),
    }
}
