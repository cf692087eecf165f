//! Opening an image after both of its processes were killed: from the start of `telos up` to the first answer, against a
//! process that opens the same file with bare LMDB, reads one key and ends.

use crate::made::Made;
use crate::up::{Up, ask};
use crate::work::{again, required, resident_bytes};
use keeper::protocol::Request;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use store::IMAGE;
use system::lmdb::{Access, Environment, Snapshot};

/// Commits before each kill, so that there is something to recover.
const COMMITS: usize = 100;

pub fn measure(small: &Made, large: &Made, rounds: u64) -> Value {
    let telos = required("--telos");
    let mut sizes = [Size::of(small), Size::of(large)];
    for size in &sizes {
        let mut up = Up::start(&telos, &size.made.directory);
        write(&up);
        up.kill();
    }
    for round in 0..rounds as usize {
        for offset in 0..sizes.len() {
            let index = (round + offset) % sizes.len();
            sizes[index].sample(&telos);
        }
        eprintln!("opening: round {} of {rounds}", round + 1);
    }
    sizes.iter().map(Size::report).collect()
}

struct Size<'m> {
    made: &'m Made,
    telos_ms: Vec<f64>,
    lmdb_ms: Vec<f64>,
    resident: Vec<f64>,
    anonymous: Vec<f64>,
}

impl Size<'_> {
    fn of(made: &Made) -> Size<'_> {
        Size { made, telos_ms: vec![], lmdb_ms: vec![], resident: vec![], anonymous: vec![] }
    }

    fn sample(&mut self, telos: &Path) {
        let start = Instant::now();
        again("lmdb", &[("--file", self.made.directory.join(IMAGE).as_os_str())]);
        self.lmdb_ms.push(start.elapsed().as_secs_f64() * 1e3);
        let start = Instant::now();
        let mut up = Up::start(telos, &self.made.directory);
        ask(&mut up.client(), &Request::evaluate("favourite count"));
        self.telos_ms.push(start.elapsed().as_secs_f64() * 1e3);
        let (resident, anonymous) = resident_bytes(up.image_pid);
        self.resident.push(resident);
        self.anonymous.push(anonymous);
        write(&up);
        up.kill();
    }

    fn report(&self) -> Value {
        let bytes = std::fs::metadata(self.made.directory.join(IMAGE)).map_or(0, |metadata| metadata.len());
        json!({
            "bytes": bytes, "telos_ms": self.telos_ms, "lmdb_ms": self.lmdb_ms, "resident_bytes": self.resident,
            "anonymous_bytes": self.anonymous,
        })
    }
}

fn write(up: &Up) {
    let mut client = up.client();
    let request = Request::evaluate("favourite count = favourite count + 1");
    (0..COMMITS).for_each(|_| drop(ask(&mut client, &request)));
}

pub fn bare_environment(file: &Path) -> Arc<Environment> {
    let options = system::lmdb::Options {
        access: Access::ReadUnlocked,
        snapshot: Snapshot::Newest,
        map_bytes: 1 << 40,
        tables: 8,
        readers: 16,
    };
    Environment::open(file, &options).expect("it opens")
}

/// In a process of its own: opens the file, reads a key.
pub fn bare() -> Value {
    let environment = bare_environment(&required("--file"));
    let table = environment.table("objects", false).expect("it is there");
    let snapshot = environment.read().expect("it can be read");
    let mut key = [0; 16];
    (key[7], key[15]) = (1, 1);
    json!(snapshot.get(table, &key).expect("it can be read").expect("the root is the first object").len())
}
