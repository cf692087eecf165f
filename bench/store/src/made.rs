//! Makes an image of any size, that `telos up` opens: a list of shelves in the Lobby, each a list of items, each a clone of
//! one prototype with a text and a number of its own. The objects are made by the store alone, many in a commit: the
//! machine would make the same ones, one message after the other.

use crate::living::{Printed, open, send};
use crate::work::Random;
use image::{Image, Options};
use object::change::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;
use store::{Checkpoints, Durability, NewCommit, Store};

/// What an item takes in the file: in the table of objects, and in the history.
pub const BYTES_EACH: u64 = 430;
/// Items on a shelf.
const SHELF: u64 = 10_000;
/// The kind of a List, as records have it.
const LIST: u32 = 3;
const LIST_FLAGS: u32 = LIST << 1;
/// Where it is written what was made.
const NOTE: &str = "made.json";
/// More than that in the log is moved into the image.
const LOG_BYTES: u64 = 100 << 20;

/// An image that was made here.
pub struct Made {
    pub directory: PathBuf,
    actor: u64,
    first: u64,
    pub items: u64,
}

impl Made {
    pub fn is_in(directory: &Path) -> bool {
        directory.join(NOTE).exists()
    }

    pub fn read(directory: &Path) -> Made {
        let text = std::fs::read_to_string(directory.join(NOTE)).expect("an image that was made here");
        let note: Value = serde_json::from_str(&text).expect("the note is JSON");
        let number = |name: &str| note[name].as_u64().expect("the note has all numbers");
        Made { directory: directory.into(), actor: number("actor"), first: number("first"), items: number("items") }
    }

    fn note(&self) {
        let note = json!({ "actor": self.actor, "first": self.first, "items": self.items });
        std::fs::write(self.directory.join(NOTE), note.to_string()).expect("there is room");
    }

    /// An item, from nought on. Each shelf comes behind its items, and its place among shelves behind that.
    pub fn item(&self, number: u64) -> ObjectId {
        ObjectId::minted(ChangeId::new(ActorId(self.actor), self.first + number + number / SHELF * 2))
    }
}

pub fn options() -> store::Options {
    store::Options { checkpoints: Checkpoints::OnRequest, ..store::Options::default() }
}

/// Of about so many bytes.
pub fn make(directory: &Path, bytes: u64) -> Made {
    let start = Instant::now();
    let printed = Printed::default();
    let mut image = Image::create(directory, &Options::default(), Box::new(printed.clone())).expect("it can be made");
    send(&mut image, "Item := Object clone do(text := nil; count := 0); shelves := list(); favourite := nil");
    let mut id = |source: &str| {
        let value = send(&mut image, source);
        image.id_of(value).expect("it is persistent")
    };
    let known = Known { item: id("Item"), list: id("List"), shelves: id("shelves") };
    image.store().checkpoint().expect("there is room");
    image.close().expect("it closes");
    let made = fill(directory, &known, bytes / BYTES_EACH / SHELF + 1);
    let mut image = open(directory, &Options { store: options(), ..Options::default() }, &printed);
    send(&mut image, "favourite = shelves at(0) at(0); shelves size");
    image.store().checkpoint().expect("there is room");
    let bytes = image.store().status().expect("it has one").image_bytes;
    image.close().expect("it closes");
    made.note();
    eprintln!("made: {} items, {bytes} bytes, {:.1} s", made.items, start.elapsed().as_secs_f64());
    made
}

/// Objects that new ones refer to.
struct Known {
    item: ObjectId,
    list: ObjectId,
    shelves: ObjectId,
}

fn fill(directory: &Path, known: &Known, shelves: u64) -> Made {
    let store = Store::open(directory, options()).expect("it opens");
    let first = store.next_change();
    let mut random = Random(1);
    for shelf in 0..shelves {
        let changes = shelf_of_items(known, store.next_change(), shelf, &mut random);
        let commit = NewCommit { time: store.time(), changes, durability: Durability::Os, ..NewCommit::default() };
        store.commit(commit).expect("it is taken");
        if store.status().expect("it has one").pending_bytes > LOG_BYTES {
            store.checkpoint().expect("there is room");
        }
    }
    store.checkpoint().expect("there is room");
    store.close().expect("the disk works");
    Made { directory: directory.into(), actor: first.actor.0, first: first.seq, items: shelves * SHELF }
}

fn shelf_of_items(known: &Known, first: ChangeId, shelf: u64, random: &mut Random) -> Vec<Change> {
    let (text, count) = (Text::from("text"), Text::from("count"));
    let at = |offset: u64| ChangeId::new(first.actor, first.seq + offset);
    let time = Time(1);
    let mut changes = Vec::with_capacity(SHELF as usize + 2);
    for number in 0..SHELF {
        let value = Datum::Text(Text::from(random.value().as_slice()));
        let slots = vec![(text.clone(), value), (count.clone(), Datum::number(number as f64))];
        let creation = Creation { protos: vec![known.item], slots, ..Creation::default() };
        changes.push(Change::create(at(number), time, creation));
    }
    let items = (0..SHELF).map(|number| Datum::Object(ObjectId::minted(at(number))));
    let body = Body::Elements(Run::items(items));
    let list = Creation { kind: LIST, flags: LIST_FLAGS, protos: vec![known.list], body, ..Creation::default() };
    changes.push(Change::create(at(SHELF), time, list));
    let place = Run::items([Datum::Object(ObjectId::minted(at(SHELF)))]);
    let insert = Operation::Insert { line: Line::Items, index: shelf, run: place };
    changes.push(Change::new(at(SHELF + 1), time, known.shelves, insert));
    changes
}
