//! An image in a directory, as tests use it. Everything drawn at random prints its seed; `TELOS_SEED` sets it. The gate
//! takes samples, `TELOS_CASES` more.

#![allow(dead_code, reason = "each test uses a part")]
#![allow(clippy::disallowed_methods, reason = "how long it tests is set from outside")]

pub mod bench;
pub mod edits;

use image::{Cause, Embedder, Image, ImageError, Options};
use language::{Host, Vm};
use std::io::{Read, Write};
use std::path::Path;
use store::{Branched, ForkPoint};
use testkit::{leave, wait};

pub struct Plain;

impl Embedder for Plain {
    fn newborn(&self) -> Vm {
        Vm::new(Host::default())
    }

    fn bare(&self) -> Vm {
        Vm::bare(Host::default())
    }
}

/// How many cases: what the gate takes, or with `TELOS_CASES` that, but no more than `most`.
pub fn cases(gate: usize, most: usize) -> usize {
    let asked = std::env::var("TELOS_CASES").ok().and_then(|cases| cases.parse::<usize>().ok());
    asked.map_or(gate, |asked| asked.min(most))
}

pub fn seed(name: &str) -> u64 {
    let seed = std::env::var("TELOS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("{name}: TELOS_SEED={seed}");
    seed
}

pub fn create(directory: &Path) -> Image {
    Image::create(directory, &Options::default(), Box::new(Plain)).expect("a new image")
}

pub fn open(directory: &Path) -> Image {
    try_open(directory, &Options::default()).expect("the image opens")
}

pub fn try_open(directory: &Path, options: &Options) -> Result<Image, ImageError> {
    Image::open(directory, options, Box::new(Plain))
}

pub fn send(image: &mut Image, source: &str) -> Result<String, ImageError> {
    let (text, ticket) = image.transact(&Cause::default(), |vm| {
        let value = vm.evaluate(source, "test")?;
        vm.to_text(value)
    })?;
    ticket.map_or(Ok(()), |ticket| image.wait(ticket))?;
    Ok(text)
}

pub fn answer(image: &mut Image, source: &str) -> String {
    send(image, source).unwrap_or_else(|error| panic!("{source}: {error}"))
}

/// What a copy of the process answers, while live does something else.
pub fn in_a_copy(
    image: &mut Image,
    act: impl FnOnce(&mut Image) -> String,
    meanwhile: impl FnOnce(&mut Image),
) -> (String, ForkPoint) {
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
    let actor = image.store().mint_actor().expect("an actor");
    let (branched, point) = image.fork(actor).expect("it forks");
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
