//! Runs that end in every way there is, also by the death of whoever supervises them, leave nothing behind: no process, no
//! mount, no group of limits, no namespace, no descriptor; and no file, which the round looks at after every row.
//!
//! `TELOS_SEED` says when things are killed; the gate takes a sample, `TELOS_SOAK` ten thousand, or as many as `TELOS_CASES` says.

use crate::neighbours::Neighbour;
use crate::play::Stage;
use crate::table::{Judged, Row};
use sandbox::{Order, Stdin, Streams};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use system::raw::call;

const SAMPLE: usize = 90;
const SOAK: usize = 10_000;
/// How long the kernel may take to clear away what was killed.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(10);
/// Things are killed before this has passed; a run takes a few milliseconds.
const LATEST_KILL_MICROSECONDS: u64 = 12_000;
/// Groups of limits that are ours have this in their names.
const OURS: &str = "telos";

/// What a run can leave behind, at one moment.
#[derive(PartialEq, Debug)]
struct Traces {
    /// Descendants of this process, those that lost their parent included.
    processes: BTreeSet<u32>,
    descriptors: BTreeSet<String>,
    mounts: BTreeSet<String>,
    /// Of the descendants, where they are not this process's own.
    namespaces: BTreeSet<String>,
    groups: BTreeSet<PathBuf>,
}

impl Traces {
    fn now() -> Traces {
        let processes = descendants(std::process::id());
        let namespaces = processes.iter().flat_map(|process| namespaces(&process.to_string())).collect();
        Traces { processes, descriptors: descriptors(), mounts: mounts(), namespaces, groups: abandoned_groups() }
    }

    /// What is here now and was not before.
    fn more_than(&self, before: &Traces) -> Vec<String> {
        fn more<T: Ord + std::fmt::Debug>(now: &BTreeSet<T>, before: &BTreeSet<T>) -> Vec<String> {
            now.difference(before).map(|each| format!("{each:?}")).collect()
        }
        let mut found = more(&self.processes, &before.processes);
        found.extend(more(&self.descriptors, &before.descriptors));
        found.extend(more(&self.mounts, &before.mounts));
        found.extend(more(&self.namespaces, &before.namespaces));
        found.extend(more(&self.groups, &before.groups));
        found
    }
}

fn descendants(of: u32) -> BTreeSet<u32> {
    let parents: Vec<(u32, u32)> = fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(parent).collect();
    let mut found = BTreeSet::from([of]);
    loop {
        let count = found.len();
        found.extend(
            parents
                .iter()
                .filter(|(_, parent)| found.contains(parent))
                .map(|(process, _)| *process)
                .collect::<Vec<_>>(),
        );
        if found.len() == count {
            found.remove(&of);
            return found;
        }
    }
}

/// A process and its parent.
fn parent(entry: fs::DirEntry) -> Option<(u32, u32)> {
    let process = entry.file_name().to_str()?.parse().ok()?;
    let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
    let parent = stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()?;
    Some((process, parent))
}

fn descriptors() -> BTreeSet<String> {
    let is_open = |number: &usize| call(libc::SYS_fcntl, &[*number, libc::F_GETFD as usize]).is_ok();
    (0..4096).filter(is_open).map(|number| format!("descriptor {number}")).collect()
}

fn mounts() -> BTreeSet<String> {
    fs::read_to_string("/proc/self/mountinfo").unwrap_or_default().lines().map(String::from).collect()
}

fn namespaces(process: &str) -> Vec<String> {
    let links = fs::read_dir(format!("/proc/{process}/ns")).into_iter().flatten().flatten();
    links.filter_map(|link| Some(fs::read_link(link.path()).ok()?.display().to_string())).collect()
}

/// Groups of limits that nobody is responsible for any more: those of supervisors that are gone, and of this process. They are
/// made below the groups that this process is in; what lies in others was left by others.
fn abandoned_groups() -> BTreeSet<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let directories = own.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let mount = Path::new("/sys/fs/cgroup").join(controllers.trim_start_matches("name="));
        let whole = mount.join(path.trim_start_matches('/'));
        Some(if whole.is_dir() { whole } else { mount })
    });
    let entries = directories.flat_map(|directory| fs::read_dir(directory).into_iter().flatten().flatten());
    let own = rustix::process::geteuid().as_raw();
    // Those of another user are for that one to clear away.
    let is_own = |entry: &fs::DirEntry| entry.metadata().is_ok_and(|metadata| metadata.uid() == own);
    let entries = entries.filter(is_own);
    entries.filter(|entry| is_abandoned(&entry.file_name().to_string_lossy())).map(|entry| entry.path()).collect()
}

