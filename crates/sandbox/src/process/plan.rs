//! An order made ready: all that the process inside needs, since that must not ask for memory.

use super::cell;
use super::fence::{self, Left};
use super::filter;
use super::fuse::Fuse;
use super::lay::{self, Laid};
use super::meter;
use super::network::{self, Wires};
use super::report::Step;
use super::seal;
use super::source::{self, Granted, Source, Written};
use super::start::Purpose;
use super::view::{self, Skeleton};
use crate::error::SandboxError;
use crate::limits::Limits;
use crate::order::Order;
use crate::wall::{Lack, Wall};
use rustix::process::{Resource, Rlimit, getrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::ffi::{CStr, CString, OsStr};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::sync::{Arc, OnceLock};
use std::{fs, io};
use system::calls::SYS_socket;
use system::program::Words;
use system::sealing::{self, Call};
use system::seccomp::Instruction;

pub struct Plan<'a> {
    /// What is to be started, if something is.
    pub program: Option<Program>,
    pub environment: Words,
    pub directory: CString,
    pub skeleton: Arc<Skeleton>,
    /// The same in no two runs.
    pub machine_id: Vec<u8>,
    /// Each with its place in the order.
    pub grants: Vec<(usize, Granted)>,
    pub files: Vec<Written<'a>>,
    /// What is in layers from the beginning.
    pub laid: Vec<Laid<'a>>,
    pub fence: Vec<Left>,
    /// How everything is given up.
    pub steps: Vec<(Step, Call)>,
    /// Size and number of files of the file system in memory, as it wants them.
    pub memory_options: Vec<(CString, CString)>,
    /// Makes the clocks that count from the start of the host begin anew.
    pub time_offsets: Vec<u8>,
    pub allows_weaker: bool,
    pub purpose: Purpose,
    pub is_in_cell: bool,
    /// The files that all runs see are there already, and nothing has to be put between them.
    pub shares_view: bool,
    /// Something is handed in where code usually is.
    pub has_code: bool,
    /// There is no cgroup: the one outside counts, and needs what it counts by.
    pub is_counted: bool,
    pub wires: Option<Wires>,
    /// What puts layers over directories where the kernel does not.
    pub fuse: Option<Fuse>,
}

pub struct Program {
    /// Where it may be, in the order in which it is looked for.
    pub candidates: Vec<CString>,
    pub arguments: Words,
}

impl Program {
    fn of(order: &Order) -> Result<Program, SandboxError> {
        let Some(name) = order.program.first() else {
            return Err(SandboxError::NoProgram { program: "an empty command".into() });
        };
        let arguments = order.program.iter().map(|word| word_of(word)).collect::<Result<_, _>>()?;
        let mut candidates = candidates(name, &order.environment)?;
        if order.view.grants.is_empty() && order.view.files.is_empty() {
            candidates.retain(|candidate| may_be_there(candidate));
        }
        Ok(Program { candidates, arguments: Words::new(arguments) })
    }
}

/// What a run is made for, and where.
pub struct Setting {
    pub purpose: Purpose,
    pub is_counted: bool,
    /// How many processes a cell has, in whose namespaces it is made.
    pub cell: Option<u64>,
    pub base: Base,
}

/// What is the same for all runs.
#[derive(Clone)]
pub struct Base {
    pub skeleton: Arc<Skeleton>,
    pub filter: Arc<[Instruction]>,
}

impl Base {
    pub fn of_host(is_counted: bool) -> Base {
        Base { skeleton: Arc::new(Skeleton::of_host()), filter: filter::compile(&[], is_counted).into() }
    }

    /// Made once: the copies of a process that made it have it.
    pub fn of_dreams() -> Base {
        static BASE: OnceLock<Base> = OnceLock::new();
        let make = || Base { skeleton: Arc::new(Skeleton::without_programs()), filter: filter::dreaming().into() };
        BASE.get_or_init(make).clone()
    }
}

