//! Cgroups, where this host lets us make some: of the second version, of the first, or none.
//!
//! Each run has its own, below one that this process may write to. It is removed with the run, or by a caretaker if whoever made
//! it was killed. What even that one could not remove, since it was killed too, the next process that runs something does.

use crate::limits::Limits;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Once, OnceLock};
use std::time::Duration;
use system::caretaker::Caretaker;

const MOUNT: &str = "/sys/fs/cgroup";
/// Names of ours begin with this, and go on with the pid namespace and the number of the process that made them.
const PREFIX: &str = "telos";

/// Where cgroups can be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Layout {
    /// One directory for everything.
    Second {
        directory: PathBuf,
    },
    /// One directory for memory, and one for processor time if there is such.
    First {
        memory: PathBuf,
        time: Option<PathBuf>,
    },
    Nothing {
        why: String,
    },
}

impl Layout {
    /// Whether there are cgroups that a process enters by itself, and is not made in.
    pub fn is_entered(&self) -> bool {
        matches!(self, Layout::First { .. })
    }

    /// Looks once; a process that is moved afterwards keeps what it has.
    pub fn of_host() -> &'static Layout {
        static LAYOUT: OnceLock<Layout> = OnceLock::new();
        LAYOUT.get_or_init(|| {
            let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
            Layout::find(Path::new(MOUNT), &own)
        })
    }

    fn find(mount: &Path, own: &str) -> Layout {
        let first = |controller: &str| {
            let directory = below(&mount.join(controller), path_of(own, controller)?);
            is_ours(&directory).then_some(directory)
        };
        if mount.join("cgroup.controllers").exists() {
            return Layout::second(mount, path_of(own, "").unwrap_or("/"));
        }
        match first("memory") {
            Some(memory) => Layout::First { memory, time: first("cpuacct") },
            None if mount.join("memory").exists() => {
                Layout::Nothing { why: "only root may make cgroups of the first version".into() }
            }
            None => Layout::Nothing { why: format!("no memory controller is mounted at {MOUNT}") },
        }
    }

    /// The nearest directory above this process that hands its children memory limits and that we may write to.
    fn second(mount: &Path, own: &str) -> Layout {
        let own = below(mount, own);
        for directory in own.ancestors().take_while(|directory| directory.starts_with(mount)) {
            let handed_on = fs::read_to_string(directory.join("cgroup.subtree_control")).unwrap_or_default();
            if handed_on.split_whitespace().any(|name| name == "memory") && is_ours(directory) {
                return Layout::Second { directory: directory.into() };
            }
        }
        Layout::Nothing {
            why: "no cgroup above this process is delegated to its user with the memory controller".into(),
        }
    }

    fn directories(&self) -> impl Iterator<Item = &PathBuf> {
        let (one, other) = match self {
            Layout::Second { directory } => (Some(directory), None),
            Layout::First { memory, time } => (Some(memory), time.as_ref()),
            Layout::Nothing { .. } => (None, None),
        };
        one.into_iter().chain(other)
    }

    /// Sweeps, unless this process has, or one that it is a copy of: each look takes longer the more runs there are.
    pub fn sweep_once(&self) {
        static SWEPT: Once = Once::new();
        SWEPT.call_once(|| self.sweep());
    }

    /// Removes what supervisors left behind that are no more. A cgroup that somebody is in cannot be removed.
    pub fn sweep(&self) {
        let prefix = own_prefix();
        for directory in self.directories() {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let maker = name.to_str().and_then(|name| name.strip_prefix(prefix)?.split('-').next());
                if maker.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
                    let _ = fs::remove_dir(entry.path());
                }
            }
        }
    }
}

/// Processes in other pid namespaces may have our number, and we cannot see whether they live.
fn own_prefix() -> &'static str {
    static OWN: OnceLock<String> = OnceLock::new();
    OWN.get_or_init(|| {
        let namespace = fs::metadata("/proc/self/ns/pid").map_or(0, |metadata| metadata.ino());
        format!("{PREFIX}-{namespace}-")
    })
}

/// The path that `/proc/self/cgroup` gives for a controller; that of the second version has no name.
fn path_of<'a>(own: &'a str, controller: &str) -> Option<&'a str> {
    own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let is_it = parts.next()?.split(',').any(|name| name == controller);
        if is_it { parts.next() } else { None }
    })
}

/// In a container the path may be that outside, and what is mounted its end.
fn below(mount: &Path, path: &str) -> PathBuf {
    let whole = mount.join(path.trim_start_matches('/'));
    if whole.is_dir() { whole } else { mount.into() }
}

fn is_ours(directory: &Path) -> bool {
    use rustix::fs::{Access, access};
    let may = |path: &Path| access(path, Access::WRITE_OK).is_ok();
    may(directory) && may(&directory.join("cgroup.procs"))
}

/// A cgroup, of one run or of a cell. Goes when it is dropped, so all that ran in it must have ended before.
pub struct Cgroup {
    memory: PathBuf,
    time: Option<PathBuf>,
    is_second: bool,
    /// For processes to be made in it.
    opened: Option<File>,
    figures: Figures,
    /// Dismissed when all is removed.
    _caretaker: Option<Caretaker>,
}

