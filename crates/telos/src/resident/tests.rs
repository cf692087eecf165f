//! What the keeper is promised, without a keeper.

use super::*;
use object::change::{ChangeId, Datum, Field, ObjectId, Operation};
use tempfile::TempDir;

fn resident(directory: &TempDir) -> Resident {
    Resident::open(directory.path(), &MachineOptions::default(), None, false, None).expect("it wakes up")
}

fn ask(resident: &mut Resident, request: &Request) -> (Answer, Option<Wait>) {
    match resident.begin(request) {
        Begun::Done { answer, wait } => (answer, wait),
        _ => panic!("it is done at once"),
    }
}

/// Whether the answer waits for the disk, and the commit that it names.
fn looks(resident: &mut Resident) -> (bool, Option<u64>) {
    let (answer, wait) = ask(resident, &Request::evaluate("1"));
    let waits = wait.is_some();
    wait.map_or(Ok(()), |wait| wait()).expect("the disk takes it");
    (waits, answer.commit)
}

/// Whoever reads what `awake` or a coroutine wrote must not know it before it is durable: a power failure would take back
/// what was told already.
#[test]
fn an_answer_waits_for_what_turns_and_awake_have_done() {
    let directory = TempDir::new().unwrap();
    let mut resident = resident(&directory);
    assert_eq!(looks(&mut resident), (true, None), "awake has counted");
    assert_eq!(looks(&mut resident), (false, None));
    let working = "W := Object clone do(work := method(Lobby seen := 1; yield; Lobby seen = 2)); W @@work; nil";
    let (answer, _) = ask(&mut resident, &Request::evaluate(working));
    assert!(answer.commit.is_some());
    while resident.turn().is_some() {}
    assert_eq!(looks(&mut resident), (true, None), "a turn has written");
    assert_eq!(looks(&mut resident), (false, None));
}

/// A client could put megabytes into the history, which every `telos log` would then read.
#[test]
fn the_history_keeps_short_authors_and_causes() {
    let directory = TempDir::new().unwrap();
    let mut resident = resident(&directory);
    let (author, cause) = (Some("é".repeat(100_000)), Some("why ".repeat(100_000)));
    let (answer, _) = ask(&mut resident, &Request { author, cause, ..Request::evaluate("x := 1") });
    let commit = resident.image.store().commit_at(answer.commit.unwrap()).unwrap().unwrap();
    assert_eq!((commit.author, commit.cause), ("é".repeat(200), "why ".repeat(50)));
}

/// Whoever reads `storage` must take it that something was done; here nothing was.
#[test]
fn what_was_taken_back_is_refused_and_no_failure_of_storage() {
    let directory = TempDir::new().unwrap();
    let mut resident = resident(&directory);
    let (answer, _) = ask(&mut resident, &Request::new(Command::Revert(4711)));
    assert!(matches!(answer.outcome, Outcome::Failure(failure) if failure.kind == FailureKind::Refused));
    let failure = resident.fail(ImageError::Damaged("object 7".into()));
    assert_eq!(failure.kind, FailureKind::Refused);
}

/// Lets a slot of an object refer to one that does not exist.
fn damage(resident: &mut Resident, object: Value, slot: &str) {
    let image = &mut resident.image;
    let nowhere = ObjectId::minted(ChangeId::new(image.store().actor(), 1 << 40));
    let put = Operation::Put { field: Field::Slot(slot.into()), value: Datum::Object(nowhere) };
    let object = image.id_of(object).expect("it is persistent");
    image.adopt(&Cause::default(), vec![(object, put)]).expect("it is a commit like any other");
}

fn says(answer: &Answer) -> &str {
    match &answer.outcome {
        Outcome::Value(shown) => &shown.text,
        Outcome::Failure(failure) => &failure.message,
    }
}

/// What could not be loaded for the scheduler or for the names was told to the next request, which had nothing to do with
/// it and was taken back.
#[test]
fn damage_is_told_to_whoever_meets_it_and_to_nobody_else() {
    let directory = TempDir::new().unwrap();
    let mut resident = resident(&directory);
    let lobby = resident.image.vm().lobby();
    damage(&mut resident, lobby, "broken");
    for command in [Command::Names, Command::Help(vec!["broken".into()])] {
        let (told, _) = ask(&mut resident, &Request::new(command));
        let (answer, _) = ask(&mut resident, &Request::evaluate("1 + 2"));
        assert_eq!(says(&answer), "3", "after {told:?}");
    }
    let scheduler = resident.image.vm_mut().get_slot(lobby, "Scheduler").unwrap();
    damage(&mut resident, scheduler, "yieldingCoros");
    assert_eq!(resident.turn(), None);
    assert!(resident.watch.status()["scheduler"].as_str().unwrap().contains("damaged"));
    let (answer, _) = ask(&mut resident, &Request::evaluate("1 + 2"));
    assert_eq!(says(&answer), "3");
}

/// Where nothing can be committed, each turn would be taken in vain, again and again.
#[test]
fn a_scheduler_that_stands_still_says_why_and_goes_on_after_a_commit() {
    let directory = TempDir::new().unwrap();
    let mut resident = resident(&directory);
    ask(&mut resident, &Request::evaluate("W := Object clone do(work := method(Lobby seen := 1)); W @@work; nil"));
    resident.stall("the disk is full".into());
    assert_eq!(resident.turn(), None);
    assert_eq!(resident.watch.status()["scheduler"], "takes no turns: the disk is full");
    looks(&mut resident);
    assert_eq!(resident.turn(), None, "to look proves nothing");
    ask(&mut resident, &Request::evaluate("x := 1"));
    while resident.turn().is_some() {}
    let (answer, _) = ask(&mut resident, &Request::evaluate("seen"));
    assert_eq!(says(&answer), "1");
    assert!(!resident.watch.status().contains_key("scheduler"));
}
