//! Plays one row in a process of its own: a sandbox is started from a process with one thread, and a row that hangs or
//! crashes takes no other with it.

use crate::ground::{Ground, TOOL};
use crate::table::{Judged, Program, Row, Seen};
use sandbox::{Backend, Order, Outcome, SandboxError, Stdin, Stream, Streams, Strength, Verdict, Wall};
use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, Mutex};

/// After this a row counts as hung. Its limits end it long before.
const PATIENCE_SECONDS: usize = 120;

/// A backend, and what it may aim at.
pub struct Stage {
    pub backend: Box<dyn Backend>,
    pub ground: RefCell<Ground>,
}

/// What was seen of one run.
pub struct Run {
    pub outcome: Outcome,
    pub stdout: String,
    pub stderr: String,
}

/// How a row ended.
pub enum Answer {
    Right,
    Wrong(String),
    /// Wrong, but this host lacks each of the walls that would have seen to it.
    Unprotected(String),
    /// The host has not what the row needs.
    Absent(String),
    /// It is answered so without a sandbox too: on this host the row proves nothing.
    Moot(String),
}

impl fmt::Display for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Right => write!(formatter, "right"),
            Answer::Wrong(why) => write!(formatter, "wrong {why}"),
            Answer::Unprotected(why) => write!(formatter, "unprotected {why}"),
            Answer::Absent(what) => write!(formatter, "absent {what}"),
            Answer::Moot(said) => write!(formatter, "moot {said}"),
        }
    }
}

impl Stage {
    /// Runs an order to its end. What this host lacks is allowed to be missing: the survey has told it.
    pub fn run(&self, order: &Order, stdin: Stdin) -> Result<Run, SandboxError> {
        let streams = Arc::new(Mutex::new((Vec::new(), Vec::new())));
        let sink = Arc::clone(&streams);
        let output = Box::new(move |stream, bytes: &[u8]| {
            let mut streams = sink.lock().expect("no sink panics");
            let into = if stream == Stream::Output { &mut streams.0 } else { &mut streams.1 };
            into.extend_from_slice(bytes);
        });
        let mut order = order.clone();
        order.allows_weaker |= !self.missing().is_empty();
        let outcome = self.backend.start(&order, Streams { stdin, output })?.wait()?;
        let streams = streams.lock().expect("no sink panics");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Run { outcome, stdout: text(&streams.0), stderr: text(&streams.1) })
    }

    /// The same where nobody takes what it says.
    pub fn run_unheard(&self, order: &Order) -> Result<Outcome, SandboxError> {
        let mut order = order.clone();
        order.allows_weaker |= !self.missing().is_empty();
        self.backend.start(&order, Streams::nowhere())?.wait()
    }

    /// Runs a shell script behind the usual order.
    pub fn shell(&self, script: &str) -> Result<Run, String> {
        let order = self.order(&["bash", "-c", script]);
        self.run(&order, Stdin::Empty).map_err(|error| error.to_string())
    }

    /// Runs another row's program, and gives what it said.
    pub fn own(&self, row: &str) -> Result<Run, String> {
        let order = self.order(&inside(row).each_ref().map(String::as_str));
        self.run(&order, Stdin::Empty).map_err(|error| error.to_string())
    }

    pub fn order(&self, program: &[&str]) -> Order {
        self.ground.borrow().order(program)
    }

    pub fn missing(&self) -> Vec<Wall> {
        let is_missing = |strength: &Strength| matches!(strength, Strength::Missing(_));
        self.backend.survey().into_iter().filter(|(_, strength)| is_missing(strength)).map(|(wall, _)| wall).collect()
    }
}

/// The command line of our own program, inside.
pub fn inside(row: &str) -> [String; 3] {
    [format!("{TOOL}/attempt"), "--inside".into(), row.into()]
}

/// Ends this process if it takes too long, so that whoever waits for it is told.
pub fn limit_patience() {
    system::raw::call(libc::SYS_alarm, &[PATIENCE_SECONDS]).expect("an alarm can be set");
}

pub fn play(stage: &Stage, row: &Row) -> Answer {
    if let Some(absent) = row.needs.iter().find(|program| !is_installed(program)) {
        return Answer::Absent((*absent).into());
    }
    let judged = match row.program {
        Program::Story(story) => story(stage),
        _ => play_once(stage, row),
    };
    let judged = judged.and_then(|()| undisturbed(stage));
    let Err(why) = judged else { return Answer::Right };
    let missing = stage.missing();
    if !row.walls.is_empty() && row.walls.iter().all(|wall| missing.contains(wall)) {
        return Answer::Unprotected(format!("no {:?}: {why}", row.walls));
    }
    Answer::Wrong(why)
}

