//! The store against a raw append with a flush, SQLite, LMDB, redb and fjall, interleaved in one run. Prints every sample as
//! JSON; `cargo xtask bench store` makes medians, ratios and bars of it.

mod commits;
mod image;
mod lmdb_peer;
mod peers;
mod work;

use serde_json::{Map, Value, json};
use std::path::PathBuf;
use work::{argument, text_argument};

fn main() {
    if let Some(path) = text_argument("--make-image") {
        return image::make(&PathBuf::from(path), argument("--bytes", 1 << 30));
    }
    let only = text_argument("--only");
    let is_wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    let place = text_argument("--directory").map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = tempfile::tempdir_in(place).expect("a directory can be made");
    let at = |name: &str| directory.path().join(name);
    let rounds = argument("--rounds", 20);
    let mut report = Map::<String, Value>::new();
    if is_wanted("commits") {
        report.insert("commits".into(), commits::measure(&at("commits"), rounds, argument("--commits", 200)));
    }
    if is_wanted("recovery") {
        report.insert("recovery".into(), image::recovery(&at("recovery"), argument("--changes", 1_000_000)));
    }
    if is_wanted("checkpoint") {
        let (objects, scattered) = (argument("--objects", 1_000_000), argument("--scattered", 100_000));
        report.insert("checkpoint".into(), image::checkpoint(&at("checkpoint"), objects, scattered, rounds.min(5)));
    }
    if is_wanted("reads") {
        let image = text_argument("--image").map(PathBuf::from).unwrap_or_else(|| {
            image::make(&at("image"), argument("--bytes", 1 << 30));
            at("image")
        });
        report.insert("reads".into(), image::reads(&image, argument("--reads", 1_000_000), rounds.min(5)));
        report.insert("opening".into(), image::opening(&image));
    }
    println!("{}", json!(report));
}
