//! A real process that commits from several threads with checkpoints running, killed at random moments, again and again on
//! the same store: no commit that it acknowledged is lost, and the check is clean each time.

use crate::{assert_clean, seed};
use object::change::*;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use store::{Checkpoints, NewCommit, Options, Store};
use testkit::Random;

const CHILD: &str = "TELOS_KILL";
const COMMITTERS: u64 = 4;
/// Each committer keeps a few objects, and writes into all of them with every commit.
const OBJECTS: u64 = 3;

fn options() -> Options {
    Options {
        log_bytes: 256 << 10,
        map_bytes: 1 << 30,
        checkpoints: Checkpoints::Background,
        begin_changes: 30,
        begin_after: Duration::from_millis(5),
        step_changes: 64,
        ..Options::default()
    }
}

fn object(committer: u64, index: u64) -> ObjectId {
    ObjectId::minted(ChangeId::new(ActorId(100 + committer), index + 1))
}

/// The last number that a committer wrote, the same in all of its objects.
fn written(store: &Store, committer: u64) -> u64 {
    let value = |index| {
        let object = store.read(object(committer, index)).unwrap();
        object.map_or(0, |object| match object.field(&Field::Slot("n".into())) {
            Datum::Number(number) => number as u64,
            other => panic!("committer {committer} finds {other:?}"),
        })
    };
    let first = value(0);
    for index in 1..OBJECTS {
        assert_eq!(value(index), first, "committer {committer}: a part of a commit");
    }
    first
}

/// Not a test of its own: the process that is killed. Prints each commit once it is acknowledged.
#[test]
fn child() {
    let Ok(path) = std::env::var(CHILD) else { return };
    let store = Store::open(Path::new(&path), options()).unwrap();
    println!("\nready");
    std::thread::scope(|scope| {
        for committer in 0..COMMITTERS {
            let store = &store;
            scope.spawn(move || commit_for_ever(store, committer));
        }
    });
}

fn commit_for_ever(store: &Store, committer: u64) {
    let (actor, begun) = (ActorId(100 + committer), written(store, committer));
    for number in begun + 1.. {
        let id = |index| ChangeId::new(actor, (number - 1) * OBJECTS + index + 1);
        let slots =
            vec![(Text::from("n"), Datum::number(number as f64)), (Text::from("text"), Datum::text("some text"))];
        let change = |index| match number {
            1 => Change::create(id(index), Time(number), Creation { slots: slots.clone(), ..Creation::default() }),
            _ => {
                Change::new(id(index), Time(number), object(committer, index), Operation::set_slot("n", number as f64))
            }
        };
        let changes = (0..OBJECTS).map(change).collect();
        let ticket = store.commit(NewCommit { changes, ..NewCommit::default() }).unwrap();
        store.wait(ticket).unwrap();
        println!("\nacknowledged {committer} {number}");
    }
}

#[test]
fn a_killed_process_loses_nothing_that_it_acknowledged() {
    let seed = seed("kill");
    let kills = if std::env::var_os("TELOS_SOAK").is_some() { 200 } else { 20 };
    let mut random = Random::new(seed);
    let directory = tempfile::tempdir().unwrap();
    Store::create(directory.path(), options()).unwrap().close().unwrap();
    let mut acknowledged = [0; COMMITTERS as usize];
    for kill in 0..kills {
        run_and_kill(directory.path(), Duration::from_micros(random.below(150_000) as u64), &mut acknowledged);
        let store = Store::open(directory.path(), options()).unwrap();
        for committer in 0..COMMITTERS {
            let (found, promised) = (written(&store, committer), acknowledged[committer as usize]);
            assert!(found >= promised, "kill {kill}: committer {committer} was promised {promised}, but finds {found}");
        }
        assert_clean(&store, &format!("kill {kill}"));
    }
    assert!(acknowledged.iter().all(|number| *number > kills / 2), "the killed worked: {acknowledged:?}");
    let store = Store::open_read_only(directory.path(), options()).unwrap();
    let checkpointed = store.last_commit() - store.status().unwrap().pending_commits as u64;
    println!("{kills} kills, {} commits, {checkpointed} of them in the image", store.last_commit());
    assert!(checkpointed > 0, "checkpoints ran");
}

/// Lets it work for a while, kills it, and notes what it had acknowledged.
fn run_and_kill(path: &Path, time: Duration, acknowledged: &mut [u64]) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "kill::child", "--nocapture", "--test-threads=1"]).env(CHILD, path);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while lines.next().expect("it gets ready").unwrap() != "ready" {}
    std::thread::scope(|scope| {
        let child = &mut child;
        scope.spawn(move || {
            std::thread::sleep(time);
            child.kill().unwrap();
            child.wait().unwrap();
        });
        for line in lines.map_while(Result::ok) {
            let mut words = line.split(' ');
            if words.next() == Some("acknowledged") {
                let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
                if let [committer, number] = numbers[..] {
                    acknowledged[committer as usize] = acknowledged[committer as usize].max(number);
                }
            }
        }
    });
}
