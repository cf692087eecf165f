//! What a run uses while it runs: told by its cgroup or, where there is none, counted in its own /proc.

use super::cgroup::{Before, Cgroup};
use crate::limits::Limits;
use crate::outcome::Limit;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, fstatvfs, openat, readlinkat, statat};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;
use system::clone::End;

/// How often a run is looked at that only we hold to its memory.
const OFTEN: Duration = Duration::from_millis(25);
/// How often a run is looked at whose memory the kernel limits: it may end one process of several, and does not count what
/// waits in sockets.
const SELDOM: Duration = Duration::from_millis(100);
/// Who uses no processor time changes nothing, and is looked at less and less often, to this.
const SELDOMEST: Duration = Duration::from_millis(800);
/// What a socket can hold that nobody receives from.
const SOCKET_BYTES: u64 = 208 << 10;
/// A run near its limit of processor time is not looked at more often than this.
const SHORTEST: Duration = Duration::from_millis(5);

pub enum Meter {
    Told(Told),
    Counted(Counted),
}

/// A run whose cgroup tells what it uses.
pub struct Told {
    cgroup: Arc<Cgroup>,
    before: Before,
    /// Processor time, when it was last looked at, and how long it is left alone.
    used: Option<Duration>,
    pause: Duration,
}

impl Told {
    fn look(&mut self) -> (Option<Duration>, bool) {
        let used = self.cgroup.times(self.before).map(|(user, system)| user + system);
        self.pause = pause(self.pause, used.is_some() && used == self.used);
        self.used = used;
        (used, self.cgroup.ran_out_of_memory(self.before))
    }
}

fn pause(last: Duration, is_idle: bool) -> Duration {
    if is_idle { (2 * last).min(SELDOMEST) } else { SELDOM }
}

/// A run without a cgroup.
pub struct Counted {
    /// Its own /proc, which shows nothing but its processes.
    pub proc: OwnedFd,
    /// The file system in memory that holds its files.
    pub files: OwnedFd,
    pub peak_bytes: u64,
    /// Of processes that are gone as well, as far as they were seen.
    pub time: Duration,
    /// What each process has in common with the one outside, of which it is a copy.
    pub inherited_bytes: u64,
    ticks: Ticks,
    shared: Shared,
    /// Who waits for the program, if that is no process of the run.
    pub parent: Option<Parent>,
}

/// A zygote, which alone is told what its child used, and what its children had used before.
pub struct Parent {
    stat: Arc<File>,
    before: (u64, u64),
}

impl Parent {
    /// As it is now.
    pub fn of(stat: &Arc<File>) -> Parent {
        Parent { stat: stat.clone(), before: waited(stat).unwrap_or_default() }
    }

    /// What its children used since, as far as they have ended.
    fn times(&self) -> (Duration, Duration) {
        let (user, system) = waited(&self.stat).unwrap_or(self.before);
        (duration(user.saturating_sub(self.before.0)), duration(system.saturating_sub(self.before.1)))
    }
}

/// Ticks of children that a process has waited for.
fn waited(stat: &File) -> Option<(u64, u64)> {
    let mut bytes = [0; 1024];
    let length = stat.read_at(&mut bytes, 0).ok()?;
    let fields = numbers(std::str::from_utf8(bytes.get(..length)?).ok()?)?;
    Some((*fields.get(13)?, *fields.get(14)?))
}

/// The fields of a process's `stat`. The name before them may hold anything, also what looks like its end.
fn numbers(text: &str) -> Option<Vec<u64>> {
    Some(text.rsplit_once(')')?.1.split_whitespace().map(|word| word.parse().unwrap_or(0)).collect())
}

