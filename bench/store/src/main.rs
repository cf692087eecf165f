//! The store and the image against a raw append with a flush, SQLite, LMDB, redb and fjall, interleaved in one run. Prints
//! every sample as JSON; `cargo xtask bench store` makes medians, ratios and bars of it.

mod clients;
mod commits;
mod heap;
mod living;
mod lmdb_peer;
mod made;
mod opening;
mod peers;
mod rollback;
mod stored;
mod touch;
mod up;
mod work;
mod worlds;

use made::Made;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use work::{argument, text_argument};

const GIGABYTE: u64 = 1_000_000_000;

fn main() {
    if let Some(role) = text_argument("--role") {
        return println!("{}", play(&role));
    }
    if let Some(path) = text_argument("--make-image") {
        made::make(&PathBuf::from(path), argument("--bytes", GIGABYTE));
        return;
    }
    let place = text_argument("--directory").map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = tempfile::tempdir_in(place).expect("a directory can be made");
    let only = text_argument("--only");
    let mut report = Map::<String, Value>::new();
    for (name, measure) in PARTS.iter().filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name)) {
        report.insert((*name).into(), measure(directory.path(), argument("--rounds", 20)));
    }
    println!("{}", json!(report));
}

/// Measures one part, in a directory that all of them share, with so many rounds.
type Measure = fn(&Path, u64) -> Value;

const PARTS: [(&str, Measure); 11] = [
    ("commits", |at, rounds| commits::measure(&at.join("commits"), rounds, argument("--commits", 200))),
    ("recovery", |at, _| stored::recovery(&at.join("recovery"), argument("--changes", 1_000_000))),
    ("checkpoint", |at, rounds| {
        let made = made::make(&at.join("checkpoint"), argument("--objects", 1_000_000) * made::BYTES_EACH);
        stored::checkpoint(&made, argument("--scattered", 100_000), rounds.min(5))
    }),
    ("reads", |at, rounds| stored::reads(&ordinary_image(at), argument("--reads", 1_000_000), rounds.min(5))),
    ("heap", |at, rounds| heap::measure(&at.join("heap"), rounds)),
    ("opening", |at, rounds| opening::measure(&ordinary_image(at), &large_image(at), rounds)),
    ("clients", |at, rounds| clients::measure(&at.join("clients"), rounds, argument("--requests", 100))),
    ("rollback", |at, rounds| rollback::measure(&at.join("rollback"), argument("--writes", 100_000), rounds)),
    ("touch", |at, rounds| touch::measure(&ordinary_image(at), argument("--reads", 1_000_000), rounds.min(10))),
    ("worlds", |at, _| worlds::measure(&at.join("worlds"))),
    ("sizes", |at, rounds| {
        let sizes = [ordinary_image(at), large_image(at)];
        sizes.iter().map(|made| stored::checkpoint(made, argument("--scattered", 100_000), rounds.min(5))).collect()
    }),
];

/// What a process does that another one of this program started.
fn play(role: &str) -> Value {
    match role {
        "program" => heap::run(),
        "worlds" => worlds::run(),
        "lmdb" => opening::bare(),
        "touch" => touch::run(),
        _ => panic!("there is no role {role}"),
    }
}

/// The image of `--bytes`: the one that is given, or one that is made once.
fn ordinary_image(directory: &Path) -> Made {
    given_or_made("--image", directory, argument("--bytes", GIGABYTE))
}

/// One of ten times the size.
fn large_image(directory: &Path) -> Made {
    given_or_made("--large-image", directory, 10 * argument("--bytes", GIGABYTE))
}

fn given_or_made(name: &str, directory: &Path, bytes: u64) -> Made {
    let path = text_argument(name).map_or_else(|| directory.join(&name[2..]), PathBuf::from);
    if Made::is_in(&path) { Made::read(&path) } else { made::make(&path, bytes) }
}
