//! Making a store, and opening one after whatever happened to it. Reads the log's tail only; the image is never walked.

use crate::bytes::Fields;
use crate::check::Progress;
use crate::error::StoreError;
use crate::fit::Outlines;
use crate::frame::{Header, Kind};
use crate::image::Image;
use crate::journal::{Bounds, Counters, Journal, Start};
use crate::label::Label;
use crate::log::Log;
use crate::options::{Checkpoints, Options};
use crate::pace::Pace;
use crate::pending::{Committed, Pending};
use crate::reader::Reader;
use crate::record::decode_payload;
use crate::recover::{replay, replay_until};
use crate::state::State;
use crate::store::{Shared, Store};
use object::change::{ActorId, Time};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use system::disk::{Disk, FileDisk};
use system::file::{Hold, Lock, flush_directory, give_name, make_directory};
use system::lmdb::Access;

pub const LOG: &str = "telos.wal";
pub const IMAGE: &str = "telos.img";
pub const LOCK: &str = "telos.lock";
/// A log under this name belongs to a store whose making was not finished.
pub(crate) const UNFINISHED: &str = "telos.wal.new";
const LIVE_ACTOR: ActorId = ActorId(1);

impl Store {
    /// Makes a store in a directory, which is made too if there is none.
    pub fn create(directory: &Path, options: Options) -> Result<Store, StoreError> {
        Store::make(directory, &options)?;
        Store::open(directory, options)
    }

    /// The files of a store without a commit, to be opened by whoever wants it.
    pub fn make(directory: &Path, options: &Options) -> Result<(), StoreError> {
        make_directory(directory)?;
        let _lock = Lock::take(&directory.join(LOCK), Hold::Alone)?;
        let log = begin_log(directory)?;
        make_files(directory, log, options)
    }

    pub fn open(directory: &Path, options: Options) -> Result<Store, StoreError> {
        Opened::at(directory, options)?.recover()?.replay()
    }

    /// For inspection: refuses commits, writes nothing. Several may be open at once, but none beside a writer.
    pub fn open_read_only(directory: &Path, options: Options) -> Result<Store, StoreError> {
        let path = log_path(directory)?;
        let lock = Lock::take(&directory.join(LOCK), Hold::Shared)?;
        let disks = Disks { log: open_disk(&path, false)?, image: open_disk(&directory.join(IMAGE), false)? };
        let access = Access::ReadUnlocked;
        Opened { directory: directory.into(), options, disks, lock: Some(lock), access }.recover()?.replay()
    }

    /// For inspection beside a writer in another process, which holds still until this returns: see `Store::hold_still`.
    /// Reads the log up to `until`, and sees nothing that is committed later.
    pub fn open_beside(directory: &Path, options: Options, until: u64) -> Result<Store, StoreError> {
        let path = log_path(directory)?;
        let disks = Disks { log: open_disk(&path, false)?, image: open_disk(&directory.join(IMAGE), false)? };
        let opened = Opened { directory: directory.into(), options, disks, lock: None, access: Access::Read };
        opened.recover()?.replay_until(Some(until), &mut |_| {})
    }

    /// As `open`, on any disks: for tests of what disks do.
    pub fn open_on(directory: &Path, options: Options, disks: Disks) -> Result<Store, StoreError> {
        let lock = Lock::take(&directory.join(LOCK), Hold::Alone)?;
        let access = Access::Write;
        Opened { directory: directory.into(), options, disks, lock: Some(lock), access }.recover()?.replay()
    }
}

/// What the two files are reached through. The image's is only flushed: LMDB itself reads and writes the file.
pub struct Disks {
    pub log: Box<dyn Disk>,
    pub image: Box<dyn Disk>,
}

fn open_disk(path: &Path, is_writable: bool) -> Result<Box<dyn Disk>, StoreError> {
    let disk = FileDisk::open(path, is_writable).map_err(StoreError::file("open", path))?;
    Ok(Box::new(disk))
}

