//! Making a store, and opening one after whatever happened to it. Reads the log's tail only; the image is never walked.

use crate::bytes::Fields;
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
use crate::recover::replay;
use crate::state::State;
use crate::store::{Shared, Store};
use object::change::{ActorId, Time};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use system::disk::{Disk, FileDisk};
use system::file::{Hold, Lock, flush_directory};
use system::lmdb::Access;

pub const LOG: &str = "telos.wal";
pub const IMAGE: &str = "telos.img";
pub const LOCK: &str = "telos.lock";
/// A log under this name belongs to a store whose making was not finished.
const UNFINISHED: &str = "telos.wal.new";
const LIVE_ACTOR: ActorId = ActorId(1);

impl Store {
    /// Makes a store in a directory, which is made too if there is none.
    pub fn create(directory: &Path, options: Options) -> Result<Store, StoreError> {
        std::fs::create_dir_all(directory).map_err(StoreError::file("make", directory))?;
        let lock = Lock::take(&directory.join(LOCK), Hold::Alone)?;
        if directory.join(LOG).exists() {
            return Err(StoreError::Exists(directory.into()));
        }
        make_files(directory, &options)?;
        drop(lock);
        Store::open(directory, options)
    }

    pub fn open(directory: &Path, options: Options) -> Result<Store, StoreError> {
        let path = log_path(directory)?;
        let lock = Lock::take(&directory.join(LOCK), Hold::Alone)?;
        let disks = Disks { log: open_disk(&path, true)?, image: open_disk(&directory.join(IMAGE), true)? };
        open_with(directory, options, disks, lock, Access::Write)
    }

    /// For inspection: refuses commits, writes nothing. Several may be open at once, but none beside a writer.
    pub fn open_read_only(directory: &Path, options: Options) -> Result<Store, StoreError> {
        let path = log_path(directory)?;
        let lock = Lock::take(&directory.join(LOCK), Hold::Shared)?;
        let disks = Disks { log: open_disk(&path, false)?, image: open_disk(&directory.join(IMAGE), false)? };
        open_with(directory, options, disks, lock, Access::ReadUnlocked)
    }

    /// As `open`, on any disks: for tests of what disks do.
    pub fn open_on(directory: &Path, options: Options, disks: Disks) -> Result<Store, StoreError> {
        let lock = Lock::take(&directory.join(LOCK), Hold::Alone)?;
        open_with(directory, options, disks, lock, Access::Write)
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
    if path.exists() { Ok(path) } else { Err(StoreError::Missing(directory.into())) }
}

/// The log gets its name last: without it there is no store, and what is left of an earlier attempt is replaced.
fn make_files(directory: &Path, options: &Options) -> Result<(), StoreError> {
    let (image_path, unfinished) = (directory.join(IMAGE), directory.join(UNFINISHED));
    for path in [&image_path, &unfinished] {
        if path.exists() {
            std::fs::remove_file(path).map_err(StoreError::file("remove", path))?;
        }
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
    let disk = FileDisk::create(&unfinished).map_err(StoreError::file("make", &unfinished))?;
    Log::create(Box::new(disk), &unfinished, label)?;
    let path = directory.join(LOG);
    std::fs::rename(&unfinished, &path).map_err(StoreError::file("make", &path))?;
    flush_directory(directory)?;
    Ok(())
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

fn open_with(
    directory: &Path,
    options: Options,
    disks: Disks,
    lock: Lock,
    access: Access,
) -> Result<Store, StoreError> {
    let log = Log::open(disks.log, &directory.join(LOG))?;
    let image = Image::open(&directory.join(IMAGE), access, options.map_bytes, &log.label())?;
    let reader = Reader::new(&image)?;
    let state = image.state(&reader.lock())?;
    let mut replayed = Replayed::after(&state);
    let tail = replay(&log, state.applied, state.number, |header, payload| replayed.frame(&log, header, payload))?;
    let is_writable = access == Access::Write;
    let start = Start {
        end: tail.end,
        applied: state.applied,
        counters: replayed.counters,
        pending: replayed.pending,
        is_read_only: !is_writable,
    };
    let has_thread = options.checkpoints == Checkpoints::Background;
    let bounds = Bounds {
        begin_changes: options.begin_changes,
        begin_bytes: options.begin_bytes,
        begin_after: options.begin_after,
        full_wait: if has_thread { options.full_wait } else { Duration::ZERO },
    };
    let pace = is_writable.then(|| Pace::new(disks.image, image.path().into()));
    Store::start(Shared {
        directory: directory.into(),
        store: state.store,
        reader,
        image,
        journal: Journal::new(log, start, bounds),
        options,
        turn: Mutex::new(pace),
        was_torn: tail.is_torn,
        _lock: lock,
    })
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
