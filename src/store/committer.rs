use super::journal::slot::Slot;
use super::journal::{Group, Journal, Ring, WriteError};
use super::sled::sealer::{Sealer, Stop};
use super::{Closed, CommitError, Committed, Fetched, Recover, StreamId, SyncMode};
use crate::actor::{Act, Ctx, Mailbox, Outlet, Receive};
use crate::protocol::StoredMessage;
use actix::ActorContext;
use actix_rt::Arbiter;
use ahash::AHashMap;
use serde::Serialize;
use std::collections::VecDeque;
use std::fs::File;
use std::future::Future;
use std::pin::Pin;
use std::task;
use std::time::{Duration, Instant};
use tokio::time::Sleep;

/// One commit of one stream, to be made durable.
#[derive(Debug)]
pub struct Commit {
    pub group: Group,
    pub ticket: u64,
    /// Counts the failures that the stream has learned of: commits of an epoch that failed are refused.
    pub epoch: u64,
    pub done: Outlet<Committed>,
}

/// Ends the journal in good order; answered when everything is sealed, or cannot be.
#[derive(Debug)]
pub struct Close {
    pub done: Outlet<Closed>,
}

/// To the sealer: everything below `upto` is durable and may move into a volume.
#[derive(Debug)]
pub struct Seal {
    pub upto: u64,
    /// Bytes of the journal below that are in no volume.
    pub bytes: u64,
    pub ring: Ring,
    pub done: Outlet<SealDone>,
}

/// From the archive: messages that are in no volume, and not in the memory of their stream.
#[derive(Debug)]
pub struct Leftover {
    pub stream: StreamId,
    pub fetched: Fetched,
    pub to: Outlet<Fetched>,
}

/// To the sealer: what to look up in the journal.
pub enum Wanted {
    Stream(Recover),
    Messages(Leftover),
}

/// To the sealer: read the journal up to a position once more.
pub struct Reread {
    pub upto: u64,
    pub ring: Ring,
    pub wanted: Wanted,
}

/// From the sealer: the journal below `position` is no longer needed.
#[derive(Debug)]
pub struct SealDone {
    pub position: u64,
    pub error: Option<String>,
}

/// A slot to go on with has been made, or could not be.
#[derive(Debug)]
pub struct SlotMade(std::io::Result<Slot>);

/// When the committer does what.
#[derive(Clone, Debug)]
pub struct CommitterOptions {
    pub sync: SyncMode,
    /// Bytes in the journal, or in the memory of the streams, from which a seal is asked for. With that much beside what
    /// is being sealed, commits wait.
    pub hot_bytes: u64,
    pub seal_after: Duration,
}

/// After so long without a commit, the journal notes how far it is durable.
const MARK_AFTER: Duration = Duration::from_millis(20);

/// A seal that failed is tried again after this.
const SEAL_AGAIN_AFTER: Duration = Duration::from_millis(500);

/// The journal fills at most this part of a disk before it is sealed.
const SHARE_OF_DISK: u64 = 5;

/// Less than this is not worth a volume.
const LEAST_HOT_BYTES: u64 = 1 << 20;

/// What is held in memory is counted in steps of so many bytes of the journal.
const HELD_STEP: u64 = 1 << 20;

/// What a hot message takes in memory beside its entry.
const HOT_OVERHEAD: u64 = (size_of::<StoredMessage>() + 16) as u64;

/// Gathered commits are written without waiting for the end of the mailbox from here on.
const ROUND_BYTES: usize = 16 << 20;

/// Makes commits durable: all that gathered while the last round was being synced is the next round.
pub struct Committer {
    journal: Journal,
    options: CommitterOptions,
    sealer: Mailbox<Sealer>,
    own: Mailbox<Committer>,
    /// Journal bytes from which a seal is asked for: less than configured on a small disk.
    hot_limit: u64,
    /// Something was committed since the last seal was asked for.
    unsealed: bool,
    gathered: Vec<Commit>,
    gathered_bytes: usize,
    /// By stream, the last epoch in which a commit failed.
    failed: AHashMap<StreamId, u64>,
    /// The journal below is in volumes.
    sealed: u64,
    /// What streams hold in memory of what was committed, by position behind the round: it is dropped when sealed.
    held: VecDeque<(u64, u64)>,
    held_bytes: u64,
    /// A slot is being made.
    making: bool,
    sealing: bool,
    /// Bytes of the journal in the seal that is underway.
    seal_bytes: u64,
    seal_error: Option<(String, Instant)>,
    last_commit: Instant,
    synced: Instant,
    closing: Vec<Outlet<Closed>>,
    /// Held as long as the store is open.
    lock: Option<File>,
    timer: Option<Pin<Box<Sleep>>>,
    state: CommitterState,
}

