//! The image in two: what a copy of the process or a thrown away level does is written down, and live sees none of it.

mod lab;

use image::{Image, Imagined};
use lab::{answer, create, open, send};
use object::change::{Change, Operation};
use std::io::{Read, Write};
use store::{Branched, ForkPoint};
use tempfile::TempDir;
use testkit::{leave, wait};

/// What a copy of the process answers, while live does something else.
fn in_a_copy(
    image: &mut Image,
    act: impl FnOnce(&mut Image) -> String,
    meanwhile: impl FnOnce(&mut Image),
) -> (String, ForkPoint) {
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
    let (branched, point) = image.fork().expect("it forks");
    let (child, pin) = match branched {
        Branched::Live { child, pin } => (child, pin),
        Branched::Copy => {
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| act(image)));
            let _ = writer.write_all(done.unwrap_or_else(|_| "it panicked".into()).as_bytes());
            leave(0)
        }
    };
    drop(writer);
    meanwhile(image);
    let mut said = String::new();
    reader.read_to_string(&mut said).expect("it says something");
    assert_eq!(wait(child, true).expect("it is ours").expect("it ended").status, 0);
    drop(pin);
    (said, point)
}

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
    let actor = image.store().mint_actor().expect("an actor");
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
