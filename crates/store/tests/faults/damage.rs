//! Bits flipped and ends cut off, in either file: told on opening, on reading or by the check, or without any effect. The
//! log may also end earlier, after a crash, as if its tail were torn; never after a clean close.
//!
//! The work is done by a child process, for a damaged image may end it with a signal; then the image must have been named.
//! A child does case after case and says what came out; when it dies, the next one goes on behind the case that killed it.

use crate::world::{Things, World, thing};
use crate::{cases, options, seed, write};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use store::{IMAGE, LOG, Store};
use testkit::Random;

const CHILD: &str = "TELOS_DAMAGE";
const COMMITS: usize = 60;

/// The files of a store: after a clean close, and as a crash leaves them.
struct Sample {
    log: Vec<u8>,
    image: Vec<u8>,
    is_closed: bool,
    past: Vec<Things>,
}

fn sample(seed: u64, is_closed: bool) -> Sample {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path(), options()).unwrap();
    let mut world = World::new(seed);
    let mut past = vec![Things::new()];
    for number in 0..COMMITS {
        let ticket = store.commit(world.commit()).unwrap();
        store.wait(ticket).unwrap();
        past.push(world.things.clone());
        // The log's tail is then most of the file, and most damage hits what counts.
        if number == 15 || store.status().unwrap().pending_bytes > 40_000 {
            store.checkpoint().unwrap();
        }
    }
    let read = |name| std::fs::read(directory.path().join(name)).unwrap();
    if is_closed {
        store.close().unwrap();
        return Sample { log: read(LOG), image: read(IMAGE), is_closed, past };
    }
    Sample { log: read(LOG), image: read(IMAGE), is_closed, past }
}

/// One case in the child: what a damaged store says of itself. `ok` if it is as it was.
fn judge(sample: &Sample, directory: &Path) -> String {
    let store = match Store::open(directory, options()) {
        Ok(store) => store,
        Err(error) => return format!("told {error}"),
    };
    match store.check(&mut |_| {}) {
        Ok(report) if report.is_clean() => {}
        Ok(report) => return format!("told {}", report.findings[0]),
        Err(error) => return format!("told {error}"),
    }
    let last = store.last_commit();
    if let Err(wrong) = compare(&store, &sample.past[last as usize]) {
        return wrong;
    }
    // What only later writes would show.
    let mut world = World::new(last);
    world.after(&sample.past[last as usize], &store);
    for _ in 0..2 {
        let done = store.commit(world.commit()).and_then(|ticket| store.wait(ticket)).and_then(|()| store.checkpoint());
        if let Err(error) = done {
            return format!("told {error}");
        }
    }
    match store.check(&mut |_| {}) {
        Ok(report) if report.is_clean() => {}
        Ok(report) => return format!("LATER {}", report.findings[0]),
        Err(error) => return format!("LATER {error}"),
    }
    if let Err(wrong) = compare(&store, &world.things) {
        return format!("LATER {wrong}");
    }
    if last as usize == COMMITS { "ok".into() } else { "cut".into() }
}

fn compare(store: &Store, things: &Things) -> Result<(), String> {
    for (object, expected) in things {
        match store.read(*object) {
            Ok(Some(found)) if thing(&found) == *expected => {}
            Ok(found) => return Err(format!("WRONG object {object}: {found:?}")),
            Err(error) => return Err(format!("WRONG only told on reading: {error}")),
        }
    }
    Ok(())
}

/// Damages one of the files; a third of the cases cut it off.
fn damage(sample: &Sample, in_log: bool, random: &mut Random) -> (Vec<u8>, Vec<u8>) {
    let (mut log, mut image) = (sample.log.clone(), sample.image.clone());
    let file = if in_log { &mut log } else { &mut image };
    match random.below(6) {
        0 => file.truncate(random.below(file.len())),
        // The pages on which everything hangs are few: damage them more often.
        1 => flip(file, random.below(8192), random),
        _ => {
            let at = random.below(file.len());
            flip(file, at, random);
        }
    }
    (log, image)
}

