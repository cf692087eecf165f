//! Plays all rows, each in a process of its own, a few at a time: as whoever started this, and if that is root, again as
//! an ordinary user. Tells what was wrong, and what this host lacks.

use crate::ground::Ground;
use crate::play::{self, Answer, Stage};
use crate::table::Row;
use crate::{ATTEMPTS, WORKS, backends, dream, open, rows, zygote};
use sandbox::{Backend, Strength};
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows at once. Many of them wait for a limit to end them.
const AT_ONCE: usize = 4;
/// Who the ordinary user is, if root plays: somebody who owns nothing.
const ORDINARY_ID: u32 = 61_234;
/// Where a row's process finds the directory with this binary in it.
const TOOL_VARIABLE: &str = "CONFORMANCE_TOOL";
/// A variable of the supervisor that nobody inside may see.
const SECRET_VARIABLE: &str = "CONFORMANCE_SECRET";

/// Who plays.
#[derive(Clone, Copy, PartialEq)]
enum Player {
    Caller,
    Ordinary,
    /// Nobody: the attempts without a sandbox around them.
    Outside,
}

/// One row as it is to be played.
struct Turn {
    player: Player,
    backend: String,
    row: &'static Row,
}

/// The directory that all of it lies in.
struct Home {
    directory: tempfile::TempDir,
}

/// Plays the rows whose name contains `filter`.
pub fn play_all(filter: Option<&str>) -> ExitCode {
    check_tables();
    let home = Home::new();
    let is_root = rustix::process::geteuid().is_root();
    tell_host();
    for (name, why) in zygote::ELSEWHERE {
        println!("NOT BY A ZYGOTE {name}: {why}");
    }
    for (name, why) in open::OPEN {
        println!("OPEN {name}: {why}");
    }
    let players: &[Player] =
        if is_root { &[Player::Caller, Player::Ordinary, Player::Outside] } else { &[Player::Caller] };
    let mut turns = Vec::new();
    for (player, backend) in players.iter().flat_map(|player| backends().into_iter().map(|backend| (*player, backend)))
    {
        let chosen = rows().filter(|row| filter.is_none_or(|part| row.name.contains(part)));
        let chosen = chosen.filter(|row| player != Player::Outside || row.is_tried_outside);
        let chosen = chosen.filter(|row| dream::is_for(backend.name(), row));
        // Outside there are neither dreams nor zygotes.
        let is_zygote = backend.name() == zygote::NAME;
        let is_only_inside = is_zygote || backend.name() == dream::NAME;
        let chosen =
            chosen.filter(|row| (player != Player::Outside || !is_only_inside) && (!is_zygote || zygote::fits(row)));
        turns.extend(chosen.map(|row| Turn { player, backend: backend.name().into(), row }));
    }
    let answers = take_turns(&home, &turns, is_root);
    report(&turns, &answers)
}

/// The tables themselves: as many rows as were promised, and no name twice.
fn check_tables() {
    let count = |tables: &[&[Row]]| tables.iter().map(|rows| rows.len()).sum::<usize>();
    assert!(count(ATTEMPTS) >= 80, "only {} attempts", count(ATTEMPTS));
    assert!(count(WORKS) >= 30, "only {} things that must work", count(WORKS));
    let names: std::collections::BTreeSet<&str> = rows().map(|row| row.name).collect();
    assert_eq!(names.len(), rows().count(), "a name is used twice");
    let is_known = |prefix: &str| names.iter().any(|name| name.starts_with(prefix));
    assert!(zygote::ELSEWHERE.iter().all(|(prefix, _)| is_known(prefix)), "a row that no zygote plays is in no table");
    let unknown = open::OPEN.iter().find(|(name, _)| !names.contains(name));
    assert_eq!(unknown, None, "an open row is in no table");
}

/// Says which walls this host lacks or has in another form.
fn tell_host() {
    for backend in backends() {
        for (wall, strength) in backend.survey() {
            match strength {
                Strength::Full => {}
                Strength::Substitute(how) => println!("{}: {wall:?} by other means: {how}", backend.name()),
                Strength::Missing(lack) => println!("{}: NO {wall:?}: {}; {}", backend.name(), lack.why, lack.remedy),
            }
        }
    }
}

/// Tells the tables.
pub fn list() {
    for (heading, tables) in [("must fail", ATTEMPTS), ("must work", WORKS)] {
        println!("{heading}: {}", tables.iter().map(|rows| rows.len()).sum::<usize>());
        for row in tables.iter().flat_map(|rows| rows.iter()) {
            let walls: Vec<String> = row.walls.iter().map(|wall| format!("{wall:?}")).collect();
            println!("  {:<40} {} [{}]", row.name, row.tries, walls.join(", "));
        }
    }
}

