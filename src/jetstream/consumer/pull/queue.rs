use super::PullRequest;
use std::collections::VecDeque;

/// Waiting pull requests: first come first served, one message each in turn; with priorities, the lower number first.
#[derive(Debug, Default)]
pub struct PullQueue {
    queue: VecDeque<PullRequest>,
    /// Requests that want no waiting.
    impatient: usize,
    /// They are kept in the order of their priority.
    by_priority: bool,
}

impl PullQueue {
    pub fn new(by_priority: bool) -> Self {
        Self { by_priority, ..Self::default() }
    }

    pub fn len(&self) -> usize {
        self.queue.len()
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Messages that all of them still want.
    pub fn wanted(&self) -> i64 {
        self.queue.iter().fold(0, |sum: i64, request| sum.saturating_add(request.batch.max(1)))
    }

    /// Whether any request wants no waiting.
    pub fn has_impatient(&self) -> bool {
        self.impatient > 0
    }

    pub fn get(&self, at: usize) -> Option<&PullRequest> {
        self.queue.get(at)
    }

    pub fn iter(&self) -> impl Iterator<Item = &PullRequest> {
        self.queue.iter()
    }

    /// Changes what does not concern the order.
    pub fn touch_all(&mut self, mut change: impl FnMut(&mut PullRequest)) {
        self.queue.iter_mut().for_each(&mut change);
    }

    /// Behind all others of its priority.
    pub fn add(&mut self, request: PullRequest) {
        self.impatient += usize::from(request.no_wait);
        let last = self.queue.back().map_or(i64::MIN, |last| last.priority);
        if !self.by_priority || last <= request.priority {
            self.queue.push_back(request);
            return;
        }
        let at = self.queue.partition_point(|other| other.priority <= request.priority);
        self.queue.insert(at, request);
    }

    pub fn remove(&mut self, at: usize) -> Option<PullRequest> {
        let request = if at == 0 { self.queue.pop_front() } else { self.queue.remove(at) }?;
        self.impatient -= usize::from(request.no_wait);
        Some(request)
    }

    /// The request at this place got something: changes it, and sends it behind its peers.
    pub fn serve(&mut self, at: usize, change: impl FnOnce(&mut PullRequest)) -> Option<&PullRequest> {
        if self.queue.len() == 1 && at == 0 {
            let request = self.queue.front_mut()?;
            change(request);
            return Some(request);
        }
        let mut request = self.remove(at)?;
        change(&mut request);
        let id = request.id;
        self.add(request);
        // Without priorities it is the last; with them it is the last of its peers.
        match self.by_priority {
            false => self.queue.back(),
            true => self.queue.iter().find(|request| request.id == id),
        }
    }

    /// Changes what does not concern the order of one request.
    pub fn touch_one(&mut self, at: usize, change: impl FnOnce(&mut PullRequest)) {
        if let Some(request) = self.queue.get_mut(at) {
            change(request);
        }
    }

    pub fn position(&self, id: u64) -> Option<usize> {
        self.queue.iter().position(|request| request.id == id)
    }

    /// Takes out all that `leaves` says, in their order.
    pub fn take(&mut self, mut leaves: impl FnMut(&PullRequest) -> bool) -> Vec<PullRequest> {
        let mut taken = Vec::new();
        let mut at = 0;
        while let Some(request) = self.queue.get(at) {
            match leaves(request) {
                true => taken.extend(self.remove(at)),
                false => at += 1,
            }
        }
        taken
    }

    /// Keeps all requests in the order that a changed policy wants.
    pub fn set_by_priority(&mut self, by_priority: bool) {
        self.by_priority = by_priority;
        if by_priority {
            self.queue.make_contiguous().sort_by_key(|request| request.priority);
        }
    }

    /// The next time something is to be done about any of them.
    pub fn due(&self) -> Option<i64> {
        self.queue.iter().filter_map(PullRequest::due).min()
    }
}