/// What the committer shows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CommitterState {
    /// Rounds written.
    pub rounds: u64,
    /// Commits written.
    pub commits: u64,
    /// Messages written.
    pub messages: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Commits in the largest round.
    pub largest_round: u64,
    /// Syncs, and the nanoseconds that they and the writes took.
    pub syncs: u64,
    pub sync_ns: u64,
    pub slowest_sync_ns: u64,
    pub write_ns: u64,
    /// Commits refused, and the last reason.
    pub failures: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Journal bytes not in a volume yet.
    pub hot_bytes: u64,
    /// Slots in use, and bytes of all slots.
    pub slots: usize,
    pub journal_bytes: u64,
    /// Commits waiting for the sealer.
    pub held: usize,
}

impl Committer {
    pub fn new(
        journal: Journal,
        options: CommitterOptions,
        sealed: u64,
        held_bytes: u64,
        sealer: Mailbox<Sealer>,
        own: Mailbox<Committer>,
        lock: File,
    ) -> Self {
        let (now, journal_end) = (Instant::now(), journal.position());
        let mut committer = Self {
            journal,
            options,
            sealer,
            own,
            hot_limit: 0,
            unsealed: false,
            gathered: Vec::new(),
            gathered_bytes: 0,
            failed: AHashMap::new(),
            sealed,
            held: VecDeque::from([(journal_end, held_bytes)]),
            held_bytes,
            making: false,
            sealing: false,
            seal_bytes: 0,
            seal_error: None,
            last_commit: now,
            synced: now,
            closing: Vec::new(),
            lock: Some(lock),
            timer: None,
            state: CommitterState::default(),
        };
        committer.unsealed = committer.hot() > 0;
        committer.set_hot_limit();
        committer
    }

    /// What is in no volume: its bytes in the journal, or in memory, whatever is more.
    fn hot(&self) -> u64 {
        self.journal.bytes_above(self.sealed).max(self.held_bytes)
    }

    fn hold(&mut self, bytes: u64) {
        let end = self.journal.position();
        self.held_bytes += bytes;
        match self.held.back_mut() {
            Some((last, held)) if end - *last < HELD_STEP => *held += bytes,
            _ => self.held.push_back((end, bytes)),
        }
    }

    /// Streams have heard what was sealed.
    fn let_go(&mut self) {
        while let Some((end, bytes)) = self.held.front()
            && *end <= self.sealed
        {
            self.held_bytes -= bytes;
            self.held.pop_front();
        }
    }

    /// A volume needs room beside the journal that it comes from: a small disk is sealed more often.
    fn set_hot_limit(&mut self) {
        let share = self.journal.available() / SHARE_OF_DISK;
        self.hot_limit = self.options.hot_bytes.min(share.max(LEAST_HOT_BYTES));
    }

    /// Too much waits for the sealer, and the sealer is at it; or the slot that is needed is being made.
    fn must_wait(&self) -> bool {
        self.sealing && self.hot() > self.hot_limit + self.seal_bytes || self.lacks_slot(&self.gathered)
    }

    fn lacks_slot(&self, commits: &[Commit]) -> bool {
        self.making && commits.first().is_some_and(|commit| self.journal.lacks_slot(commit.group.size()))
    }

    /// Has a slot made on a thread that is not in the way of commits.
    fn make_slot(&mut self) {
        if self.making {
            return;
        }
        if let Some(plan) = self.journal.wants_slot() {
            self.making = true;
            let own = self.own.outlet();
            actix_rt::task::spawn_blocking(move || own.send(SlotMade(plan.make())));
        }
    }

    fn round(&mut self) {
        let mut commits = std::mem::take(&mut self.gathered);
        self.gathered_bytes = 0;
        let mut written = 0;
        while written < commits.len() {
            let rest = &commits[written..];
            if self.lacks_slot(rest) {
                self.gathered = commits.split_off(written);
                self.gathered_bytes = self.gathered.iter().map(|commit| commit.group.size()).sum();
                break;
            }
            if self.hot() > 2 * self.hot_limit
                && let Some((error, _)) = &self.seal_error
            {
                let error = refusal(error);
                self.refuse(rest, error);
                break;
            }
            let from = self.journal.position();
            match self.write(rest) {
                Ok(count) => {
                    let done = &rest[..count];
                    for commit in done {
                        commit.done.send(Committed { ticket: commit.ticket, result: Ok(()) });
                    }
                    self.state.commits += count as u64;
                    self.state.messages += done.iter().map(|commit| commit.group.messages as u64).sum::<u64>();
                    self.state.largest_round = self.state.largest_round.max(count as u64);
                    written += count;
                }
                Err(error) => {
                    if let WriteError::Broken(error) = &error {
                        tracing::error!("journal: write failed, going on in another slot: {error}");
                        if let Err(error) = self.journal.abandon(from) {
                            tracing::error!("journal: no other slot to go on in: {error}");
                        }
                    }
                    let (WriteError::NoSlot(error) | WriteError::Broken(error)) = error;
                    self.refuse(rest, commit_error(&error));
                    break;
                }
            }
        }
        self.make_slot();
    }