impl<'a> Plan<'a> {
    pub fn new(order: &'a Order, sources: Vec<Source>, setting: Setting) -> Result<Plan<'a>, SandboxError> {
        let added = network::environment(order);
        let environment = order.environment.iter().chain(&added).map(|(name, value)| {
            let mut word = name.clone();
            word.push("=");
            word.push(value);
            word_of(&word)
        });
        let directory = match order.directory.as_os_str().is_empty() {
            true if setting.purpose == Purpose::Dream => OsStr::new(view::SCRATCH),
            true => OsStr::new(view::HOME),
            false => order.directory.as_os_str(),
        };
        let Setting { purpose, is_counted, cell, base: Base { skeleton, filter } } = setting;
        let grants = source::grants(&order.view.grants, sources)?;
        let files = source::files(&order.view.files)?;
        let shares_view = cell.is_some() && cell::shares_view(order);
        let mut fence = fence::left(&skeleton, &grants, &files);
        fence.extend(shares_view.then(fence::own_identity));
        let skeleton_bytes = skeleton.bytes();
        let is_host = purpose == Purpose::Hosted;
        let hosting = if is_host { filter::hosting() } else { Vec::new() };
        let rlimits = rlimits(&order.limits, is_counted, &Beside::of(purpose, cell, is_counted));
        let laid = lay::make_ready(&order.view)?;
        // What lay in a layer before is marked as the kernel marks it; in a cell there is no device.
        let may_need_fuse = matches!(purpose, Purpose::Run | Purpose::Probe)
            && cell.is_none()
            && laid.is_empty()
            && grants.iter().any(|(_, granted)| granted.layer.is_some());
        let fuse = may_need_fuse.then(|| Fuse::find(&grants, &rlimits, is_counted)).flatten();
        Ok(Plan {
            program: purpose.starts_program().then(|| Program::of(order)).transpose()?,
            environment: Words::new(environment.collect::<Result<_, _>>()?),
            directory: word_of(directory)?,
            fence,
            skeleton,
            machine_id: format!("{}\n", machine_id()).into_bytes(),
            grants,
            files,
            laid,
            fuse,
            memory_options: memory_options(&order.limits, if shares_view { 0 } else { skeleton_bytes })?,
            steps: seal::steps(&rlimits, cell.is_some(), purpose, if is_host { &hosting } else { &filter }),
            time_offsets: time_offsets(),
            allows_weaker: order.allows_weaker,
            purpose,
            is_in_cell: cell.is_some(),
            shares_view,
            has_code: order.view.files.iter().any(|file| cell::is_code(&file.inside)),
            is_counted,
            wires: Wires::of(order)?,
        })
    }

    /// Without a network of its own it gets no sockets at all, and no way out: that would be one into the host's.
    pub fn do_without(&mut self, lacks: &[Lack]) {
        if lacks.iter().any(|lack| lack.wall == Wall::NetworkNamespace) {
            // A dream has none in any case.
            if self.purpose != Purpose::Dream {
                let filter = filter::compile(&[SYS_socket], self.is_counted);
                self.steps.retain(|(step, _)| *step != Step::Seccomp);
                self.steps.push((Step::Seccomp, sealing::be_filtered(&filter)));
            }
            self.wires.iter_mut().for_each(Wires::cut);
        }
    }
}

fn word_of(word: &OsStr) -> Result<CString, SandboxError> {
    CString::new(word.as_bytes()).map_err(|_| SandboxError::Grant {
        path: word.into(),
        why: "a zero byte cannot stand in arguments, environment or paths".into(),
    })
}

/// Where a program of this name may be. A name with a slash is where it says.
fn candidates(
    name: &OsStr,
    environment: &[(std::ffi::OsString, std::ffi::OsString)],
) -> Result<Vec<CString>, SandboxError> {
    if name.as_bytes().contains(&b'/') {
        return Ok(vec![word_of(name)?]);
    }
    let path = environment.iter().find(|(key, _)| key == "PATH").map_or(OsStr::new(view::PATH), |(_, value)| value);
    path.as_bytes()
        .split(|byte| *byte == b':')
        .map(|directory| word_of(Path::new(OsStr::from_bytes(directory)).join(name).as_os_str()))
        .collect()
}

/// What is below /usr is the host's where nothing was granted. Whoever looks there first pays for each name, and inside that is
/// always the run; out here others have looked before.
fn may_be_there(candidate: &CStr) -> bool {
    let path = Path::new(OsStr::from_bytes(candidate.to_bytes()));
    let is_of_host = path.starts_with("/usr") && !path.components().any(|part| part == Component::ParentDir);
    let is_missing = || fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    !(is_of_host && is_missing())
}

/// As many random bits as a machine id has; the same in no two runs.
fn machine_id() -> String {
    let mut bytes = [0u8; 16];
    // Early at boot the kernel may have none; then the id is zeroes, which is as well: it says nothing.
    let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::NONBLOCK);
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What is there from the beginning is not counted.
fn memory_options(limits: &Limits, skeleton_bytes: u64) -> Result<Vec<(CString, CString)>, SandboxError> {
    let number = |value: u64| word_of(OsStr::new(&value.to_string()));
    let mut options = vec![(c"mode".to_owned(), c"755".to_owned())];
    if let Some(bytes) = limits.disk_bytes {
        // None at all would mean as much as there is.
        let least = rustix::param::page_size() as u64;
        options.push((c"size".to_owned(), number(bytes.saturating_add(skeleton_bytes).max(least))?));
    }
    if let Some(files) = limits.disk_files {
        options.push((c"nr_inodes".to_owned(), number(files.saturating_add(SKELETON_FILES))?));
    }
    Ok(options)
}

/// More than the skeleton has: a run's own files are counted beyond.
const SKELETON_FILES: u64 = 96;
/// What programs ask for and never touch.
const RESERVED_BYTES: u64 = 1 << 30;
/// What a process may lock in memory: enough for keys, too little to matter.
const LOCKED_BYTES: u64 = 64 << 10;

/// What is there besides what a run itself uses, and counts with it.
struct Beside {
    /// Of the same user.
    processes: u64,
    /// Memory that it begins with.
    data_bytes: u64,
}

impl Beside {
    fn of(purpose: Purpose, cell: Option<u64>, is_counted: bool) -> Beside {
        match purpose {
            // The first process is what runs, with all that we have; a cgroup does not count that.
            Purpose::Dream => Beside { processes: 0, data_bytes: if is_counted { meter::own_data_bytes() } else { 0 } },
            _ => Beside { processes: 1 + cell.unwrap_or(0), data_bytes: 0 },
        }
    }
}

fn rlimits(limits: &Limits, is_counted: bool, beside: &Beside) -> Vec<(Resource, Rlimit)> {
    let mut rlimits = Vec::new();
    // Nobody may set more than what this process has itself.
    let mut limit = |resource, value: Option<u64>| {
        let Some(value) = value else { return };
        let value = getrlimit(resource).maximum.map_or(value, |most| value.min(most));
        rlimits.push((resource, Rlimit { current: Some(value), maximum: Some(value) }));
    };
    // With a limit of nought a crash would still start the host's handler, if that is a program.
    limit(Resource::Core, Some(1));
    for resource in [Resource::Msgqueue, Resource::Rtprio, Resource::Nice] {
        limit(resource, Some(0));
    }
    limit(Resource::Memlock, Some(LOCKED_BYTES));
    limit(Resource::Nproc, limits.processes.map(|count| count.saturating_add(beside.processes)));
    limit(Resource::Nofile, limits.open_files);
    limit(Resource::Fsize, limits.file_bytes);
    // A cgroup does this better, for all processes together.
    let data = limits.memory_bytes.filter(|_| is_counted);
    let reserved = |bytes: u64| bytes.max(RESERVED_BYTES).saturating_add(beside.data_bytes);
    limit(Resource::Data, data.map(|bytes| bytes.saturating_add(reserved(bytes))));
    // Each process; all of them together are counted outside.
    limit(Resource::Cpu, limits.cpu.map(|time| time.as_secs() + 1));
    rlimits
}

fn time_offsets() -> Vec<u8> {
    let since = |clock| clock_gettime(clock).tv_sec;
    let (monotonic, boot) = (since(ClockId::Monotonic), since(ClockId::Boottime));
    format!("monotonic -{monotonic} 0\nboottime -{boot} 0\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_surely_missing_is_not_looked_for_inside() {
        assert!(may_be_there(c"/usr/bin/env"));
        assert!(!may_be_there(c"/usr/bin/telos-nowhere"));
        assert!(may_be_there(c"/tmp/telos-nowhere"), "a run makes its own /tmp");
        assert!(may_be_there(c"/usr/../tmp/telos-nowhere"), "that is no place of the host's");
        assert!(may_be_there(c"/bin/telos-nowhere"), "it may be a link or none");
    }
}
