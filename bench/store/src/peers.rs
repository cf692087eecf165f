//! The contenders, each as its authors would have it set up for a commit that survives a failure of power.

use crate::lmdb_peer::Lmdb;
use crate::work::{KEYS, Puts, Random, key_bytes};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use object::change::*;
use rusqlite::Connection;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use store::{Checkpoints, NewCommit, Options, Store};

/// Something that makes a transaction durable. From several threads at once.
pub trait Contender: Sync {
    fn commit(&self, puts: &Puts, thread: u64);
    /// What is left for later, done outside of the measured time.
    fn rest(&self) {}
}

pub const NAMES: [&str; 6] = ["telos", "raw", "sqlite", "lmdb", "redb", "fjall"];

pub fn open(name: &str, directory: &Path) -> Box<dyn Contender> {
    let path = directory.join(name);
    std::fs::create_dir_all(&path).expect("the directory can be made");
    match name {
        "telos" => Box::new(Telos::new(&path)),
        "raw" => Box::new(Raw(Mutex::new(File::create(path.join("log")).expect("a file can be made")))),
        "sqlite" => Box::new(Sqlite::new(&path)),
        "lmdb" => Box::new(Lmdb::new(&path)),
        "redb" => Box::new(Redb::new(&path)),
        _ => Box::new(Fjall::new(&path)),
    }
}

pub struct Telos {
    pub store: Store,
    /// The next change of each thread's actor.
    next: [Mutex<u64>; 64],
}

impl Telos {
    fn new(path: &Path) -> Telos {
        let options = Options { checkpoints: Checkpoints::OnRequest, ..Options::default() };
        let store = Store::create(path, options).expect("a store can be made");
        fill(&store, KEYS);
        Telos { store, next: std::array::from_fn(|_| Mutex::new(1)) }
    }
}

/// Makes objects 1 to `count` of the store's own actor.
pub fn fill(store: &Store, count: u64) {
    let mut random = Random(1);
    while store.next_change().seq <= count {
        let first = store.next_change();
        let create = |offset| {
            let slots = vec![(Text::from("v"), Datum::bytes(&random.value()))];
            let id = ChangeId::new(first.actor, first.seq + offset);
            Change::create(id, Time(1), Creation { slots, ..Creation::default() })
        };
        let changes = (0..10_000.min(count + 1 - first.seq)).map(create).collect();
        let ticket = store.commit(NewCommit { changes, ..NewCommit::default() }).expect("it is taken");
        store.wait(ticket).expect("it is flushed");
        if store.status().expect("it has one").pending_bytes > 16 << 20 {
            store.checkpoint().expect("there is room");
        }
    }
    store.checkpoint().expect("there is room");
}

pub fn changes(actor: ActorId, first: u64, puts: &Puts) -> Vec<Change> {
    let change = |(index, (key, value)): (usize, &(u64, [u8; 150]))| {
        let object = ObjectId::minted(ChangeId::new(ActorId(1), *key));
        let operation = Operation::Put { field: Field::Slot("v".into()), value: Datum::bytes(value) };
        Change::new(ChangeId::new(actor, first + index as u64), Time(2), object, operation)
    };
    puts.iter().enumerate().map(change).collect()
}

impl Contender for Telos {
    fn commit(&self, puts: &Puts, thread: u64) {
        let mut next = self.next[thread as usize].lock().expect("nobody panicked");
        let changes = changes(ActorId(1000 + thread), *next, puts);
        *next += changes.len() as u64;
        let ticket = self.store.commit(NewCommit { changes, ..NewCommit::default() }).expect("it is taken");
        self.store.wait(ticket).expect("it is flushed");
    }

    fn rest(&self) {
        self.store.checkpoint().expect("there is room");
    }
}

/// The floor: an append of as many bytes, and a flush.
struct Raw(Mutex<File>);

/// What a frame of ours has for such a transaction.
pub const RAW_BYTES: usize = 744;

impl Contender for Raw {
    fn commit(&self, puts: &Puts, _: u64) {
        let mut bytes = Vec::with_capacity(RAW_BYTES);
        puts.iter().for_each(|(_, value)| bytes.extend(value));
        bytes.resize(RAW_BYTES, 0);
        let mut file = self.0.lock().expect("nobody panicked");
        file.write_all(&bytes).expect("there is room");
        file.sync_data().expect("the disk works");
    }
}

struct Sqlite(Mutex<Connection>);

impl Sqlite {
    fn new(path: &Path) -> Sqlite {
        let connection = Connection::open(path.join("db")).expect("a database can be made");
        connection.pragma_update(None, "journal_mode", "WAL").expect("WAL is there");
        connection.pragma_update(None, "synchronous", "FULL").expect("FULL is there");
        connection
            .execute("CREATE TABLE kv (k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID", [])
            .expect("a table can be made");
        let sqlite = Sqlite(Mutex::new(connection));
        each_chunk(|chunk| sqlite.put(chunk));
        sqlite
    }

    fn put(&self, puts: &[(u64, [u8; 150])]) {
        let mut connection = self.0.lock().expect("nobody panicked");
        let transaction = connection.transaction().expect("one can begin");
        {
            let mut statement =
                transaction.prepare_cached("INSERT OR REPLACE INTO kv VALUES (?1, ?2)").expect("it is SQL");
            for (key, value) in puts {
                statement.execute((&key_bytes(*key)[..], &value[..])).expect("there is room");
            }
        }
        transaction.commit().expect("the disk works");
    }
}

impl Contender for Sqlite {
    fn commit(&self, puts: &Puts, _: u64) {
        self.put(puts);
    }
}

/// Calls with the initial content, in parts.
pub fn each_chunk(mut put: impl FnMut(&[(u64, [u8; 150])])) {
    let mut random = Random(1);
    let all: Vec<(u64, [u8; 150])> = (1..=KEYS).map(|key| (key, random.value())).collect();
    all.chunks(5000).for_each(&mut put);
}

struct Redb(redb::Database);

const TABLE: redb::TableDefinition<&[u8], &[u8]> = redb::TableDefinition::new("kv");

impl Redb {
    fn new(path: &Path) -> Redb {
        let redb = Redb(redb::Database::create(path.join("db")).expect("it can be made"));
        each_chunk(|chunk| redb.put(chunk));
        redb
    }

    fn put(&self, puts: &[(u64, [u8; 150])]) {
        let transaction = self.0.begin_write().expect("one can begin");
        {
            let mut table = transaction.open_table(TABLE).expect("it is there");
            for (key, value) in puts {
                table.insert(&key_bytes(*key)[..], &value[..]).expect("there is room");
            }
        }
        transaction.commit().expect("the disk works");
    }
}

impl Contender for Redb {
    fn commit(&self, puts: &Puts, _: u64) {
        self.put(puts);
    }
}

struct Fjall {
    database: Database,
    keyspace: Keyspace,
}

impl Fjall {
    fn new(path: &Path) -> Fjall {
        let database = Database::builder(path).open().expect("it can be made");
        let keyspace = database.keyspace("kv", KeyspaceCreateOptions::default).expect("a keyspace can be made");
        let fjall = Fjall { database, keyspace };
        each_chunk(|chunk| fjall.put(chunk));
        fjall
    }

    fn put(&self, puts: &[(u64, [u8; 150])]) {
        let mut batch = self.database.batch().durability(Some(PersistMode::SyncData));
        for (key, value) in puts {
            batch.insert(&self.keyspace, key_bytes(*key), value);
        }
        batch.commit().expect("the disk works");
    }
}

impl Contender for Fjall {
    fn commit(&self, puts: &Puts, _: u64) {
        self.put(puts);
    }
}