    fn write(&mut self, commits: &[Commit]) -> Result<usize, WriteError> {
        let begun = Instant::now();
        let from = self.journal.position();
        let count = self.journal.write(commits.iter().map(|commit| &commit.group))?;
        self.state.rounds += 1;
        self.state.bytes += self.journal.position().saturating_sub(from);
        self.state.write_ns += begun.elapsed().as_nanos() as u64;
        if self.options.sync == SyncMode::Always {
            self.sync().map_err(WriteError::Broken)?;
        }
        self.last_commit = Instant::now();
        self.unsealed = true;
        let held = |commit: &Commit| commit.group.length() as u64 + u64::from(commit.group.messages) * HOT_OVERHEAD;
        self.hold(commits[..count].iter().map(held).sum());
        Ok(count)
    }

    fn sync(&mut self) -> std::io::Result<()> {
        let begun = Instant::now();
        self.journal.sync()?;
        let took = begun.elapsed().as_nanos() as u64;
        self.synced = Instant::now();
        self.state.syncs += 1;
        self.state.sync_ns += took;
        self.state.slowest_sync_ns = self.state.slowest_sync_ns.max(took);
        Ok(())
    }

    fn refuse(&mut self, commits: &[Commit], error: CommitError) {
        let text = error.to_string();
        if self.state.last_error.as_ref() != Some(&text) {
            tracing::error!("journal: refusing {} commits: {text}", commits.len());
            self.state.last_error = Some(text);
        }
        self.state.failures += commits.len() as u64;
        for commit in commits {
            self.failed.insert(commit.group.stream, commit.epoch);
            commit.done.send(Committed { ticket: commit.ticket, result: Err(error.clone()) });
        }
        self.ask_for_seal();
    }

    fn ask_for_seal(&mut self) {
        let again = self.seal_error.as_ref().is_none_or(|(_, since)| since.elapsed() >= SEAL_AGAIN_AFTER);
        if self.sealing || !self.unsealed || (!again && self.closing.is_empty()) {
            return;
        }
        if self.journal.durable() < self.journal.position()
            && let Err(error) = self.sync()
        {
            tracing::error!("journal: sync failed: {error}");
            return;
        }
        self.sealing = true;
        let ring = self.journal.ring().clone();
        let upto = self.journal.seal_end(self.sealed);
        let bytes = self.journal.bytes_above(self.sealed) - self.journal.bytes_above(upto);
        self.unsealed = upto < self.journal.position();
        self.seal_bytes = bytes;
        self.sealer.send(Seal { upto, bytes, ring, done: self.own.outlet() });
    }

    /// What is due now, and how long until something else is.
    fn housekeeping(&mut self) -> Option<Duration> {
        let mut next: Option<Duration> = None;
        let mut due = |after: Duration, since: Instant| {
            let left = after.saturating_sub(since.elapsed());
            if !left.is_zero() {
                next = Some(next.map_or(left, |next| next.min(left)));
            }
            left.is_zero()
        };
        let unsynced = self.journal.durable() < self.journal.position();
        let sync_due = match self.options.sync {
            SyncMode::Interval(every) if unsynced && self.state.rounds > 0 => due(every, self.synced),
            _ => false,
        };
        let mark_due = self.journal.needs_mark() && due(MARK_AFTER, self.last_commit);
        let hot = self.hot();
        let wants_seal = !self.sealing && self.unsealed;
        let seal_due = wants_seal && (due(self.options.seal_after, self.last_commit) || hot > self.hot_limit);
        let seal_due = seal_due && self.seal_error.as_ref().is_none_or(|(_, since)| due(SEAL_AGAIN_AFTER, *since));
        if sync_due && let Err(error) = self.sync() {
            tracing::error!("journal: sync failed, messages of the last moments may not be on the disk: {error}");
            let from = self.journal.position();
            self.journal.abandon(from).ok();
        }
        if mark_due && let Err(error) = self.journal.mark() {
            tracing::warn!("journal: {error}");
        }
        if seal_due {
            self.ask_for_seal();
        }
        next
    }

