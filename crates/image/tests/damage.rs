//! Bits flipped and ends cut off, in either file of an image: a program sees what was written, or is told. Damage to the log
//! after a crash may also end it earlier, at a state that there was; never after a clean close.
//!
//! The work is done by a child process, for a damaged image may end it with a signal; then the file must have been named.

mod lab;

use image::{Cause, Image, ImageError, Options};
use lab::{Plain, answer, cases, seed, try_open};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use store::{Checkpoints, IMAGE, LOG};
use tempfile::TempDir;
use testkit::Random;

const CHILD: &str = "TELOS_IMAGE_DAMAGE";

fn options() -> Options {
    let store = store::Options {
        log_bytes: 1 << 20,
        map_bytes: 1 << 28,
        checkpoints: Checkpoints::OnRequest,
        ..store::Options::default()
    };
    Options { store, ..Options::default() }
}

/// The files of an image, and what it says of itself after each commit that changed that.
struct Sample {
    log: Vec<u8>,
    image: Vec<u8>,
    past: Vec<(u64, String)>,
}

const TOLD: &str =
    "all map(each, each n asString .. each t .. each l) join(\",\") .. greet .. (names keys join) .. next call";

/// In the image lies all of the library and half of this, in the log the rest.
fn sample(is_closed: bool) -> Sample {
    let directory = TempDir::new().expect("a directory");
    let mut image = Image::create(directory.path(), &options(), Box::new(Plain)).expect("a new image");
    answer(&mut image, "all := list(); greet := method(\"hello\"); names := Map clone; next := block(all size); nil");
    let mut past = Vec::new();
    for round in 0..12 {
        answer(
            &mut image,
            &format!(
                "5 repeat(i, all append(Object clone do(n := {round}; t := \"text\" .. i; l := list(i, n)))); nil"
            ),
        );
        answer(&mut image, &format!("all at({round}) l append({round}); names atPut(\"k{round}\", all); nil"));
        past.push((image.store().last_commit(), look(&mut image).expect("it is whole")));
        if round == 6 {
            image.store().checkpoint().expect("it can be applied");
        }
    }
    let read = |name: &str| std::fs::read(directory.path().join(name)).expect("it can be read");
    if is_closed {
        image.close().expect("it closes");
        return Sample { log: read(LOG), image: read(IMAGE), past };
    }
    Sample { log: read(LOG), image: read(IMAGE), past }
}

/// What the image says of itself, with nothing committed.
fn look(image: &mut Image) -> Result<String, ImageError> {
    let (text, ticket) = image.transact(&Cause::default(), |vm| {
        let value = vm.evaluate(TOLD, "test")?;
        vm.to_text(value)
    })?;
    assert!(ticket.is_none(), "looking changes nothing");
    Ok(text)
}

/// `ok` if it is as it was, `told` if it says what is wrong, `cut` if the log ends earlier.
fn judge(sample: &Sample, directory: &Path) -> String {
    let mut image = match try_open(directory, &options()) {
        Ok(image) => image,
        Err(error) => return format!("told {error}"),
    };
    let last = image.store().last_commit();
    let text = match look(&mut image) {
        Ok(text) => text,
        // Nothing but damage makes this program fail.
        Err(error @ (ImageError::Damaged(_) | ImageError::Store(_))) => return format!("told {error}"),
        Err(error) => return format!("WRONG {error}"),
    };
    let whole = sample.past.last().expect("there are some");
    if last == whole.0 {
        return if text == whole.1 { "ok".into() } else { format!("WRONG {text}") };
    }
    // Between two of these states stands one commit more, which shows in no text but its own.
    let was = sample.past.iter().rev().find(|(number, _)| *number <= last);
    match was {
        Some((number, then)) if *number == last && *then != text => format!("WRONG at {last}: {text}"),
        _ => "cut".into(),
    }
}

