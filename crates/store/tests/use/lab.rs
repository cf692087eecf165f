//! A store in a directory that goes away, and short ways to change what is in it.

use object::change::*;
use std::path::Path;
use store::*;

pub struct Lab {
    directory: tempfile::TempDir,
    store: Option<Store>,
}

impl Lab {
    pub fn new() -> Lab {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::create(directory.path(), Lab::options()).unwrap();
        Lab { directory, store: Some(store) }
    }

    /// Small, and with checkpoints only when asked for.
    pub fn options() -> Options {
        Options { log_bytes: 128 << 10, map_bytes: 1 << 30, checkpoints: Checkpoints::OnRequest, ..Options::default() }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    pub fn close(&mut self) {
        self.store.take().unwrap().close().unwrap();
    }

    pub fn reopen(&mut self) {
        let next = self.store().next_change();
        self.close();
        self.store = Some(Store::open(self.directory.path(), Lab::options()).unwrap());
        assert_eq!(self.store().next_change(), next);
    }

    pub fn change(&mut self, object: ObjectId, operation: Operation) -> Change {
        let id = self.store().next_change();
        Change::new(id, Time(id.seq), object, operation)
    }

    pub fn commit(&mut self, change: Change) {
        let (author, cause) = ("tester".into(), "a test".into());
        let commit = NewCommit { time: change.time, author, cause, changes: vec![change], ..NewCommit::default() };
        let ticket = self.store().commit(commit).unwrap();
        self.store().wait(ticket).unwrap();
    }

    pub fn create(&mut self, slots: &[(&str, f64)]) -> ObjectId {
        let slots = slots.iter().map(|(name, value)| (Text::from(*name), Datum::number(*value))).collect();
        let change = Change::create(self.store().next_change(), Time(1), Creation { slots, ..Creation::default() });
        let object = change.object;
        self.commit(change);
        object
    }

    pub fn make(&mut self, body: Body) -> ObjectId {
        let change = Change::create(self.store().next_change(), Time(1), Creation { body, ..Creation::default() });
        let object = change.object;
        self.commit(change);
        object
    }

    pub fn set(&mut self, object: ObjectId, name: &str, value: f64) {
        let change = self.change(object, Operation::set_slot(name, value));
        self.commit(change);
    }

    pub fn slot(&self, object: ObjectId, name: &str) -> Datum {
        self.store().read(object).unwrap().unwrap().field(&Field::Slot(name.into()))
    }
}