/// A name ends with the number of the supervisor and of its run. Other rows, and other users, have theirs meanwhile.
fn is_abandoned(name: &str) -> bool {
    let supervisor = name.rsplit('-').nth(1).filter(|_| name.contains(OURS));
    supervisor
        .is_some_and(|number| *number == *std::process::id().to_string() || !Path::new("/proc").join(number).exists())
}

/// Waits until all that is new has gone, or says what has not. What counts is what was there when this began: supervisors of
/// other rows are killed meanwhile too.
fn must_vanish(stage: &Stage, before: &Traces) -> Judged {
    reap();
    let first = Traces::now().more_than(before);
    let deadline = Instant::now() + PATIENCE;
    loop {
        // Live does so when an attendant was killed. Of a run's supervisor nobody has to.
        if stage.backend.name() == crate::dream::NAME {
            sandbox::process::sweep();
        }
        reap();
        let now = Traces::now().more_than(before);
        let left: Vec<&String> = first.iter().filter(|trace| now.contains(trace)).collect();
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(format!("left behind: {left:?}"));
        }
        std::thread::sleep(PAUSE);
    }
}

/// Takes in whoever died and lost its parent.
fn reap() {
    const NO_HANG: usize = 1;
    while call(libc::SYS_wait4, &[usize::MAX, 0, NO_HANG, 0]).is_ok_and(|process| process > 0) {}
}

/// Makes this process the parent of all that lose theirs.
fn adopt_orphans() -> Result<(), String> {
    let answer = call(libc::SYS_prctl, &[libc::PR_SET_CHILD_SUBREAPER as usize, 1]);
    answer.map(drop).map_err(|error| error.to_string())
}

/// Others mount things on this host meanwhile, and what they mount is not for us to find. Only root can look away.
fn have_own_mounts() -> Result<(), String> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let private = (libc::MS_PRIVATE | libc::MS_REC) as usize;
    call(libc::SYS_unshare, &[libc::CLONE_NEWNS as usize])
        .and_then(|_| call(libc::SYS_mount, &[0, c"/".as_ptr() as usize, 0, private, 0]))
        .map(drop)
        .map_err(|error| format!("mounts of its own: {error}"))
}

/// Moments to kill at, from a seed.
struct Moments(u64);