fn take_turns(home: &Home, turns: &[Turn], is_root: bool) -> Vec<Answer> {
    let next = AtomicUsize::new(0);
    let answers: Vec<Mutex<Option<Answer>>> = turns.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let position = next.fetch_add(1, Ordering::Relaxed);
                    let Some(turn) = turns.get(position) else { break };
                    let answer = take_turn(home, position, turn);
                    print(turn, &answer, is_root);
                    *answers[position].lock().expect("no turn panics") = Some(answer);
                }
            });
        }
    });
    answers.into_iter().map(|answer| answer.into_inner().ok().flatten().expect("each turn was taken")).collect()
}

fn take_turn(home: &Home, position: usize, turn: &Turn) -> Answer {
    let (temporary, said) = home.for_turn(position, turn.player);
    let mut command = Command::new(home.tool().join("attempt"));
    let how = if turn.player == Player::Outside { "--outside" } else { "--row" };
    command.args([how, &turn.backend, turn.row.name, &secret(position)]);
    // Into a file, since a pipe would be waited for until whatever the row left behind has ended.
    let file = fs::File::create(&said).expect("the home can be written to");
    command.stdin(Stdio::null()).stderr(file.try_clone().expect("a descriptor can be had twice")).stdout(file);
    command.env(TOOL_VARIABLE, home.tool()).env(SECRET_VARIABLE, secret(position)).env("TMPDIR", &temporary);
    command.env("HOME", &temporary).env("XDG_RUNTIME_DIR", &temporary).current_dir(&temporary);
    if turn.player == Player::Ordinary {
        command.uid(ORDINARY_ID).gid(ORDINARY_ID);
    }
    let status = command.status().expect("this binary can be started");
    let said = fs::read_to_string(&said).unwrap_or_default();
    match (read(&said, status), remains(&temporary)) {
        (Answer::Right, Some(file)) => Answer::Wrong(format!("left {file} behind")),
        (answer, _) => answer,
    }
}

fn secret(position: usize) -> String {
    format!("hidden-{}-{position}", std::process::id())
}

/// What lies where temporary files go; all of it should have been removed.
fn remains(directory: &Path) -> Option<String> {
    let mut entries = fs::read_dir(directory).ok()?;
    entries.next().and_then(Result::ok).map(|entry| entry.file_name().to_string_lossy().into_owned())
}

/// The last line of a row's process is its answer.
fn read(said: &str, status: ExitStatus) -> Answer {
    let last = said.lines().last().unwrap_or_default();
    let (word, rest) = last.split_once(' ').unwrap_or((last, ""));
    match (status.success(), word) {
        (true, "right") => Answer::Right,
        (true, "wrong") => Answer::Wrong(rest.into()),
        (true, "unprotected") => Answer::Unprotected(rest.into()),
        (true, "absent") => Answer::Absent(rest.into()),
        (true, "moot") => Answer::Moot(rest.into()),
        _ => Answer::Wrong(format!("its process ended with {status} and said {said:?}")),
    }
}

fn title(turn: &Turn, is_root: bool) -> String {
    let player = match turn.player {
        Player::Caller if is_root => "root",
        Player::Caller => "user",
        Player::Ordinary => "ordinary",
        Player::Outside => "outside",
    };
    format!("{}/{player} {}", turn.backend, turn.row.name)
}

fn print(turn: &Turn, answer: &Answer, is_root: bool) {
    let told = match answer {
        Answer::Right => "ok".into(),
        Answer::Wrong(why) if open::reason(turn.row.name).is_some() => format!("OPEN: {why}"),
        Answer::Wrong(why) => format!("FAILED: {why}"),
        Answer::Unprotected(why) => format!("NOT PROTECTED HERE: {why}"),
        Answer::Absent(what) => format!("not tried: {what} is not installed"),
        Answer::Moot(said) => format!("proves nothing here: {said} without a sandbox too"),
    };
    println!("test {} ... {told}", title(turn, is_root));
}

