//! Opening a store after whatever happened to it. Reads the log's tail only; the image is never walked.

use crate::bytes::Fields;
use crate::check::Progress;
use crate::error::StoreError;
use crate::frame::{Header, Kind};
use crate::hold::Held;
use crate::image::Image;
use crate::journal::{Bounds, Counters, Journal, Start};
use crate::log::Log;
use crate::options::{Checkpoints, Options};
use crate::pace::Pace;
use crate::pending::{Committed, Pending};
use crate::reader::Reader;
use crate::record::decode_payload;
use crate::recover::{replay, replay_until};
use crate::state::State;
use crate::store::{Shared, Store};
use object::change::ActorId;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use system::disk::{Disk, FileDisk};
use system::lmdb::Access;

pub const LOG: &str = "telos.wal";
pub const IMAGE: &str = "telos.img";
pub const LOCK: &str = "telos.lock";

impl Store {
    pub fn open(directory: &Path, options: Options) -> Result<Store, StoreError> {
        Opened::at(directory, options)?.recover()?.replay()
    }

    /// For inspection: refuses commits, writes nothing. Several may be open at once, but none beside a writer.
    pub fn open_read_only(directory: &Path, options: Options) -> Result<Store, StoreError> {
        expect_files(directory)?;
        let held = Some(Held::to_read(directory)?);
        let (disks, access) = (Disks::open(directory, false)?, Access::ReadUnlocked);
        Opened { directory: directory.into(), options, disks, held, access }.recover()?.replay()
    }

    /// For inspection beside a writer in another process, which holds still until this returns: see `Store::hold_still`.
    /// Reads the log up to `until`, and sees nothing that is committed later.
    pub fn open_beside(directory: &Path, options: Options, until: u64) -> Result<Store, StoreError> {
        expect_files(directory)?;
        let disks = Disks::open(directory, false)?;
        let opened = Opened { directory: directory.into(), options, disks, held: None, access: Access::Read };
        opened.recover()?.replay_until(Some(until), &mut |_| {})
    }

    /// As `open`, on any disks: for tests of what disks do.
    pub fn open_on(directory: &Path, options: Options, disks: Disks) -> Result<Store, StoreError> {
        let (held, access) = (Some(Held::to_write(directory)?), Access::Write);
        Opened { directory: directory.into(), options, disks, held, access }.recover()?.replay()
    }
}

/// What the two files are reached through. The image's is only flushed: LMDB itself reads and writes the file.
pub struct Disks {
    pub log: Box<dyn Disk>,
    pub image: Box<dyn Disk>,
}

impl Disks {
    fn open(directory: &Path, is_writable: bool) -> Result<Disks, StoreError> {
        let open = |name| -> Result<Box<dyn Disk>, StoreError> {
            let path = directory.join(name);
            Ok(Box::new(FileDisk::open(&path, is_writable).map_err(StoreError::file("open", &path))?))
        };
        Ok(Disks { log: open(LOG)?, image: open(IMAGE)? })
    }
}

/// Says which of the two files is missing.
fn expect_files(directory: &Path) -> Result<(), StoreError> {
    match (directory.join(LOG).exists(), directory.join(IMAGE).exists()) {
        (true, true) => Ok(()),
        (true, false) => Err(StoreError::ImageLost(directory.into())),
        (false, true) => Err(StoreError::LogLost(directory.into())),
        (false, false) => Err(StoreError::Missing(directory.into())),
    }
}

/// A store whose files are open and ours. Nothing was read yet.
pub struct Opened {
    directory: PathBuf,
    options: Options,
    disks: Disks,
    /// None beside somebody who writes.
    held: Option<Held>,
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
    held: Option<Held>,
}

impl Opened {
    pub fn at(directory: &Path, options: Options) -> Result<Opened, StoreError> {
        expect_files(directory)?;
        let held = Some(Held::to_write(directory)?);
        let disks = Disks::open(directory, true)?;
        Ok(Opened { directory: directory.into(), options, disks, held, access: Access::Write })
    }

    /// Reads both heads, and decides which transaction of the image counts.
    pub fn recover(self) -> Result<Recovered, StoreError> {
        let Opened { directory, options, disks, held, access } = self;
        let log = Log::open(disks.log, &directory.join(LOG))?;
        let image = Image::open(&directory.join(IMAGE), access, options.map_bytes, &log.label())?;
        let reader = Reader::new(&image)?;
        let state = reader.lock().state()?;
        let image_disk = (access == Access::Write).then_some(disks.image);
        Ok(Recovered { directory, options, log, image, reader, state, image_disk, held })
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
        let Recovered { directory, options, log, image, reader, state, image_disk, held } = self;
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
        if image_disk.is_some() {
            log.wipe(&tail.stale)?;
        }
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
            was_torn: tail.is_torn(),
            forks: Arc::default(),
            is_beside: until.is_some(),
            _held: held,
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
                self.pending.push_unknown(commit);
            }
        }
        Ok(())
    }
}