    fn finish_closing(&mut self, ctx: &mut Ctx<Self>) {
        if !self.unsealed
            && let Err(error) = self.journal.retire()
        {
            tracing::warn!("journal: its slots cannot be removed: {error}");
        }
        self.sealer.send(Stop { lock: self.lock.take(), done: std::mem::take(&mut self.closing) });
        ctx.stop();
        Arbiter::current().stop();
    }
}

fn commit_error(error: &std::io::Error) -> CommitError {
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => CommitError::Full,
        _ => CommitError::Io(error.to_string()),
    }
}

fn refusal(seal_error: &str) -> CommitError {
    match seal_error.to_ascii_lowercase().contains("no space left") {
        true => CommitError::Full,
        false => CommitError::Io(seal_error.to_string()),
    }
}

impl Act for Committer {
    const KIND: &'static str = "committer";
    type State = CommitterState;

    fn name(&self) -> String {
        "journal".into()
    }

    fn observe(&self) -> CommitterState {
        let mut state = self.state.clone();
        state.hot_bytes = self.hot();
        state.slots = self.journal.ring().slots.len();
        state.journal_bytes = self.journal.size();
        state.held = self.gathered.len();
        state
    }

    fn wake(&mut self, ctx: &mut Ctx<Self>, task: &mut task::Context<'_>) {
        if !self.gathered.is_empty() && !self.must_wait() {
            self.round();
        }
        loop {
            self.timer = self.housekeeping().map(|next| Box::pin(tokio::time::sleep(next)));
            let rang = self.timer.as_mut().is_some_and(|timer| timer.as_mut().poll(task).is_ready());
            if !rang {
                break;
            }
        }
        if !self.closing.is_empty() && !self.sealing && !self.making && self.gathered.is_empty() {
            self.finish_closing(ctx);
        }
    }
}

impl Receive<Commit> for Committer {
    fn receive(&mut self, commit: Commit, _: &mut Ctx<Self>) {
        if let Some(epoch) = self.failed.get(&commit.group.stream) {
            if commit.epoch <= *epoch {
                let error = self.state.last_error.clone().unwrap_or_default();
                commit.done.send(Committed { ticket: commit.ticket, result: Err(refusal(&error)) });
                return;
            }
            self.failed.remove(&commit.group.stream);
        }
        self.gathered_bytes += commit.group.size();
        self.gathered.push(commit);
        if self.gathered_bytes > ROUND_BYTES && !self.must_wait() {
            self.round();
        }
    }
}

impl Receive<SealDone> for Committer {
    fn receive(&mut self, done: SealDone, _: &mut Ctx<Self>) {
        self.sealing = false;
        self.sealed = self.sealed.max(done.position);
        self.journal.release(self.sealed);
        self.let_go();
        if !self.closing.is_empty() && done.error.is_none() {
            // What came while it was sealing.
            self.ask_for_seal();
        }
        self.unsealed |= done.error.is_some();
        self.seal_error = done.error.map(|error| (error, Instant::now()));
        self.set_hot_limit();
    }
}

impl Receive<SlotMade> for Committer {
    fn receive(&mut self, made: SlotMade, _: &mut Ctx<Self>) {
        self.making = false;
        match made.0 {
            Ok(slot) => self.journal.add_spare(slot),
            // Whoever needs it finds out by himself, and may be content with a smaller one.
            Err(error) => tracing::debug!("journal: no slot ahead: {error}"),
        }
    }
}

impl Committer {
    /// Has the journal read once more, with everything in it that was handed over before.
    fn reread(&mut self, wanted: Wanted) {
        if !self.gathered.is_empty() {
            self.round();
        }
        self.sealer.send(Reread { upto: self.journal.position(), ring: self.journal.ring().clone(), wanted });
    }
}

impl Receive<Recover> for Committer {
    fn receive(&mut self, recover: Recover, _: &mut Ctx<Self>) {
        self.reread(Wanted::Stream(recover));
    }
}

impl Receive<Leftover> for Committer {
    fn receive(&mut self, leftover: Leftover, _: &mut Ctx<Self>) {
        self.reread(Wanted::Messages(leftover));
    }
}

impl Receive<Close> for Committer {
    fn receive(&mut self, close: Close, _: &mut Ctx<Self>) {
        if !self.gathered.is_empty() {
            self.round();
        }
        if let Err(error) = self.journal.sync() {
            tracing::error!("journal: sync failed: {error}");
        }
        self.closing.push(close.done);
        self.ask_for_seal();
    }
}