/// Makes a row's attempt without a sandbox, where it must not be answered as in one.
pub fn play_outside(ground: &Ground, row: &Row) -> Answer {
    let Seen::Says(answers) = row.seen else { return Answer::Wrong("cannot be judged outside".into()) };
    let this = std::env::current_exe().expect("this binary has a path");
    // What the order says, and what the supervisor has beside it.
    let mut command = std::process::Command::new(this);
    command.args(["--inside", row.name]).envs(ground.order(&[]).environment);
    let output = command.output().expect("this binary can be started");
    let said = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    if answers.contains(&said.as_str()) { Answer::Moot(said) } else { Answer::Right }
}

/// Whatever a program tried, the host's process lives and nobody called its sockets.
fn undisturbed(stage: &Stage) -> Judged {
    let mut ground = stage.ground.borrow_mut();
    if !ground.bystander_lives() {
        return Err("a process of the host was killed".into());
    }
    if ground.was_called() {
        return Err("a socket of the host was called".into());
    }
    let original = std::fs::read_to_string(ground.host("work/original")).unwrap_or_default();
    if original != "as it was\n" {
        return Err(format!("a file of the host was changed: {original:?}"));
    }
    Ok(())
}

fn play_once(stage: &Stage, row: &Row) -> Judged {
    let program = command(row);
    let mut order = stage.order(&program.iter().map(String::as_str).collect::<Vec<_>>());
    (row.prepare)(&stage.ground.borrow(), &mut order);
    let run = stage.run(&order, Stdin::Empty).map_err(|error| format!("was not run: {error}"))?;
    if run.stdout.contains(&stage.ground.borrow().secret) {
        return Err(format!("the secret was seen: {:?}", run.stdout));
    }
    let is_right_in_dreams = run.says_one(row.in_dreams) && stage.backend.name() == crate::dream::NAME;
    if is_right_in_dreams { Ok(()) } else { judge(&stage.ground.borrow(), row.seen, &run) }
}

pub fn command(row: &Row) -> Vec<String> {
    match row.program {
        Program::Shell(script) => vec!["bash".into(), "-c".into(), script.into()],
        Program::Python(script) => vec!["python3".into(), "-c".into(), script.into()],
        Program::Own(_) | Program::Story(_) => inside(row.name).into(),
    }
}

fn judge(ground: &Ground, seen: Seen, run: &Run) -> Judged {
    let is_said = |answers: &[&str]| run.says_one(answers);
    let ends = |verdicts: &[Verdict]| verdicts.contains(&run.outcome.verdict);
    let (is_right, expected) = match seen {
        Seen::Judge(judge) => return judge(ground, run).map_err(|why| format!("{why}; {}", run.told())),
        Seen::Says(answers) => (is_said(answers), format!("{answers:?}")),
        Seen::Ends(verdicts) => (ends(verdicts), format!("{verdicts:?}")),
        Seen::SaysOrEnds(answers, verdicts) => {
            (is_said(answers) || ends(verdicts), format!("{answers:?} or {verdicts:?}"))
        }
    };
    if is_right { Ok(()) } else { Err(format!("expected {expected}; {}", run.told())) }
}

impl Run {
    /// For whoever reads that it was wrong.
    pub fn told(&self) -> String {
        let short = |text: &str| text.chars().take(300).collect::<String>();
        format!(
            "{:?}, said {:?}, complained {:?}, after {:?}",
            self.outcome.verdict,
            short(&self.stdout),
            short(&self.stderr),
            self.outcome.usage.time
        )
    }

    /// Whether it ended by itself with code 0 and said just one of these.
    fn says_one(&self, answers: &[&str]) -> bool {
        self.outcome.verdict == Verdict::Exited(0) && answers.contains(&self.stdout.trim_end_matches('\n'))
    }

    /// An error if it did not end by itself with code 0 and say just this.
    pub fn must_say(&self, expected: &str) -> Judged {
        let is_right = self.outcome.verdict == Verdict::Exited(0) && self.stdout.trim_end() == expected;
        if is_right { Ok(()) } else { Err(format!("expected {expected:?}; {}", self.told())) }
    }
}

/// Whether the system has the program where a sandbox sees it too.
fn is_installed(program: &str) -> bool {
    ["/usr/local/bin", "/usr/bin", "/bin"].iter().any(|place| std::path::Path::new(place).join(program).exists())
}
