//! The loop of a fuzz target: cases from consecutive seeds until the time is up or one fails. A case that does not end
//! fails, too; it is not shrunk, and ends the process.

use crate::shrink::shrink;
use crate::watchdog::{Case, Watchdog};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const SHRINK_MOST: Duration = Duration::from_secs(30);

/// The command line of every target: `--seconds N --cases C --seed S`, `--one` for a single case, `--all` to go on after a
/// finding, `--input FILE` for one's own, `--case-seconds N` for how long one may take.
pub struct Options {
    seconds: u64,
    case_seconds: u64,
    cases: u64,
    seed: u64,
    one: bool,
    all: bool,
    input: Option<String>,
}

impl Options {
    fn read() -> Options {
        let arguments: Vec<String> = std::env::args().collect();
        let number = |name: &str, default: u64| {
            let at = arguments.iter().position(|argument| argument == name);
            at.and_then(|at| arguments.get(at + 1)?.parse().ok()).unwrap_or(default)
        };
        let file = arguments.iter().position(|argument| argument == "--input").and_then(|at| arguments.get(at + 1));
        let input = file.map(|file| std::fs::read_to_string(file).expect("the input is a text file"));
        let has = |name: &str| arguments.iter().any(|argument| argument == name);
        Options {
            seconds: number("--seconds", 60),
            case_seconds: number("--case-seconds", 20),
            cases: number("--cases", u64::MAX),
            seed: number("--seed", 1),
            one: has("--one"),
            all: has("--all"),
            input,
        }
    }
}

/// Generates and checks until the time is up. A finding is shrunk, and printed with its seed.
pub fn run(generate: impl Fn(u64) -> String, check: impl Fn(&str) -> Result<(), String>) -> ExitCode {
    let options = Options::read();
    // Findings are printed by us, once; shrinking would print hundreds.
    std::panic::set_hook(Box::new(|_| {}));
    let watchdog = Watchdog::start(Duration::from_secs(options.case_seconds), end_of_hang);
    let guarded = |seed: u64, input: &str| watchdog.watch(seed, input, || guarded(&check, input));
    if let Some(input) = options.input {
        // Choices that go with the seed are made as they were for the case.
        generate(options.seed);
        return match guarded(options.seed, &input) {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                println!("{why}");
                ExitCode::FAILURE
            }
        };
    }
    let (start, mut cases, mut found) = (Instant::now(), 0u64, 0u64);
    let most = if options.one { 1 } else { options.cases };
    while start.elapsed() < Duration::from_secs(options.seconds) && cases < most {
        // Seeds of runs that begin at neighbouring numbers shall not overlap.
        let seed =
            if options.one { options.seed } else { options.seed.wrapping_mul(1_000_000_007).wrapping_add(cases) };
        let input = generate(seed);
        match guarded(seed, &input) {
            Ok(()) => {}
            Err(why) if options.all => {
                println!("--one --seed {seed}: {}", kind(&why));
                found += 1;
            }
            Err(why) => {
                report(seed, &input, &why, |candidate| guarded(seed, candidate));
                return ExitCode::FAILURE;
            }
        }
        cases += 1;
    }
    println!("{cases} cases from seed {} in {} s: {found} found", options.seed, start.elapsed().as_secs());
    if found == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A thread cannot be ended, so the process is.
fn end_of_hang(case: Case) {
    println!("found with --one --seed {}\nhang: it does not end\n━━ program\n{}", case.seed, case.input);
    std::process::exit(1);
}

fn report(seed: u64, input: &str, why: &str, check: impl Fn(&str) -> Result<(), String>) {
    println!("found with --one --seed {seed}\n{why}\n━━ shrinking {} bytes", input.len());
    let is_same = |candidate: &str| check(candidate).is_err_and(|other| kind(&other) == kind(why));
    let small = shrink(input, SHRINK_MOST, is_same);
    let why = check(&small).err().unwrap_or_default();
    println!("━━ shrunk\n{small}\n━━ why\n{why}");
}

/// What a finding is about, so that shrinking stays with it: its first line, whatever the numbers.
fn kind(why: &str) -> String {
    let first = why.lines().next().unwrap_or_default();
    first.split(|each: char| each.is_ascii_digit()).filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join("#")
}

/// A panic is a finding too.
fn guarded(check: &impl Fn(&str) -> Result<(), String>, input: &str) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| check(input))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
        Err(format!("panic: {text}"))
    })
}
