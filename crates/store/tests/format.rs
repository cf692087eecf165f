//! Stores of released formats must open for ever. If this test must change, old images break.
//!
//! `TELOS_WRITE_FIXTURE=DIRECTORY cargo test -p store --test format` writes a store of the current format there.

use object::change::*;
use std::path::Path;
use store::*;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/format");

fn options() -> Options {
    Options { log_bytes: 64 << 10, map_bytes: 1 << 28, checkpoints: Checkpoints::OnRequest, ..Options::default() }
}

fn id(seq: u64) -> ObjectId {
    ObjectId::minted(ChangeId::new(ActorId(1), seq))
}

fn commit(store: &Store, cause: &str, changes: Vec<Change>) {
    let (author, cause) = ("fixture".into(), cause.into());
    let ticket = store.commit(NewCommit { time: Time::from_ms(1), author, cause, changes, ..NewCommit::default() });
    store.wait(ticket.unwrap()).unwrap();
}

/// Two commits in the image, two in the log, an actor given out.
fn write_fixture(directory: &Path) {
    let store = Store::create(directory, options()).unwrap();
    let change = |seq| ChangeId::new(ActorId(1), seq);
    let time = Time::from_ms(1);
    let slots = vec![(Text::from("name"), Datum::text("first")), (Text::from("count"), Datum::number(1.0))];
    let list = Body::Elements(Run::items([Datum::Object(id(1)), Datum::Nil, Datum::bytes(b"abc")]));
    let first = Change::create(change(1), time, Creation { kind: 1, flags: 2, slots, ..Creation::default() });
    let second = Change::create(change(2), time, Creation { protos: vec![id(1)], body: list, ..Creation::default() });
    commit(&store, "make", vec![first, second]);
    commit(&store, "set", vec![Change::new(change(3), time, id(1), Operation::set_slot("count", 2.0))]);
    store.checkpoint().unwrap();
    store.mint_actor().unwrap();
    commit(&store, "set again", vec![Change::new(change(4), time, id(1), Operation::set_slot("count", 3.0))]);
    let delete = Operation::Delete { line: Line::Items, index: 1, count: 1 };
    commit(&store, "delete", vec![Change::new(change(5), time, id(2), delete)]);
    store.close().unwrap();
    for lock in [LOCK, "telos.img-lock"] {
        std::fs::remove_file(directory.join(lock)).unwrap();
    }
}

fn assert_fixture(store: &Store) {
    let first = store.read(id(1)).unwrap().unwrap();
    assert_eq!((first.kind, first.flags), (1, 2));
    assert_eq!(first.field(&Field::Slot("count".into())), Datum::number(3.0));
    assert_eq!(first.field(&Field::Slot("name".into())), Datum::text("first"));
    let second = store.read(id(2)).unwrap().unwrap();
    assert_eq!(second.protos, [id(1)]);
    assert_eq!(second.run(Line::Items), Run::items([Datum::Object(id(1)), Datum::bytes(b"abc")]));
    let causes: Vec<String> = store.history().map(|commit| commit.unwrap().cause).collect();
    assert_eq!(causes, ["delete", "set again", "set", "make"]);
    let undo = store.commit_at(2).unwrap().unwrap().inverse;
    assert_eq!(undo[0].operation, Operation::set_slot("count", 1.0));
    assert_eq!((store.next_change().seq, store.time()), (6, Time::from_ms(1)));
    assert!(store.check(&mut |_| {}).unwrap().is_clean());
}

#[test]
fn a_store_of_format_1_opens() {
    if let Some(directory) = std::env::var_os("TELOS_WRITE_FIXTURE") {
        write_fixture(Path::new(&directory));
    }
    let directory = tempfile::tempdir().unwrap();
    for name in [LOG, IMAGE] {
        std::fs::copy(Path::new(FIXTURES).join("1").join(name), directory.path().join(name)).unwrap();
    }
    let store = Store::open(directory.path(), options()).unwrap();
    assert_fixture(&store);
    assert!(store.mint_actor().unwrap() > ActorId(2), "what was given out is not given out again");
    store.checkpoint().unwrap();
    assert_fixture(&store);
}