/// Who removes a cgroup whose maker was killed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heir {
    /// A process that is made for it.
    Caretaker,
    /// Whoever the maker is a copy of, by `Layout::sweep`.
    Parent,
}

/// What it tells, each opened when it is first asked for.
#[derive(Default)]
struct Figures {
    user: OnceLock<Option<File>>,
    system: OnceLock<Option<File>>,
    peak: OnceLock<Option<File>>,
    kills: OnceLock<Option<File>>,
    usage: OnceLock<Option<File>>,
}

/// What was used before a run began, in a cgroup that serves several.
#[derive(Default, Clone, Copy)]
pub struct Before {
    user: Duration,
    system: Duration,
    kills: u64,
    /// The most memory that it had is that of earlier runs, perhaps.
    hides_peak: bool,
}

impl Cgroup {
    /// `None` where there are none.
    pub fn make(limits: &Limits, heir: Heir) -> io::Result<Option<Cgroup>> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}{}-{number}", own_prefix(), std::process::id());
        let layout = Layout::of_host();
        layout.sweep_once();
        let (memory, time, is_second) = match layout {
            Layout::Second { directory } => (directory.join(&name), None, true),
            Layout::First { memory, time } => (memory.join(&name), time.as_ref().map(|time| time.join(&name)), false),
            Layout::Nothing { .. } => return Ok(None),
        };
        let all = [Some(memory.as_path()), time.as_deref()].into_iter().flatten();
        let caretaker = (heir == Heir::Caretaker).then(|| Caretaker::of(all)).transpose()?;
        // There may be no room because of what others left.
        make_anew(&memory).or_else(|_| {
            layout.sweep();
            make_anew(&memory)
        })?;
        let figures = Figures::default();
        let mut cgroup = Cgroup { memory, time: None, is_second, opened: None, figures, _caretaker: caretaker };
        if let Some(time) = time {
            make_anew(&time)?;
            cgroup.time = Some(time);
        }
        if let Some(bytes) = limits.memory_bytes {
            cgroup.limit_memory(bytes)?;
        }
        if is_second {
            // All of it ends, not only its largest process.
            set(&cgroup.memory.join("memory.oom.group"), 1)?;
            cgroup.opened = Some(File::open(&cgroup.memory)?);
        }
        Ok(Some(cgroup))
    }

    pub fn limit_memory(&self, bytes: u64) -> io::Result<()> {
        if self.is_second {
            set(&self.memory.join("memory.max"), bytes)?;
            return if_there(set(&self.memory.join("memory.swap.max"), 0));
        }
        let (limit, whole) =
            (self.memory.join("memory.limit_in_bytes"), self.memory.join("memory.memsw.limit_in_bytes"));
        // The first is never above the second.
        if set(&limit, bytes).is_err() {
            if_there(set(&whole, bytes))?;
            set(&limit, bytes)?;
        }
        if_there(set(&whole, bytes))
    }

    /// What a new process can be made in, if this host can do that.
    pub fn to_be_made_in(&self) -> Option<BorrowedFd<'_>> {
        self.opened.as_ref().map(AsFd::as_fd)
    }

    /// By what a process of one thread that was not made here enters it, by itself: see `enter`. Whoever puts another one in, or
    /// all threads of one, has the kernel stop all processes from starting and ending meanwhile, which takes it milliseconds.
    pub fn doors(&self) -> io::Result<Vec<File>> {
        let name = if self.is_second { "cgroup.procs" } else { "tasks" };
        let directories = [Some(&self.memory), self.time.as_ref()].into_iter().flatten();
        directories.map(|directory| File::options().write(true).open(directory.join(name))).collect()
    }

    /// Begins to count for another run.
    pub fn count_anew(&self) -> Before {
        let (user, system) = self.times(Before::default()).unwrap_or_default();
        // What was reset is told by the same descriptor.
        let hides_peak = self.peak().is_none_or(|file| file.write_all_at(b"0", 0).is_err());
        Before { user, system, kills: self.kills(), hides_peak }
    }

    /// Processor time of programs since, and that of the kernel for them, if it is counted.
    pub fn times(&self, before: Before) -> Option<(Duration, Duration)> {
        let (user, system) = if self.is_second {
            let text = text(self.figures.user.get_or_init(|| File::open(self.memory.join("cpu.stat")).ok()))?;
            let time = |name| word(&text, name).map(Duration::from_micros);
            time("user_usec").zip(time("system_usec"))?
        } else {
            let directory = self.time.as_ref()?;
            let open = |name| File::open(directory.join(name)).ok();
            let time = |file| number(file).map(Duration::from_nanos);
            let user = time(self.figures.user.get_or_init(|| open("cpuacct.usage_user")));
            user.zip(time(self.figures.system.get_or_init(|| open("cpuacct.usage_sys"))))?
        };
        Some((user.saturating_sub(before.user), system.saturating_sub(before.system)))
    }

    /// The most memory that it had at once.
    pub fn peak_bytes(&self, before: Before) -> Option<u64> {
        let peak = self.peak().filter(|_| !before.hides_peak)?;
        text_of(peak)?.trim().parse().ok()
    }

    fn peak(&self) -> Option<&File> {
        let name = if self.is_second { "memory.peak" } else { "memory.max_usage_in_bytes" };
        let open = || {
            let path = self.memory.join(name);
            // It can be reset on newer kernels only.
            let both = File::options().read(true).write(true).open(&path);
            both.or_else(|_| File::open(path)).ok()
        };
        self.figures.peak.get_or_init(open).as_ref()
    }

    /// What is in it now.
    pub fn bytes(&self) -> Option<u64> {
        let name = if self.is_second { "memory.current" } else { "memory.usage_in_bytes" };
        number(self.figures.usage.get_or_init(|| File::open(self.memory.join(name)).ok()))
    }

    /// Whether the kernel ended something in it for want of memory.
    pub fn ran_out_of_memory(&self, before: Before) -> bool {
        self.kills() > before.kills
    }

    fn kills(&self) -> u64 {
        let name = if self.is_second { "memory.events" } else { "memory.oom_control" };
        let text = text(self.figures.kills.get_or_init(|| File::open(self.memory.join(name)).ok()));
        text.and_then(|text| word(&text, "oom_kill")).unwrap_or(0)
    }
}

