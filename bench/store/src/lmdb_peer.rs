//! LMDB with its own flushes, as a peer. The one place outside of `system` with `unsafe`, which opening it takes: the
//! product's own layer opens it without flushes, and a benchmark does not ship.

use crate::peers::{Contender, each_chunk};
use crate::work::{Puts, key_bytes};
use std::path::Path;

type Bytes = heed::types::Bytes;

pub struct Lmdb {
    environment: heed::Env,
    table: heed::Database<Bytes, Bytes>,
}

impl Lmdb {
    pub fn new(path: &Path) -> Lmdb {
        // SAFETY: the file is ours alone.
        let environment = unsafe { heed::EnvOpenOptions::new().map_size(1 << 30).open(path) }.expect("it can be made");
        let mut transaction = environment.write_txn().expect("one can begin");
        let table = environment.create_database(&mut transaction, None).expect("a table can be made");
        transaction.commit().expect("the disk works");
        let lmdb = Lmdb { environment, table };
        each_chunk(|chunk| lmdb.put(chunk));
        lmdb
    }

    fn put(&self, puts: &[(u64, [u8; 150])]) {
        let mut transaction = self.environment.write_txn().expect("one can begin");
        for (key, value) in puts {
            self.table.put(&mut transaction, &key_bytes(*key), value).expect("there is room");
        }
        transaction.commit().expect("the disk works");
    }
}

impl Contender for Lmdb {
    fn commit(&self, puts: &Puts, _: u64) {
        self.put(puts);
    }
}
