//! `telos.img`: the tables of the image and how they are found again. Decides on opening which of the two last transactions
//! counts: the newest, if the log's label says that it was flushed, else the one before.

use crate::error::StoreError;
use crate::label::Label;
use crate::log::image_checksum;
use crate::state::{self, State};
use object::change::{ChangeError, Creation, ObjectId, Outline, Resting, borrow_stored, decode_stored, outline_stored};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use system::lmdb::{Access, Environment, Options, ReadTransaction, Snapshot, Table, discard_newest, read_headers};

const TABLES: u32 = 8;
/// Snapshots at the same time, of all processes; pins of forks among them, of which each may need one of its own.
const READERS: u32 = 4096;

#[derive(Clone)]
pub struct Image {
    pub environment: Arc<Environment>,
    /// Objects by id, as `object::change::stored` writes them.
    pub objects: Table,
    /// Commits by number.
    pub history: Table,
    /// What concerns the whole: so far `state` only.
    pub about: Table,
    path: PathBuf,
}

impl Image {
    /// A new image, handed to the kernel, not flushed.
    pub fn create(path: &Path, map_bytes: usize, state: &State) -> Result<Image, StoreError> {
        let image = Image::open_with(path, Access::Write, Snapshot::Newest, map_bytes)?;
        let mut transaction = image.environment.write()?;
        transaction.put(image.about, state::KEY, &state.to_bytes())?;
        transaction.commit()?;
        Ok(image)
    }

    pub fn open(path: &Path, access: Access, map_bytes: usize, label: &Label) -> Result<Image, StoreError> {
        let mut snapshot = flushed_snapshot(path, label)?;
        if access == Access::Write && snapshot == Snapshot::Previous {
            discard_newest(path)?;
            snapshot = Snapshot::Newest;
        }
        let image = Image::open_with(path, access, snapshot, map_bytes)?;
        let state = image.state(&image.environment.read()?)?;
        if state.store != label.store {
            return Err(StoreError::corrupt(path, "it belongs to another log"));
        }
        if state.applied != label.applied {
            return Err(StoreError::corrupt(path, "it is not as far as its log says"));
        }
        Ok(image)
    }

    /// The same file through a mapping that cannot be made writable, and without a table of readers: for copies of this process.
    /// Somebody must keep a snapshot of `self` for as long as one of it is read, and as old.
    pub fn for_forks(&self, map_bytes: usize) -> Result<Image, StoreError> {
        self.environment.keep_from_forks()?;
        Image::open_with(&self.path, Access::ReadUnlocked, Snapshot::Newest, map_bytes)
    }

    fn open_with(path: &Path, access: Access, snapshot: Snapshot, map_bytes: usize) -> Result<Image, StoreError> {
        let options = Options { access, snapshot, map_bytes, tables: TABLES, readers: READERS };
        let environment = Environment::open(path, &options)?;
        let is_writer = access == Access::Write;
        let objects = environment.table("objects", is_writer)?;
        let history = environment.table("history", is_writer)?;
        let about = environment.table("about", is_writer)?;
        Ok(Image { environment, objects, history, about, path: path.into() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn state(&self, snapshot: &ReadTransaction) -> Result<State, StoreError> {
        let bytes = snapshot.get(self.about, state::KEY)?;
        State::from_bytes(bytes.unwrap_or_default(), &self.path)
    }

    /// Checks what was found under an object's key.
    pub fn object(&self, object: ObjectId, value: &[u8]) -> Result<Creation, StoreError> {
        decode_stored(object, value).map_err(|source| self.damaged(object, source))
    }

    /// The same for whoever only looks at it.
    pub fn borrowed_object<'v>(&self, object: ObjectId, value: &'v [u8]) -> Result<Resting<'v>, StoreError> {
        borrow_stored(object, value).map_err(|source| self.damaged(object, source))
    }

    fn damaged(&self, object: ObjectId, source: ChangeError) -> StoreError {
        StoreError::CorruptObject { object, path: self.path.clone(), source }
    }

    /// What operations fit an object; none if there is none of this id.
    pub fn outline(&self, snapshot: &ReadTransaction, object: ObjectId) -> Result<Option<Outline>, StoreError> {
        let Some(value) = snapshot.get(self.objects, &object.to_bytes())? else { return Ok(None) };
        outline_stored(object, value).map(Some).map_err(|source| self.damaged(object, source))
    }

    /// The last transaction's number and the checksum of its header, for the label.
    pub fn stamp(&self) -> Result<(u64, u64), StoreError> {
        let headers = read_headers(&self.path)?;
        let newest = headers.iter().max_by_key(|header| header.number).expect("there are two headers");
        Ok((newest.number, image_checksum(&newest.bytes)))
    }
}

/// Which of the two last transactions is the one that the label knows to be flushed.
fn flushed_snapshot(path: &Path, label: &Label) -> Result<Snapshot, StoreError> {
    let mut headers = read_headers(path)?;
    headers.sort_by_key(|header| header.number);
    let [older, newer] = &headers;
    let is_flushed = |header: &system::lmdb::Header| {
        header.number == label.image_number && image_checksum(&header.bytes) == label.image_checksum
    };
    let length = std::fs::metadata(path).map_err(StoreError::file("look at", path))?.len();
    let wanted = headers.iter().filter(|header| is_flushed(header)).map(|header| header.file_bytes).max();
    if wanted.is_some_and(|wanted| length < wanted) {
        let what = format!("it has {length} bytes, fewer than the {} that were flushed", wanted.unwrap_or(0));
        return Err(StoreError::corrupt(path, what));
    }
    if is_flushed(newer) {
        Ok(Snapshot::Newest)
    } else if is_flushed(older) && newer.number == older.number + 1 {
        Ok(Snapshot::Previous)
    } else {
        let what = format!("its header is not that of transaction {}, which was flushed last", label.image_number);
        Err(StoreError::corrupt(path, what))
    }
}
