//! A store that is open: the parts put together, and what may be asked of them. Owns the lock on the directory and the
//! thread of the checkpoint.

use crate::checkpoint::Checkpoint;
use crate::error::StoreError;
use crate::hold::Held;
use crate::image::Image;
use crate::journal::{Counters, Journal, Ticket};
use crate::options::{Checkpoints, Options};
use crate::pace::Pace;
use crate::reader::{Found, Reader};
use crate::record::NewCommit;
use object::change::{ActorId, ChangeId, Creation, ObjectId, Time};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// An open store. May be shared between threads.
pub struct Store {
    pub(crate) shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

pub(crate) struct Shared {
    pub directory: PathBuf,
    pub store: [u8; 16],
    pub image: Image,
    pub journal: Journal,
    pub reader: Reader,
    pub options: Options,
    /// Held by whoever makes a checkpoint; none in a store that is only read.
    pub turn: Mutex<Option<Pace>>,
    /// Frames at the end of the log were cut off on opening: they had never been acknowledged.
    pub was_torn: bool,
    /// Somebody else writes, and goes on doing so.
    pub is_beside: bool,
    /// Each copy of this process that goes on has one of it.
    pub forks: Arc<()>,
    pub _held: Option<Held>,
}

/// What a store is doing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    pub last_commit: u64,
    /// Commits, changes and bytes of log that the checkpoint has still to apply, and how many bytes there may be.
    pub pending_commits: usize,
    pub pending_changes: usize,
    pub pending_bytes: u64,
    pub log_bytes: u64,
    /// Bytes of log that are not flushed.
    pub unflushed_bytes: u64,
    pub image_bytes: u64,
    pub was_torn: bool,
    /// Copies of this process for which pages are kept.
    pub forks: usize,
    /// Why no commit is taken any more.
    pub failure: Option<String>,
}

impl Store {
    pub(crate) fn start(shared: Shared) -> Result<Store, StoreError> {
        let wants_thread = shared.options.checkpoints == Checkpoints::Background && shared.is_writable();
        let shared = Arc::new(shared);
        let thread = if wants_thread {
            let its_own = shared.clone();
            let thread = std::thread::Builder::new().name("checkpoint".into());
            let failed = StoreError::file("start the checkpoint of", &shared.directory);
            Some(thread.spawn(move || crate::background::run(&its_own)).map_err(failed)?)
        } else {
            None
        };
        Ok(Store { shared, thread })
    }

    /// Takes a commit: visible to `read` when this returns, durable when `wait` does. Blocks only while the log is full.
    /// One that does not fit the objects that it changes is refused, and nothing has happened.
    pub fn commit(&self, commit: NewCommit) -> Result<Ticket, StoreError> {
        self.shared.journal.commit(commit, &self.shared.reader)
    }

    /// Returns when the commit is as durable as it asked to be.
    pub fn wait(&self, ticket: Ticket) -> Result<(), StoreError> {
        self.shared.journal.wait(ticket)
    }

    /// Whether `wait` would return at once.
    pub fn is_settled(&self, ticket: Ticket) -> bool {
        self.shared.journal.lock().has_reached(ticket)
    }

    /// Fails if no commit is taken. After a failure what was committed and not waited for is still to be seen, until the
    /// store is opened again, and then it may be gone.
    pub fn check_open(&self) -> Result<(), StoreError> {
        self.shared.journal.lock().check_open()
    }

    /// The object as it is after the last commit; none if there is none of this id.
    pub fn read(&self, object: ObjectId) -> Result<Option<Creation>, StoreError> {
        self.shared.reader.read(&self.shared.journal, object)
    }

    /// The same for whoever only looks at it, and reads nothing meanwhile: mostly nothing is copied.
    pub fn look_at<A>(&self, object: ObjectId, look: impl FnOnce(Found<'_>) -> A) -> Result<Option<A>, StoreError> {
        self.shared.reader.look_at(&self.shared.journal, object, look)
    }

    /// Applies all that was committed before to the image.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        self.shared.checkpoint()
    }