/// As cargo's own tests do, so that whoever counts them counts these.
fn report(turns: &[Turn], answers: &[Answer]) -> ExitCode {
    let count = |is_one: fn(&Answer) -> bool| answers.iter().filter(|answer| is_one(answer)).count();
    let unprotected = count(|answer| matches!(answer, Answer::Unprotected(_)));
    let absent = count(|answer| matches!(answer, Answer::Absent(_)));
    let moot = count(|answer| matches!(answer, Answer::Moot(_)));
    let wrong: Vec<(&Turn, &String)> = turns
        .iter()
        .zip(answers)
        .filter_map(|(turn, answer)| match answer {
            Answer::Wrong(why) => Some((turn, why)),
            _ => None,
        })
        .collect();
    let (open, failed): (Vec<_>, Vec<_>) =
        wrong.into_iter().partition(|(turn, _)| open::reason(turn.row.name).is_some());
    for (turn, why) in &failed {
        println!("\n{} (a program {}): {why}", title(turn, true), turn.row.tries);
    }
    // Some are open for root alone, whom an ordinary user cannot play.
    let is_for_all = turns.iter().any(|turn| turn.player == Player::Ordinary);
    let closed: Vec<&str> = played_open(turns)
        .filter(|_| is_for_all)
        .filter(|name| !open.iter().any(|(turn, _)| turn.row.name == *name))
        .collect();
    for name in &closed {
        println!("\n{name} is answered rightly on this host; if it is on all, take it off the list in open.rs");
    }
    println!(
        "\n{} known to be open, {unprotected} not protected on this host, {absent} not tried, {moot} that prove nothing here",
        open.len()
    );
    // Which rows are open differs from host to host, with its cgroups above all.
    let (failures, word) = match failed.len() {
        0 => (0, "ok"),
        failures => (failures, "FAILED"),
    };
    let passed = turns.len() - failed.len() - open.len() - unprotected - absent - moot;
    println!("test result: {word}. {passed} passed; {failures} failed; 0 ignored; 0 measured; 0 filtered out");
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The open rows among those that were played.
fn played_open(turns: &[Turn]) -> impl Iterator<Item = &'static str> {
    open::OPEN.iter().map(|(name, _)| *name).filter(|name| turns.iter().any(|turn| turn.row.name == *name))
}

/// In a row's own process: plays it and says the answer.
pub fn play_alone(backend: &str, name: &str) {
    play::limit_patience();
    let row = crate::row(name).expect("the row is in a table");
    let stage = stage(backend);
    let answer = play::play(&stage, row);
    drop(stage);
    println!("\n{}", answer.to_string().replace('\n', " "));
}

/// In a process of its own: makes a row's attempt without a sandbox.
pub fn play_outside(backend: &str, name: &str) {
    play::limit_patience();
    let row = crate::row(name).expect("the row is in a table");
    let answer = play::play_outside(&stage(backend).ground.borrow(), row);
    println!("\n{}", answer.to_string().replace('\n', " "));
}

/// What a process that runs sandboxes needs, from what it was started with.
pub fn stage(backend: &str) -> Stage {
    let tool = std::env::var_os(TOOL_VARIABLE).map(PathBuf::from).expect("a row is started by the round");
    let secret = std::env::var(SECRET_VARIABLE).expect("a row is started by the round");
    let backend: Box<dyn Backend> =
        backends().into_iter().find(|other| other.name() == backend).expect("the backend is there");
    Stage { backend, ground: RefCell::new(Ground::new(&tool, secret).expect("the ground can be made")) }
}

impl Home {
    /// Makes it, with this binary where everybody may read it.
    fn new() -> Home {
        let directory = tempfile::Builder::new().prefix("conformance-").tempdir().expect("temporary files can be made");
        let home = Home { directory };
        let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
        fs::create_dir(home.tool()).expect("the home can be written to");
        let this = std::env::current_exe().expect("this binary has a path");
        fs::copy(this, home.tool().join("attempt")).expect("this binary can be copied");
        open(home.directory.path(), 0o755).expect("the home is ours");
        open(&home.tool(), 0o755).expect("the home is ours");
        open(&home.tool().join("attempt"), 0o755).expect("the home is ours");
        home
    }

    fn tool(&self) -> PathBuf {
        self.directory.path().join("tool")
    }

    /// A turn's directory for temporary files, which its player owns, and the file for what it says.
    fn for_turn(&self, position: usize, player: Player) -> (PathBuf, PathBuf) {
        let temporary = self.directory.path().join(format!("turn-{position}"));
        fs::create_dir(&temporary).expect("the home can be written to");
        if player == Player::Ordinary {
            std::os::unix::fs::chown(&temporary, Some(ORDINARY_ID), Some(ORDINARY_ID)).expect("root may give away");
        }
        (temporary, self.directory.path().join(format!("said-{position}")))
    }
}
