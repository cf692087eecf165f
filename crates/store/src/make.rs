//! Making the files of a store, so that a crash at any moment leaves a store, or nothing that anybody takes for one.
//!
//! Both files are made under names of their own and flushed. Then the image gets its name, and last the log, without which
//! there is no store. What has these names of their own is never anybody's, and is replaced by the next attempt; what is
//! called `telos.img` is never replaced.

use crate::error::StoreError;
use crate::image::Image;
use crate::label::Label;
use crate::log::Log;
use crate::open::{IMAGE, LOCK, LOG};
use crate::options::Options;
use crate::state::State;
use crate::store::Store;
use object::change::{ActorId, Time};
use std::io::ErrorKind;
use std::path::Path;
use system::disk::{Disk, FileDisk};
use system::file::{Lock, give_name, make_directory};
use system::lmdb::Access;

const NEW_LOG: &str = "telos.wal.new";
const NEW_IMAGE: &str = "telos.img.new";
/// What LMDB puts beside it.
const NEW_IMAGE_READERS: &str = "telos.img.new-lock";
pub const LIVE_ACTOR: ActorId = ActorId(1);

impl Store {
    /// Makes a store in a directory, which is made too if there is none.
    pub fn create(directory: &Path, options: Options) -> Result<Store, StoreError> {
        Store::make(directory, &options)?;
        Store::open(directory, options)
    }

    /// The files of a store without a commit, to be opened by whoever wants it.
    pub fn make(directory: &Path, options: &Options) -> Result<(), StoreError> {
        make_directory(directory)?;
        let _lock = Lock::take(&directory.join(LOCK))?;
        if is_there(&directory.join(LOG)) {
            return Err(StoreError::Exists(directory.into()));
        }
        if !is_there(&directory.join(IMAGE)) {
            make_files(directory, options)?;
            give_name(&directory.join(NEW_IMAGE), &directory.join(IMAGE))?;
        } else if !is_made_with_new_log(directory, options) {
            return Err(StoreError::LogLost(directory.into()));
        }
        Ok(give_name(&directory.join(NEW_LOG), &directory.join(LOG))?)
    }
}

/// Also a link that leads nowhere is somebody's.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Whether the image is the one that was made together with the log that has no name yet, and nothing was ever committed.
fn is_made_with_new_log(directory: &Path, options: &Options) -> bool {
    let path = directory.join(NEW_LOG);
    let label = FileDisk::open(&path, false).ok().and_then(|disk| Label::read(&disk, &path).ok());
    // Whoever opens a store to write to it leaves another session in the label before anything else.
    label.is_some_and(|label| {
        let is_new = label.session == 0 && [label.frontier, label.durable, label.applied] == [0; 3];
        is_new && Image::open(&directory.join(IMAGE), Access::ReadUnlocked, options.map_bytes, &label).is_ok()
    })
}

fn make_files(directory: &Path, options: &Options) -> Result<(), StoreError> {
    let [log_path, image_path, readers_path] = [NEW_LOG, NEW_IMAGE, NEW_IMAGE_READERS].map(|name| directory.join(name));
    remove(&image_path)?;
    let log = FileDisk::create(&log_path).map_err(StoreError::file("make", &log_path))?;
    let state = new_state(directory)?;
    let image = Image::create(&image_path, options.map_bytes, &state)?;
    let flushed = FileDisk::open(&image_path, true).and_then(|file| file.flush());
    flushed.map_err(StoreError::file("flush", &image_path))?;
    let (image_number, image_checksum) = image.stamp()?;
    drop(image);
    remove(&readers_path)?;
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
    Log::create(Box::new(log), &log_path, label).map(|_| ())
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::file("remove", path)(error)),
        _ => Ok(()),
    }
}

fn new_state(directory: &Path) -> Result<State, StoreError> {
    let mut store = [0; 16];
    let random = system::random::fill(&mut store);
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