fn log_path(directory: &Path) -> Result<PathBuf, StoreError> {
    let path = directory.join(LOG);
    match path.exists() {
        true => Ok(path),
        false if has_lost_its_log(directory) => Err(StoreError::LogLost(directory.into())),
        false => Err(StoreError::Missing(directory.into())),
    }
}

/// An image without a log, which is not one that is just being made.
fn has_lost_its_log(directory: &Path) -> bool {
    directory.join(IMAGE).exists() && !directory.join(LOG).exists() && !directory.join(UNFINISHED).exists()
}

/// The empty log of a store that is being made, in a directory that holds none and whose lock is ours. It gets its name last:
/// without it there is no store, and what is left of an earlier attempt is replaced. Every attempt begins with it, so that
/// an image without one is somebody's.
pub(crate) fn begin_log(directory: &Path) -> Result<FileDisk, StoreError> {
    if directory.join(LOG).exists() {
        return Err(StoreError::Exists(directory.into()));
    }
    if has_lost_its_log(directory) {
        return Err(StoreError::LogLost(directory.into()));
    }
    let unfinished = directory.join(UNFINISHED);
    let log = FileDisk::create(&unfinished).map_err(StoreError::file("make", &unfinished))?;
    // Its name comes before the image's, also after a crash.
    flush_directory(directory)?;
    Ok(log)
}

fn make_files(directory: &Path, log: FileDisk, options: &Options) -> Result<(), StoreError> {
    let (image_path, unfinished) = (directory.join(IMAGE), directory.join(UNFINISHED));
    if image_path.exists() {
        std::fs::remove_file(&image_path).map_err(StoreError::file("remove", &image_path))?;
    }
    let state = new_state(directory)?;
    let image = Image::create(&image_path, options.map_bytes, &state)?;
    let flushed = FileDisk::open(&image_path, true).and_then(|file| file.flush());
    flushed.map_err(StoreError::file("flush", &image_path))?;
    let (image_number, image_checksum) = image.stamp()?;
    let label = Label {
        generation: 1,
        store: state.store,
        capacity: options.log_bytes,
        session: 0,
        frontier: 0,
        durable: 0,
        applied: 0,
        image_number,
        image_checksum,
    };
    Log::create(Box::new(log), &unfinished, label)?;
    Ok(give_name(&unfinished, &directory.join(LOG))?)
}

fn new_state(directory: &Path) -> Result<State, StoreError> {
    let mut store = [0; 16];
    let random = getrandom::fill(&mut store).map_err(std::io::Error::other);
    random.map_err(StoreError::file("draw an id for", directory))?;
    Ok(State {
        store,
        actor: LIVE_ACTOR,
        next_actor: ActorId(LIVE_ACTOR.0 + 1),
        time: Time(0),
        number: 0,
        next_change: 1,
        applied: 0,
        objects: 0,
        first_number: 1,
    })
}

/// A store whose files are open and whose lock is ours. Nothing was read yet.
pub struct Opened {
    directory: PathBuf,
    options: Options,
    disks: Disks,
    /// None beside somebody who holds it.
    lock: Option<Lock>,
    access: Access,
}

/// The same, when it is known which state of the image was flushed.
pub struct Recovered {
    directory: PathBuf,
    options: Options,
    log: Log,
    image: Image,
    reader: Reader,
    state: State,
    /// To flush the image with; none for who only reads.
    image_disk: Option<Box<dyn Disk>>,
    lock: Option<Lock>,
}

impl Opened {
    pub fn at(directory: &Path, options: Options) -> Result<Opened, StoreError> {
        let path = log_path(directory)?;
        let lock = Lock::take(&directory.join(LOCK), Hold::Alone)?;
        let disks = Disks { log: open_disk(&path, true)?, image: open_disk(&directory.join(IMAGE), true)? };
        Ok(Opened { directory: directory.into(), options, disks, lock: Some(lock), access: Access::Write })
    }

