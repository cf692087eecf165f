//! The image in two: what a copy of the process or a thrown away level does is written down, and live sees none of it.

mod lab;

use image::{Image, Imagined};
use lab::{answer, create, in_a_copy, open, send};
use object::change::{ActorId, Change, Operation};
use store::Commit;
use tempfile::TempDir;

#[test]
fn a_copy_goes_on_as_the_image_it_was_and_live_is_not_touched() {
    let directory = TempDir::new().expect("a directory");
    let mut image = create(directory.path());
    answer(&mut image, "Account := Object clone do(balance := 10; tax := method(balance * 0.1)); 1");
    answer(&mut image, "counter := method(n := 0; block(n = n + 1)); next := counter; next call");
    image.store().checkpoint().expect("a checkpoint");
    let dream = |image: &mut Image| {
        let mut said = vec![answer(image, "Account tax = method(balance * 0.2); Account tax")];
        assert!(send(image, "Account balance = 99; Exception raise(\"no\")").is_err());
        said.push(answer(image, "Account balance .. \" \" .. next call .. \" \" .. Account clone tax"));
        // Everything that is clean is forgotten and comes back, from the file and from its own commits.
        said.push(answer(image, "100 repeat(Lobby junk := List clone); Lobby made := Object clone do(x := 7); made x"));
        said.push(format!("{} payloads", image.store().take_journal().len()));
        said.join(", ")
    };
    let (said, point) = in_a_copy(&mut image, dream, |image| {
        answer(image, "Account balance = 50; Account tax = method(0); next call");
        image.store().checkpoint().expect("a checkpoint");
    });
    assert_eq!(said, "2, 10 2 2, 7, 3 payloads");
    assert_eq!(point.commit, 3);
    assert_eq!(answer(&mut image, "Account tax .. \" \" .. Account balance .. \" \" .. next call"), "0 50 3");
    image.close().expect("it closes");
    assert_eq!(answer(&mut open(directory.path()), "Account tax .. \" \" .. Account balance"), "0 50");
}

/// The root was looked for under the actor of the copy, which never made one: the process ended.
#[test]
fn a_copy_goes_on_after_a_panic() {
    let directory = TempDir::new().expect("a directory");
    let mut image = create(directory.path());
    answer(&mut image, "x := 7");
    let dream = |image: &mut Image| {
        answer(image, "Lobby y := 8");
        let ended = image.transact::<()>(&image::Cause::default(), |_| panic!("on purpose"));
        assert!(matches!(ended, Err(image::ImageError::Panicked(_))));
        answer(image, "x + y")
    };
    assert_eq!(in_a_copy(&mut image, dream, |_| {}).0, "15");
}

#[test]
fn copies_have_ids_of_their_own() {
    let directory = TempDir::new().expect("a directory");
    let mut image = create(directory.path());
    let make = |image: &mut Image| {
        answer(image, "Lobby made := Object clone");
        let lobby = image.vm().lobby();
        let made = image.vm_mut().get_slot(lobby, "made").expect("it was made");
        format!("{}", image.id_of(made).expect("it is persistent"))
    };
    let (one, _) = in_a_copy(&mut image, make, |_| {});
    let (other, _) = in_a_copy(&mut image, make, |_| {});
    let live = make(&mut image);
    assert!(one != other && one != live && other != live, "{one} {other} {live}");
}

fn imagine(image: &mut Image, source: &str) -> Vec<Change> {
    let actor = ActorId(image.store().actor().0 + 1_000);
    let imagined = image.imagine(actor, |vm| vm.evaluate(source, "test").map(drop));
    let Imagined { changes, .. } = imagined.expect("the image is whole").expect("the program is");
    changes
}

#[test]
fn what_is_imagined_is_written_down_and_taken_back() {
    let directory = TempDir::new().expect("a directory");
    let mut image = create(directory.path());
    answer(&mut image, "x := 1; items := list(1, 2)");
    let commits = image.store().last_commit();
    let changes = imagine(&mut image, "x = 2; items append(3); made := Object clone do(y := x)");
    let made = changes.iter().filter(|change| matches!(change.operation, Operation::Create(_))).count();
    assert_eq!((made, changes.len()), (1, 4), "{changes:?}");
    assert!(changes.iter().zip(1..).all(|(change, seq)| change.id.seq == seq));
    assert_eq!(answer(&mut image, "x .. items .. Lobby hasSlot(\"made\")"), "1list(1, 2)false");
    assert_eq!(image.store().last_commit(), commits);
    // The same once more, under another actor: nothing of the first is left.
    assert_eq!(imagine(&mut image, "x = 2; items append(3); made := Object clone do(y := x)").len(), 4);
    let failed =
        image.imagine(changes[0].id.actor, |vm| vm.evaluate("x = 5; Exception raise(\"no\")", "test").map(drop));
    assert!(failed.expect("the image is whole").is_err());
    assert_eq!(answer(&mut image, "x"), "1");
}

/// A dream that was kept has no process: another copy of live becomes what it was.
#[test]
fn a_copy_becomes_one_that_was_made_before_and_goes_on() {
    let directory = TempDir::new().expect("a directory");
    let mut image = create(directory.path());
    answer(
        &mut image,
        "Account := Object clone do(balance := 10; tax := method(balance * 0.1)); items := list(1, 2); 1",
    );
    let fork = image.store().last_commit();
    let first = |image: &mut Image| {
        answer(image, "Account tax = method(balance * 0.2); items append(3); Lobby made := Object clone do(x := 7)");
        let commit = image.store().commit_at(fork + 1).expect("it reads").expect("it is there");
        assert_eq!(commit.changes[0].id.seq, 1);
        commit.changes.len().to_string()
    };
    // What the first copy did is told again by the second, which does it from its own memory of the first.
    let (said, _) = in_a_copy(&mut image, first, |_| {});
    answer(&mut image, "Account balance = 50; items prepend(0); Account tax = method(0); Lobby other := Object clone");
    image.store().checkpoint().expect("a checkpoint");
    answer(&mut image, "Account balance = 60");
    let again = |image: &mut Image| {
        let actor = image.store().actor();
        let imagined = image.become_earlier(fork, Vec::new());
        imagined.expect("the history has it all");
        let before = answer(image, "Account tax .. items .. Lobby hasSlot(\"other\")");
        let later = imagine(
            image,
            "Account tax = method(balance * 0.2); items append(3); Lobby made := Object clone do(x := 7)",
        );
        assert!(later.iter().all(|change| change.id.actor != actor));
        let commit = Commit {
            number: 0,
            time: later[0].time,
            author: String::new(),
            cause: String::new(),
            changes: later,
            inverse: Vec::new(),
        };
        image.become_earlier(image.store().last_commit(), vec![commit]).expect("it fits");
        let after = answer(image, "Account tax .. items .. made x");
        answer(image, "made x = 8");
        format!("{before} {after} {}", image.store().take_journal().len())
    };
    assert_eq!(in_a_copy(&mut image, again, |_| {}).0, "1list(1, 2)false 2list(1, 2, 3)7 1");
    assert_eq!(said, "8", "a method is a few objects");
    assert_eq!(answer(&mut image, "Account tax .. Account balance .. items"), "060list(0, 1, 2)");
}