fn damage(sample: &Sample, in_log: bool, random: &mut Random) -> (Vec<u8>, Vec<u8>) {
    let (mut log, mut image) = (sample.log.clone(), sample.image.clone());
    let file = if in_log { &mut log } else { &mut image };
    // Most of a log is room that was never used.
    let used = file.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
    match random.below(8) {
        0 => file.truncate(random.below(file.len())),
        1 => {
            let at = random.below(8192);
            file[at] ^= 1 << random.below(8);
        }
        _ => {
            let at = random.below(used);
            file[at] ^= 1 << random.below(8);
        }
    }
    (log, image)
}

/// Not a test of its own: what the children run.
#[test]
fn child() {
    let Ok(arguments) = std::env::var(CHILD) else { return };
    let numbers: Vec<u64> = arguments.split(' ').map(|number| number.parse().expect("a number")).collect();
    let [seed, first, count, in_log, is_closed] = numbers[..] else { panic!("five numbers are needed") };
    let sample = sample(is_closed == 1);
    for case in first..count {
        let directory = TempDir::new().expect("a directory");
        let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let (log, image) = damage(&sample, in_log == 1, &mut random);
        std::fs::write(directory.path().join(LOG), log).expect("it can be written");
        std::fs::write(directory.path().join(IMAGE), image).expect("it can be written");
        testkit::name_on_fault(Path::new(IMAGE));
        println!("begin {case} {}", directory.path().display());
        println!("case {case} {}", judge(&sample, directory.path()).replace('\n', " "));
    }
}

#[derive(Default, Debug)]
struct Tally {
    ok: usize,
    told: usize,
    cut: usize,
    ended: usize,
}

fn run(seed: u64, count: u64, in_log: bool, is_closed: bool) -> Tally {
    let (mut tally, mut next) = (Tally::default(), 0);
    while next < count {
        let arguments = format!("{seed} {next} {count} {} {}", u8::from(in_log), u8::from(is_closed));
        let mut command = Command::new(std::env::current_exe().expect("this is a program"));
        command.args(["--exact", "child", "--nocapture", "--test-threads=1"]).env(CHILD, &arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut left_behind = None;
        for line in BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok) {
            if let Some((_, begun)) = line.split_once("begin ") {
                left_behind = begun.split_once(' ').map(|(_, path)| path.to_string());
            } else if let Some(result) = line.strip_prefix(&format!("case {next} ")) {
                match result.split(' ').next() {
                    Some("ok") => tally.ok += 1,
                    Some("told") => tally.told += 1,
                    Some("cut") => tally.cut += 1,
                    _ => panic!("case {next} of {arguments}: {result}"),
                }
                (next, left_behind) = (next + 1, None);
            }
        }
        let mut errors = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut errors).expect("it can be read");
        let status = child.wait().expect("it ends");
        if next < count {
            assert!(status.code().is_none(), "case {next} of {arguments}: {errors}");
            assert!(errors.contains(IMAGE), "case {next} of {arguments}: a signal, and no file named: {errors}");
            (tally.ended, next) = (tally.ended + 1, next + 1);
            left_behind.into_iter().for_each(|path| drop(std::fs::remove_dir_all(path)));
        }
    }
    println!("{count} of the {}, closed {is_closed}: {tally:?}", if in_log { "log" } else { "image" });
    tally
}

#[test]
fn a_damaged_image_file_is_never_read_as_data() {
    let tally = run(seed("image file"), cases(60, 10_000) as u64, false, true);
    assert_eq!(tally.cut, 0, "{tally:?}");
    assert!(tally.told > 0, "{tally:?}");
}

#[test]
fn a_damaged_log_of_a_closed_image_is_always_told() {
    let tally = run(seed("closed log"), cases(30, 5000) as u64, true, true);
    assert_eq!((tally.cut, tally.ended), (0, 0), "{tally:?}");
    assert!(tally.told > 0, "{tally:?}");
}

#[test]
fn a_damaged_log_after_a_crash_is_told_or_cut() {
    let tally = run(seed("log"), cases(30, 5000) as u64, true, false);
    assert_eq!(tally.ended, 0, "{tally:?}");
    assert!(tally.told + tally.cut > 0, "{tally:?}");
}