fn duration(ticks: u64) -> Duration {
    Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

impl Counted {
    pub fn new(proc: OwnedFd, files: OwnedFd) -> Counted {
        let (ticks, shared, parent) = (Ticks::default(), Shared::default(), None);
        Counted { proc, files, peak_bytes: 0, time: Duration::ZERO, inherited_bytes: 0, ticks, shared, parent }
    }

    /// Memory that its processes have for themselves, and its files.
    fn look(&mut self) -> Option<u64> {
        let processes =
            openat(&self.proc, c".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let mut bytes = 0u64;
        let mut nameless = Nameless::default();
        let mut present = BTreeSet::new();
        self.shared.look_again();
        for entry in Dir::read_from(&processes).ok()?.flatten() {
            let name = entry.file_name().to_bytes();
            if !name.first().is_some_and(u8::is_ascii_digit) {
                continue;
            }
            bytes += self.memory_of(name).unwrap_or(0).saturating_sub(self.inherited_bytes);
            bytes += nameless.look(&self.proc, name);
            let maps = self.text(name, b"maps", self.shared.left_bytes);
            self.shared.see(&maps.unwrap_or_default());
            present.extend(number_of(name));
            if let Some((number, start, ticks)) = self.ticks_of(name) {
                self.ticks.see(number, start, ticks);
            }
        }
        self.ticks.forget_all_but(&present);
        let files = fstatvfs(&self.files).ok()?;
        bytes += files.f_blocks.saturating_sub(files.f_bfree) * files.f_frsize;
        bytes += self.shared.bytes();
        self.peak_bytes = self.peak_bytes.max(bytes);
        self.time = self.time.max(duration(self.ticks.sum()));
        Some(bytes)
    }

    /// What one of a process's files says, and no more of it than this.
    fn text(&self, process: &[u8], name: &[u8], most_bytes: u64) -> Option<String> {
        let path = [process, b"/", name].concat();
        let file = openat(&self.proc, path.as_slice(), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let mut text = String::new();
        File::from(file).take(most_bytes).read_to_string(&mut text).ok()?;
        Some(text)
    }

    fn memory_of(&self, process: &[u8]) -> Option<u64> {
        private_bytes(&self.text(process, b"statm", LINE_BYTES)?)
    }

    /// Which process it is by number and start, and its own ticks: its children may be waited for by nobody.
    fn ticks_of(&self, process: &[u8]) -> Option<(u64, u64, u64)> {
        let text = self.text(process, b"stat", LINE_BYTES)?;
        let fields = numbers(&text)?;
        let (user, system, start) = (fields.get(11)?, fields.get(12)?, fields.get(19)?);
        Some((number_of(process)?, *start, user + system))
    }
}

fn number_of(process: &[u8]) -> Option<u64> {
    std::str::from_utf8(process).ok()?.parse().ok()
}

/// Of all processes that were ever seen. Those that are gone are one number: a run may start any number of them.
#[derive(Default)]
struct Ticks {
    /// When each began, and its ticks.
    living: BTreeMap<u64, (u64, u64)>,
    gone: u64,
}

impl Ticks {
    fn see(&mut self, number: u64, start: u64, ticks: u64) {
        // The number may have been another's before.
        let before = self.living.insert(number, (start, ticks));
        self.gone += before.filter(|before| before.0 != start).map_or(0, |before| before.1);
    }

    fn forget_all_but(&mut self, present: &BTreeSet<u64>) {
        let gone = &mut self.gone;
        self.living.retain(|number, (_, ticks)| {
            let stays = present.contains(number);
            *gone += if stays { 0 } else { *ticks };
            stays
        });
    }

    fn sum(&self) -> u64 {
        self.gone + self.living.values().map(|(_, ticks)| ticks).sum::<u64>()
    }
}

/// More than the kernel says of a process in a line.
const LINE_BYTES: u64 = 4096;
/// More is not read of what processes have mapped: that would take longer than until the next look.
const MOST_MAPS_BYTES: u64 = 2 << 20;

/// Memory that is mapped, shared with children, and no file. The kernel does not say how much of it is in use, so that all of it
/// counts, once, and for as long as a part of it is mapped: who unmaps the rest has not given it back.
#[derive(Default)]
struct Shared {
    /// By the kernel's number, how long each is, and whether it is there still.
    lengths: BTreeMap<u64, (u64, bool)>,
    left_bytes: u64,
}

impl Shared {
    fn look_again(&mut self) {
        self.left_bytes = MOST_MAPS_BYTES;
        self.lengths.retain(|_, (_, is_there)| std::mem::take(is_there));
    }

    /// What a process has mapped, as its `maps` says.
    fn see(&mut self, maps: &str) {
        self.left_bytes = self.left_bytes.saturating_sub(maps.len() as u64);
        for (number, length) in maps.lines().filter_map(shared_mapping) {
            let place = self.lengths.entry(number).or_default();
            *place = (place.0.max(length), true);
        }
    }

    fn bytes(&self) -> u64 {
        self.lengths.values().map(|(length, _)| length).sum()
    }
}

/// Which it is, and how far what is mapped of it reaches.
fn shared_mapping(line: &str) -> Option<(u64, u64)> {
    let line = line.strip_suffix("/dev/zero (deleted)")?;
    let mut words = line.split_whitespace();
    let (range, rights, offset, number) = (words.next()?, words.next()?, words.next()?, words.nth(1)?);
    let (start, end) = range.split_once('-')?;
    let hexadecimal = |word| u64::from_str_radix(word, 16).ok();
    let length = hexadecimal(end)?.checked_sub(hexadecimal(start)?)?;
    rights.ends_with('s').then_some((number.parse().ok()?, hexadecimal(offset)?.saturating_add(length)))
}

/// Files in memory that have no name: nobody but who has them open knows of them. Each counts once.
#[derive(Default)]
struct Nameless {
    seen: BTreeSet<u64>,
    descriptors: usize,
}

/// More are not looked at: that would take longer than until the next look.
const MOST_DESCRIPTORS: usize = 4096;

impl Nameless {
    fn look(&mut self, proc: &OwnedFd, process: &[u8]) -> u64 {
        let path = [process, b"/fd"].concat();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(directory) = openat(proc, path.as_slice(), flags, Mode::empty()) else { return 0 };
        let Ok(entries) = Dir::read_from(&directory) else { return 0 };
        let mut bytes = 0;
        for entry in entries.flatten().take(MOST_DESCRIPTORS.saturating_sub(self.descriptors)) {
            self.descriptors += 1;
            let is_nameless = readlinkat(&directory, entry.file_name(), Vec::new())
                .is_ok_and(|target| target.to_bytes().starts_with(b"/memfd:"));
            let about = if is_nameless { statat(&directory, entry.file_name(), AtFlags::empty()).ok() } else { None };
            if let Some(about) = about.filter(|about| self.seen.insert(about.st_ino)) {
                bytes += about.st_blocks as u64 * 512;
            }
        }
        bytes
    }
}

impl Meter {
    pub fn of(cgroup: Arc<Cgroup>, before: Before) -> Meter {
        Meter::Told(Told { cgroup, before, used: None, pause: SELDOM })
    }

    /// When to look for the first time; until then nothing can have been used up. Of a zygote's child nobody tells its memory
    /// when it has gone: it is looked at from the beginning.
    pub fn first(&self, limits: &Limits) -> Option<Duration> {
        if let Meter::Counted(Counted { parent: Some(_), .. }) = self {
            return Some(Duration::ZERO);
        }
        let cpu = limits.cpu.and_then(|limit| next(Duration::ZERO, limit).1);
        cpu.into_iter().chain(self.every(limits)).min()
    }

    fn every(&self, limits: &Limits) -> Option<Duration> {
        limits.memory_bytes?;
        match self {
            Meter::Told(told) => Some(told.pause),
            Meter::Counted(_) => Some(OFTEN),
        }
    }

    /// Looks whether a limit is reached, and says when to look again.
    pub fn look(&mut self, limits: &Limits, sockets: u64) -> (Option<Limit>, Option<Duration>) {
        let (time, is_full) = match self {
            Meter::Told(told) => told.look(),
            Meter::Counted(counted) => {
                let bytes = counted.look();
                let is_full = bytes.zip(limits.memory_bytes).is_some_and(|(used, limit)| used > limit);
                (Some(counted.time), is_full)
            }
        };
        let in_sockets = sockets.saturating_mul(SOCKET_BYTES);
        if is_full || limits.memory_bytes.is_some_and(|limit| in_sockets > limit) {
            return (Some(Limit::Memory), None);
        }
        let (reached, again) = time.zip(limits.cpu).map_or((None, None), |(used, limit)| next(used, limit));
        (reached, again.into_iter().chain(self.every(limits)).min())
    }

    /// Of all that ran, also of what was ended; what the kernel told of the end is less.
    pub fn times(&self, end: &End) -> (Duration, Duration) {
        match self {
            Meter::Told(told) => told.cgroup.times(told.before).unwrap_or((end.user, end.system)),
            Meter::Counted(counted) => {
                let (user, system) = counted.parent.as_ref().map(Parent::times).unwrap_or_default();
                let (user, system) = (end.user + user, end.system + system);
                (user.max(counted.time.saturating_sub(system)), system)
            }
        }
    }

    /// What each of its processes has from the beginning, and did not ask for. A cgroup does not count it.
    pub fn do_not_count(&mut self, bytes: impl FnOnce() -> u64) {
        if let Meter::Counted(counted) = self {
            counted.inherited_bytes = bytes();
        }
    }

    /// The most at once; one that was gone before anybody looked had what the kernel told of its end.
    pub fn peak_bytes(&self, end: &End) -> u64 {
        match self {
            Meter::Told(told) => told.cgroup.peak_bytes(told.before).unwrap_or(end.memory_bytes),
            Meter::Counted(counted) => counted.peak_bytes.max(end.memory_bytes.saturating_sub(counted.inherited_bytes)),
        }
    }

    pub fn ran_out_of_memory(&self) -> bool {
        matches!(self, Meter::Told(told) if told.cgroup.ran_out_of_memory(told.before))
    }
}

/// Of all its pages, as the kernel tells them of a process, those that are in memory and its own.
fn private_bytes(pages: &str) -> Option<u64> {
    let mut pages = pages.split(' ').skip(1).map(|word| word.parse::<u64>().unwrap_or(0));
    let (resident, shared) = (pages.next()?, pages.next()?);
    Some(resident.saturating_sub(shared) * rustix::param::page_size() as u64)
}

/// Memory that this process has for itself.
pub fn own_bytes() -> u64 {
    std::fs::read_to_string("/proc/self/statm").ok().and_then(|pages| private_bytes(&pages)).unwrap_or(0)
}

/// What this process may write to, whether it is in memory or not.
pub fn own_data_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let data = pages.split_whitespace().nth(5).and_then(|word| word.parse::<u64>().ok());
    data.unwrap_or(0) * rustix::param::page_size() as u64
}

/// How many sockets there are in the network of a process.
pub fn sockets_of(pid: i32) -> u64 {
    File::open(format!("/proc/{pid}/net/sockstat")).map_or(0, |file| sockets_in(&file))
}

/// The same, in the file that tells it.
pub fn sockets_in(file: &File) -> u64 {
    let mut bytes = [0; 512];
    let length = file.read_at(&mut bytes, 0).unwrap_or(0);
    let text = String::from_utf8_lossy(bytes.get(..length).unwrap_or_default());
    let count = text.strip_prefix("sockets: used ").and_then(|rest| rest.lines().next());
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

/// All processors together need at least so long to use up what is left.
fn next(used: Duration, limit: Duration) -> (Option<Limit>, Option<Duration>) {
    if used >= limit {
        return (Some(Limit::Cpu), None);
    }
    let processors = rustix::thread::sched_getaffinity(None).map_or(1, |set| set.count().max(1));
    (None, Some(((limit - used) / processors).max(SHORTEST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_processes_used_counts_after_they_are_gone_and_they_are_forgotten() {
        let mut ticks = Ticks::default();
        for number in 1..=1000 {
            ticks.see(number, 1, 2);
            ticks.see(number, 1, 3);
            ticks.see(7, number + 1, 1);
            ticks.forget_all_but(&BTreeSet::from([7, number]));
        }
        assert_eq!(ticks.sum(), 1000 * 3 + 1000);
        assert!(ticks.living.len() <= 2, "{}", ticks.living.len());
    }

    #[test]
    fn shared_mappings_count_once_and_whole_while_a_part_of_them_is_mapped() {
        let line = |start: u64, end: u64, rights: &str, offset: u64, rest: &str| {
            format!("{start:x}-{end:x} {rights} {offset:08x} {rest}\n")
        };
        let whole = line(0x1000, 0x9000, "rw-s", 0, "00:01 77                         /dev/zero (deleted)");
        let part = line(0x1000, 0x2000, "rw-s", 0, "00:01 77                         /dev/zero (deleted)");
        let private = line(0x1000, 0x9000, "rw-p", 0, "00:01 78                         /dev/zero (deleted)");
        let file = line(0x1000, 0x9000, "rw-s", 0, "00:2a 79                         /tmp/file");
        let tail = line(0x9000, 0xa000, "rw-s", 0x7000, "00:01 80                         /dev/zero (deleted)");
        let mut shared = Shared::default();
        shared.look_again();
        shared.see(&format!("{whole}{private}{file}"));
        shared.see(&whole);
        assert_eq!(shared.bytes(), 0x8000);
        shared.look_again();
        shared.see(&format!("{part}{tail}"));
        assert_eq!(shared.bytes(), 0x8000 + 0x8000);
        shared.look_again();
        shared.look_again();
        assert_eq!(shared.bytes(), 0);
    }

    #[test]
    fn who_sleeps_is_looked_at_less_often_and_who_wakes_up_as_before() {
        let mut last = SELDOM;
        let pauses: Vec<u128> = (0..5)
            .map(|_| {
                last = pause(last, true);
                last.as_millis()
            })
            .collect();
        assert_eq!(pauses, [200, 400, 800, 800, 800]);
        assert_eq!(pause(last, false), SELDOM);
    }
}