    /// Reads both heads, and decides which transaction of the image counts.
    pub fn recover(self) -> Result<Recovered, StoreError> {
        let Opened { directory, options, disks, lock, access } = self;
        let log = Log::open(disks.log, &directory.join(LOG))?;
        let image = Image::open(&directory.join(IMAGE), access, options.map_bytes, &log.label())?;
        let reader = Reader::new(&image)?;
        let state = image.state(&reader.lock())?;
        let image_disk = (access == Access::Write).then_some(disks.image);
        Ok(Recovered { directory, options, log, image, reader, state, image_disk, lock })
    }
}

impl Recovered {
    /// Reads what the log has and the image has not, and is open.
    pub fn replay(self) -> Result<Store, StoreError> {
        self.replay_until(None, &mut |_| {})
    }

    /// The same, and tells how many bytes of the log it has read. There may be more than was known to be flushed.
    pub fn replay_telling(self, progress: &mut dyn FnMut(Progress)) -> Result<Store, StoreError> {
        self.replay_until(None, progress)
    }

    fn replay_until(self, until: Option<u64>, progress: &mut dyn FnMut(Progress)) -> Result<Store, StoreError> {
        let Recovered { directory, options, log, image, reader, state, image_disk, lock } = self;
        let mut replayed = Replayed::after(&state);
        let total = log.label().durable.saturating_sub(state.applied);
        let visit = |header: &Header, payload: &[u8]| {
            progress(Progress { stage: "log", done: header.end() - state.applied, total });
            replayed.frame(&log, header, payload)
        };
        let tail = match until {
            None => replay(&log, state.applied, state.number, visit)?,
            Some(until) => replay_until(&log, state.applied, until, state.number, visit)?,
        };
        let start = Start {
            end: tail.end,
            applied: state.applied,
            counters: replayed.counters,
            pending: replayed.pending,
            is_read_only: image_disk.is_none(),
        };
        let has_thread = options.checkpoints == Checkpoints::Background;
        let bounds = Bounds {
            begin_changes: options.begin_changes,
            begin_bytes: options.begin_bytes,
            begin_after: options.begin_after,
            full_wait: if has_thread { options.full_wait } else { Duration::ZERO },
        };
        let pace = image_disk.map(|disk| Pace::new(disk, image.path().into()));
        Store::start(Shared {
            directory,
            store: state.store,
            reader,
            image,
            journal: Journal::new(log, start, bounds),
            options,
            turn: Mutex::new(pace),
            was_torn: tail.is_torn,
            is_beside: until.is_some(),
            _lock: lock,
        })
    }
}

/// What the log adds to the image.
struct Replayed {
    counters: Counters,
    pending: Pending,
}

impl Replayed {
    fn after(state: &State) -> Replayed {
        let counters = Counters {
            actor: state.actor,
            next_actor: state.next_actor,
            reserved_actor: state.next_actor,
            time: state.time,
            number: state.number,
            next_change: state.next_change,
        };
        Replayed { counters, pending: Pending::default() }
    }

    fn frame(&mut self, log: &Log, header: &Header, payload: &[u8]) -> Result<(), StoreError> {
        match header.kind {
            Kind::Actors => {
                let actor = ActorId(Fields::new(payload).u64());
                self.counters.next_actor = self.counters.next_actor.max(actor);
                self.counters.reserved_actor = self.counters.next_actor;
            }
            Kind::Commit => {
                let commit = decode_payload(header.number, payload, log.path())?;
                let last = commit.changes.last().filter(|change| change.id.actor == self.counters.actor);
                if let Some(last) = last {
                    self.counters.next_change = last.id.seq + 1;
                }
                self.counters.number = header.number;
                self.counters.time = self.counters.time.max(commit.time);
                let (number, time, end) = (commit.number, commit.time, header.end());
                let (author, cause, changes) = (commit.author, commit.cause, commit.changes);
                let commit = Arc::new(Committed { number, time, author, cause, changes, end });
                self.pending.push(commit, Outlines::default());
            }
        }
        Ok(())
    }
}