impl Moments {
    fn from_environment() -> Moments {
        let seed = std::env::var("TELOS_SEED").ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(1);
        Moments(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        Duration::from_micros(self.0 % LATEST_KILL_MICROSECONDS)
    }
}

/// Leaves a process in a session of its own.
pub const ORPHAN: &str = "(setsid sleep 600 &) & exit 3";

/// The ways in which a run ends, in turn.
fn end_somehow(stage: &Stage, turn: usize, moment: Duration) -> Judged {
    let mut order = stage.order(&["true"]);
    match turn % 9 {
        0 => run(stage, &order),
        1 => {
            order.program = stage.order(&["sh", "-c", ORPHAN]).program;
            run(stage, &order)
        }
        2 => start(stage, &order).map(drop),
        3 => {
            order.program = stage.order(&["sleep", "600"]).program;
            let running = start(stage, &order)?;
            std::thread::sleep(moment);
            running.stop().stop();
            running.wait().map(drop).map_err(|error| error.to_string())
        }
        4 => {
            order.program = stage.order(&["sleep", "600"]).program;
            order.limits.time = Some(moment);
            run(stage, &order)
        }
        5 => refuse(stage, &stage.order(&["there-is-no-such-program"])),
        6 => refuse(stage, &stage.order(&["a\0b"])),
        7 => end_worker(stage, turn),
        _ => kill_supervisor(stage, &order, moment),
    }
}

/// Nothing runs, though much may have been made for it. A program that starts another finds out by itself that there is none.
fn refuse(stage: &Stage, order: &Order) -> Judged {
    match start(stage, order) {
        Ok(running) => running.wait().map(drop).map_err(|error| error.to_string()),
        Err(_) => Ok(()),
    }
}

/// A process that ran something ends by itself, and gives up what it had prepared, or leaves that to the kernel.
fn end_worker(stage: &Stage, turn: usize) -> Judged {
    let worker = call(libc::SYS_fork, &[]).map_err(|error| error.to_string())?;
    if worker == 0 {
        let ran = run(stage, &stage.order(&["true"])).and_then(|()| run(stage, &stage.order(&["false"])));
        if turn.is_multiple_of(2) {
            stage.backend.clear();
        }
        std::process::exit(i32::from(ran.is_err()));
    }
    let mut status = 0_i32;
    let place = &raw mut status as usize;
    call(libc::SYS_wait4, &[worker as usize, place, 0, 0]).map_err(|error| error.to_string())?;
    if status == 0 { Ok(()) } else { Err(format!("a worker ended with status {status}")) }
}

fn start(stage: &Stage, order: &Order) -> Result<Box<dyn sandbox::Running>, String> {
    let mut order = order.clone();
    order.allows_weaker = !stage.missing().is_empty();
    let streams = Streams { stdin: Stdin::Empty, output: Box::new(|_, _| {}) };
    stage.backend.start(&order, streams).map_err(|error| error.to_string())
}

fn run(stage: &Stage, order: &Order) -> Judged {
    start(stage, order)?.wait().map(drop).map_err(|error| error.to_string())
}

/// A process that starts a run is killed at some moment, perhaps before the run has begun.
fn kill_supervisor(stage: &Stage, order: &Order, moment: Duration) -> Judged {
    let supervisor = call(libc::SYS_fork, &[]).map_err(|error| error.to_string())?;
    if supervisor == 0 {
        let mut order = order.clone();
        order.program = stage.order(&["sleep", "600"]).program;
        std::process::exit(i32::from(run(stage, &order).is_err()));
    }
    std::thread::sleep(moment);
    let killed = call(libc::SYS_kill, &[supervisor as usize, libc::SIGKILL as usize]);
    call(libc::SYS_wait4, &[supervisor as usize, 0, 0, 0]).map_err(|error| error.to_string())?;
    killed.map(drop).map_err(|error| error.to_string())
}

fn after_many_runs(stage: &Stage) -> Judged {
    adopt_orphans()?;
    let is_soak = std::env::var_os("TELOS_SOAK").is_some();
    if is_soak {
        call(libc::SYS_alarm, &[3600]).map_err(|error| error.to_string())?;
    }
    have_own_mounts()?;
    let before = settled(stage)?;
    let mut moments = Moments::from_environment();
    for turn in 0..count(stage, is_soak) {
        end_somehow(stage, turn, moments.next()).map_err(|why| format!("run {turn}: {why}"))?;
        reap();
    }
    stage.backend.clear();
    must_vanish(stage, &before)
}

/// A zygote takes long to start, and many of the ends cost one.
fn count(stage: &Stage, is_soak: bool) -> usize {
    let asked = std::env::var("TELOS_CASES").ok().and_then(|cases| cases.parse().ok());
    let all = if is_soak { asked.unwrap_or(SOAK) } else { SAMPLE };
    if stage.backend.name() == crate::zygote::NAME { all / 5 } else { all }
}

/// The first run of a process may leave something for the next ones, once; what is kept ready for them goes.
fn settled(stage: &Stage) -> Result<Traces, String> {
    run(stage, &stage.order(&["true"]))?;
    stage.backend.clear();
    Ok(Traces::now())
}

/// The supervisor dies while its program runs, has children of its own, and holds things open.
fn after_death_of_supervisor(stage: &Stage) -> Judged {
    adopt_orphans()?;
    let before = settled(stage)?;
    let neighbour = Neighbour::start(stage, "half.family")?;
    if neighbour.said() != "settled" {
        return Err(format!("the family did not settle: {:?}", neighbour.said()));
    }
    must_be_seen(&before)?;
    neighbour.kill_supervisor();
    drop(neighbour);
    stage.backend.clear();
    must_vanish(stage, &before)
}

/// Waits until the supervisor, its program, a child and a grandchild are there: who says that it has settled does not wait
/// for its children's children.
fn must_be_seen(before: &Traces) -> Judged {
    const FAMILY: usize = 4;
    let deadline = Instant::now() + PATIENCE;
    while descendants(std::process::id()).difference(&before.processes).count() < FAMILY {
        if Instant::now() > deadline {
            return Err("the family cannot be seen from outside".into());
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// Inside: children and grandchildren in sessions of their own, deaf to signals.
fn family() -> crate::table::Said {
    if call(libc::SYS_fork, &[])? == 0 {
        let ignore = [libc::SIG_IGN, 0, 0, 0];
        for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT] {
            call(libc::SYS_rt_sigaction, &[signal as usize, ignore.as_ptr() as usize, 0, 8])?;
        }
        if call(libc::SYS_fork, &[])? == 0 {
            call(libc::SYS_setsid, &[])?;
        }
        loop {
            std::thread::park();
        }
    }
    crate::neighbours::hold("settled")
}

pub const HALVES: &[Row] = &[Row::own("half.family", "has children and grandchildren", family)];

pub const ROWS: &[Row] = &[
    Row::story("leaves.nothing", "ends in any way, many times", after_many_runs),
    Row::story(
        "leaves.nothing_without_supervisor",
        "runs on when its supervisor was killed",
        after_death_of_supervisor,
    ),
];