    /// Makes the files hold still while `run` lets another process open them beside us: no checkpoint is made meanwhile.
    /// It is told up to where the log is written; commits go on behind that.
    pub fn hold_still<T>(&self, run: impl FnOnce(u64) -> T) -> T {
        let _turn = self.shared.turn();
        // After a failure there is still something to look at: what was written before.
        let _ = self.shared.journal.flush();
        let written = self.shared.journal.lock().written();
        run(written)
    }

    /// Snapshots of processes that were killed beside us would keep their pages for ever.
    pub fn forget_dead_readers(&self) -> Result<(), StoreError> {
        Ok(self.shared.image.environment.forget_dead_readers()?)
    }

    pub fn directory(&self) -> &Path {
        &self.shared.directory
    }

    /// Which store this is, wherever it is copied.
    pub fn id(&self) -> [u8; 16] {
        self.shared.store
    }

    /// Who makes the changes of the live image.
    pub fn actor(&self) -> ActorId {
        self.counters().actor
    }

    /// The id of the live image's next change.
    pub fn next_change(&self) -> ChangeId {
        let counters = self.counters();
        ChangeId::new(counters.actor, counters.next_change)
    }

    /// The latest time of a commit: the clock goes on after it.
    pub fn time(&self) -> Time {
        self.counters().time
    }

    pub fn last_commit(&self) -> u64 {
        self.counters().number
    }

    /// An actor that nobody had or will have.
    pub fn mint_actor(&self) -> Result<ActorId, StoreError> {
        self.shared.journal.mint_actor()
    }

    pub fn status(&self) -> Result<Status, StoreError> {
        let image_bytes = std::fs::metadata(self.shared.image.path()).map(|metadata| metadata.len());
        let image_bytes = image_bytes.map_err(StoreError::file("look at", self.shared.image.path()))?;
        let inside = self.shared.journal.lock();
        Ok(Status {
            last_commit: inside.counters.number,
            pending_commits: inside.pending.len(),
            pending_changes: inside.pending.changes(),
            pending_bytes: inside.end() - inside.applied,
            log_bytes: self.shared.journal.log.capacity(),
            unflushed_bytes: inside.end() - inside.durable,
            image_bytes,
            was_torn: self.shared.was_torn,
            forks: Arc::strong_count(&self.shared.forks) - 1,
            failure: inside.failure().map(String::from),
        })
    }

    /// Flushes what was committed, ends the checkpoint's thread, and labels the log as complete.
    pub fn close(mut self) -> Result<(), StoreError> {
        self.end()
    }

    fn counters(&self) -> Counters {
        self.shared.journal.lock().counters
    }

    fn end(&mut self) -> Result<(), StoreError> {
        self.shared.journal.stop();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed where it happened; the log has everything.
            let _ = thread.join();
        }
        if !self.shared.is_writable() {
            return Ok(());
        }
        self.shared.journal.flush()?;
        let label = self.shared.journal.log.label();
        if label.session == self.shared.journal.log.session() {
            self.shared.journal.relabel(|_| {})?;
        }
        Ok(())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Whoever wants to know calls `close`; an error here is the one that `wait` told already.
        let _ = self.end();
    }
}

impl Shared {
    pub fn is_writable(&self) -> bool {
        self.turn().is_some()
    }

    pub fn turn(&self) -> MutexGuard<'_, Option<Pace>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn checkpoint(&self) -> Result<(), StoreError> {
        let last = self.journal.lock().counters.number;
        while self.journal.lock().pending.oldest_number().is_some_and(|oldest| oldest <= last) {
            self.step()?;
        }
        Ok(())
    }

    /// One step of the checkpoint; tells how many commits it applied. A failure latches the store.
    pub fn step(&self) -> Result<usize, StoreError> {
        let turn = self.turn();
        let Some(pace) = turn.as_ref() else { return Err(StoreError::ReadOnly) };
        let checkpoint = Checkpoint {
            image: &self.image,
            journal: &self.journal,
            reader: &self.reader,
            pace,
            step_changes: self.options.step_changes,
        };
        checkpoint.step().inspect_err(|error| self.journal.fail(error))
    }
}
