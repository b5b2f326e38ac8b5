use super::Change;
use std::collections::VecDeque;
use std::ops::RangeInclusive;

/// Items in ascending order of sequence: appended at the end, removed anywhere. Look-up is O(1) while sequences are
/// dense, O(log n) otherwise.
///
/// Holes left by removals cost a place each until they outnumber what is there; then they are squeezed out.
#[derive(Clone, Debug)]
pub struct Tail<T> {
    places: VecDeque<Place<T>>,
    live: usize,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Place<T> {
    seq: u64,
    size: u32,
    item: Option<T>,
}

/// Fewer holes than this are not worth squeezing out.
const TOLERATED_HOLES: usize = 64;

impl<T> Default for Tail<T> {
    fn default() -> Self {
        Self { places: VecDeque::new(), live: 0, bytes: 0 }
    }
}

impl<T> Tail<T> {
    /// Adds an item behind all others. An item that is not behind them is not taken.
    pub fn push(&mut self, seq: u64, size: usize, item: T) -> bool {
        if self.places.back().is_some_and(|last| last.seq >= seq) {
            return false;
        }
        let size = size.min(u32::MAX as usize) as u32;
        self.places.push_back(Place { seq, size, item: Some(item) });
        self.live += 1;
        self.bytes += size as usize + size_of::<Place<T>>();
        true
    }

    pub fn get(&self, seq: u64) -> Option<&T> {
        self.places[self.find(seq)?].item.as_ref()
    }

    pub fn remove(&mut self, seq: u64) -> Option<T> {
        let at = self.find(seq)?;
        let taken = self.take(at)?;
        self.tidy();
        Some(taken)
    }

    /// Drops everything below `first`.
    pub fn advance(&mut self, first: u64) {
        while self.places.front().is_some_and(|place| place.seq < first) {
            self.take(0);
            self.places.pop_front();
        }
        self.tidy();
    }

    /// Drops `from` and everything above.
    pub fn truncate(&mut self, from: u64) {
        while self.places.back().is_some_and(|place| place.seq >= from) {
            let last = self.places.len() - 1;
            self.take(last);
            self.places.pop_back();
        }
    }

    pub fn remove_range(&mut self, range: RangeInclusive<u64>) {
        let mut at = self.places.partition_point(|place| place.seq < *range.start());
        while self.places.get(at).is_some_and(|place| place.seq <= *range.end()) {
            self.take(at);
            at += 1;
        }
        self.tidy();
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.places.iter().filter_map(|place| Some((place.seq, place.item.as_ref()?)))
    }

    /// Items there.
    pub fn len(&self) -> usize {
        self.live
    }

    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Bytes of the items, as told when they were pushed, and of their places.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn first(&self) -> Option<u64> {
        self.iter().next().map(|(seq, _)| seq)
    }

    fn find(&self, seq: u64) -> Option<usize> {
        let front = self.places.front()?.seq;
        let guess = usize::try_from(seq.checked_sub(front)?).unwrap_or(usize::MAX);
        if self.places.get(guess).is_some_and(|place| place.seq == seq) {
            return Some(guess);
        }
        self.places.binary_search_by_key(&seq, |place| place.seq).ok()
    }

    fn take(&mut self, at: usize) -> Option<T> {
        let place = &mut self.places[at];
        let taken = place.item.take()?;
        self.live -= 1;
        self.bytes -= place.size as usize + size_of::<Place<T>>();
        Some(taken)
    }

    fn tidy(&mut self) {
        while self.places.front().is_some_and(|place| place.item.is_none()) {
            self.places.pop_front();
        }
        if self.places.len() > 2 * self.live + TOLERATED_HOLES {
            self.places.retain(|place| place.item.is_some());
        }
        if self.places.capacity() > 4 * self.places.len() + 4 * TOLERATED_HOLES {
            self.places.shrink_to(2 * self.places.len());
        }
    }
}

impl<T> Tail<T> {
    /// Drops what a change removes.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Remove { seqs } => seqs.iter().for_each(|seq| drop(self.remove(*seq))),
            Change::Advance { first, .. } => self.advance(*first),
            Change::RemoveRanges { ranges } => {
                for range in ranges.iter().filter(|range| !range.is_empty()) {
                    self.remove_range(range.start..=range.end - 1);
                }
            }
            Change::Delete => *self = Self::default(),
            _ => {}
        }
    }
}