/// Moves the calling process, which has one thread, to where these doors lead.
pub fn enter(mut doors: impl Iterator<Item = impl AsFd>) -> rustix::io::Result<()> {
    const MYSELF: &[u8] = b"0";
    doors.try_for_each(|door| rustix::io::write(door, MYSELF).map(drop))
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        self.opened = None;
        for directory in [Some(&self.memory), self.time.as_ref()].into_iter().flatten() {
            // What cannot be removed now is swept by the next process.
            let _ = fs::remove_dir(directory);
        }
    }
}

/// Makes a directory whose name is ours. One that has it was left by a killed process that had our number, which is why
/// nobody has swept it.
fn make_anew(directory: &Path) -> io::Result<()> {
    match fs::create_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_dir(directory)?;
            fs::create_dir(directory)
        }
        made => made,
    }
}

/// Not there on a host without swap.
fn if_there(answer: io::Result<()>) -> io::Result<()> {
    match answer {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        answer => answer,
    }
}

fn text(file: &Option<File>) -> Option<String> {
    text_of(file.as_ref()?)
}

fn text_of(file: &File) -> Option<String> {
    const BYTES: usize = 4096;
    let mut bytes = [0; BYTES];
    let count = file.read_at(&mut bytes, 0).ok()?;
    String::from_utf8(bytes.get(..count)?.to_vec()).ok()
}

fn number(file: &Option<File>) -> Option<u64> {
    text(file)?.trim().parse().ok()
}

fn set(path: &Path, value: u64) -> io::Result<()> {
    fs::OpenOptions::new().write(true).open(path)?.write_all(value.to_string().as_bytes())
}

/// The number behind a word, in a text with one such pair a line.
fn word(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_cgroup_is_found_for_each_controller() {
        let own = "5:cpu,cpuacct:/a\n4:memory:/b/c\n0::/d\n";
        assert_eq!(path_of(own, "cpuacct"), Some("/a"));
        assert_eq!(path_of(own, "memory"), Some("/b/c"));
        assert_eq!(path_of(own, ""), Some("/d"));
        assert_eq!(path_of(own, "pids"), None);
    }

    #[test]
    fn of_the_second_version_the_nearest_that_hands_memory_on_is_taken() {
        let mount = tempfile::tempdir().unwrap();
        let deep = mount.path().join("user.slice/app.slice/shell.scope");
        fs::create_dir_all(&deep).unwrap();
        fs::write(mount.path().join("cgroup.controllers"), "cpu memory").unwrap();
        for (directory, handed_on) in
            [("", "cpu memory"), ("user.slice", "cpu memory pids"), ("user.slice/app.slice", "memory")]
        {
            fs::write(mount.path().join(directory).join("cgroup.subtree_control"), handed_on).unwrap();
            fs::write(mount.path().join(directory).join("cgroup.procs"), "").unwrap();
        }
        let layout = Layout::find(mount.path(), "0::/user.slice/app.slice/shell.scope\n");
        assert_eq!(layout, Layout::Second { directory: mount.path().join("user.slice/app.slice") });
    }

    /// The number of a supervisor that was killed came round again, and the one that had it then could make no cgroup.
    #[test]
    fn what_one_left_who_had_our_number_is_not_in_the_way() {
        let mount = tempfile::tempdir().unwrap();
        let left = mount.path().join("telos-1-2-0");
        fs::create_dir(&left).unwrap();
        make_anew(&left).unwrap();
        fs::write(left.join("somebody"), "is in there").unwrap();
        assert!(make_anew(&left).is_err(), "one that is in use is not removed");
    }

    #[test]
    fn without_a_controller_there_is_none() {
        let mount = tempfile::tempdir().unwrap();
        assert!(matches!(Layout::find(mount.path(), "0::/\n"), Layout::Nothing { .. }));
    }
}