fn flip(file: &mut [u8], at: usize, random: &mut Random) {
    file[at] ^= 1 << random.below(8);
}

/// Not a test of its own: what the children run.
#[test]
fn child() {
    let Ok(arguments) = std::env::var(CHILD) else { return };
    let numbers: Vec<u64> = arguments.split(' ').map(|number| number.parse().unwrap()).collect();
    let [seed, first, count, in_log, is_closed] = numbers[..] else { panic!("five numbers are needed") };
    let sample = sample(seed, is_closed == 1);
    for case in first..count {
        let directory = tempfile::tempdir().unwrap();
        let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let (log, image) = damage(&sample, in_log == 1, &mut random);
        write(directory.path(), LOG, &log);
        write(directory.path(), IMAGE, &image);
        system::fault::name_on_fault(Path::new(IMAGE));
        println!("begin {case} {}", directory.path().display());
        println!("case {case} {}", judge(&sample, directory.path()));
    }
    assert!(sample.is_closed == (is_closed == 1));
}

#[derive(Default, Debug)]
struct Tally {
    ok: usize,
    told: usize,
    cut: usize,
    ended: usize,
    later: Vec<String>,
}

/// Runs cases in children until all are done.
fn run(seed: u64, count: u64, in_log: bool, is_closed: bool) -> Tally {
    let mut tally = Tally::default();
    let mut next = 0;
    while next < count {
        let arguments = format!("{seed} {next} {count} {} {}", u8::from(in_log), u8::from(is_closed));
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "damage::child", "--nocapture", "--test-threads=1"]).env(CHILD, &arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut left_behind: Option<PathBuf> = None;
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if let Some((_, begun)) = line.split_once("begin ") {
                left_behind = begun.split_once(' ').map(|(_, path)| path.into());
            } else if let Some(result) = line.strip_prefix(&format!("case {next} ")) {
                tally.count(result, &arguments, next);
                (next, left_behind) = (next + 1, None);
            }
        }
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        let status = child.wait().unwrap();
        if next < count {
            assert!(status.code().is_none(), "case {next} of {arguments}: {errors}");
            assert!(errors.contains(IMAGE), "case {next} of {arguments}: a signal, and no file named: {errors}");
            tally.ended += 1;
            next += 1;
            left_behind.into_iter().for_each(|path| drop(std::fs::remove_dir_all(path)));
        }
    }
    println!("{} of the {}: {tally:?}", count, if in_log { "log" } else { "image" });
    tally
}

impl Tally {
    fn count(&mut self, result: &str, arguments: &str, case: u64) {
        match result.split(' ').next().unwrap_or_default() {
            "ok" => self.ok += 1,
            "told" => self.told += 1,
            "cut" => self.cut += 1,
            "LATER" => self.later.push(format!("case {case} of {arguments}: {result}")),
            _ => panic!("case {case} of {arguments}: {result}"),
        }
    }
}

#[test]
fn damage_to_a_closed_log_is_always_told() {
    let tally = run(seed("closed log"), cases(150, 5000) as u64, true, true);
    assert_eq!((tally.cut, tally.ended, tally.later.len()), (0, 0, 0), "{tally:?}");
    assert!(tally.told > 0);
}

#[test]
fn damage_to_a_log_after_a_crash_is_told_or_cut() {
    let tally = run(seed("log"), cases(150, 5000) as u64, true, false);
    assert_eq!((tally.ended, tally.later.len()), (0, 0), "{tally:?}");
    assert!(tally.told > 0);
}

#[test]
fn damage_to_the_image_is_never_read_as_data() {
    let tally = run(seed("image"), cases(200, 10_000) as u64, false, true);
    assert_eq!((tally.cut, tally.later.len()), (0, 0), "{tally:?}");
    assert!(tally.told > 0);
}
