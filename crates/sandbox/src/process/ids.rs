//! Who a run is on the host. For an ordinary user that is the user; root gives each run
//! an id of its own, which nothing on the host belongs to.

use super::view::USER;
use crate::error::SandboxError;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::thread::CapabilitySet;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::OnceLock;
use std::{fs, io};
use system::clone;

/// Above all ids that distributions hand out. In a container that has fewer ids, the upper half of those is taken.
const FIRST: u32 = 0x7000_0000;
const COUNT: u32 = 1 << 27;

/// The ids that a run has on the host.
#[derive(Clone, Copy, Debug)]
pub struct Ids {
    pub user: u32,
    pub group: u32,
    /// Whether they are the run's alone, so that files of others must be mapped for it.
    pub are_own: bool,
}

impl Ids {
    pub fn of_run() -> Ids {
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        let own = Ids { user: user.as_raw(), group: group.as_raw(), are_own: false };
        let may_map = || {
            let needed = CapabilitySet::SETUID | CapabilitySet::SETGID;
            rustix::thread::capabilities(None).is_ok_and(|sets| sets.effective.contains(needed))
        };
        if !user.is_root() || !may_map() {
            return own;
        }
        let mut bytes = [0u8; 4];
        // Without randomness two runs may have one id; they see nothing of each other all the same.
        let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::NONBLOCK);
        let (users, groups) = own_maps();
        let random = u32::from_le_bytes(bytes);
        match (chosen(users, random), chosen(groups, random)) {
            (Some(user), Some(group)) => Ids { user, group, are_own: true },
            _ => own,
        }
    }

    /// Tells the kernel who the run's user is. Its groups can be changed by nobody.
    pub fn map(self, pid: i32) -> Result<(), SandboxError> {
        write_maps(pid, (USER, self.user), (USER, self.group))
            .map_err(SandboxError::system("map the ids of the sandbox's user; /proc must be there and writable"))
    }

    /// A user namespace in which a file's owner and group are the run's. It is there as long as its descriptor is.
    pub fn namespace_for(self, owner: u32, group: u32) -> io::Result<OwnedFd> {
        with_idle(clone::namespace::USER, |pid| {
            write_maps(pid, (owner, self.user), (group, self.group))?;
            fs::File::open(format!("/proc/{pid}/ns/user")).map(OwnedFd::from)
        })
    }
}

/// Has a process in new namespaces that does nothing, while somebody looks at it: what is opened of them there is left.
pub fn with_idle<T>(namespaces: u64, look: impl FnOnce(i32) -> io::Result<T>) -> io::Result<T> {
    let (held, lifeline) = pipe_with(PipeFlags::CLOEXEC)?;
    let child = clone::clone(namespaces, || {
        let mut byte = [0u8; 1];
        let is_left = system::descriptor::close_all_but(&[held.as_raw_fd()]).is_ok();
        i32::from(!is_left || rustix::io::read(&held, &mut byte).is_err())
    })?;
    let seen = look(child.pid);
    drop(lifeline);
    clone::wait(child.pid, true)?;
    seen
}

/// Of users and of groups. Read once: copies of this process in the same user namespace have them.
fn own_maps() -> &'static (String, String) {
    static MAPS: OnceLock<(String, String)> = OnceLock::new();
    let read = |name: &str| fs::read_to_string(name).unwrap_or_default();
    MAPS.get_or_init(|| (read("/proc/self/uid_map"), read("/proc/self/gid_map")))
}

/// An id that this process can give away, out of those that it has.
fn chosen(map: &str, random: u32) -> Option<u32> {
    let ranges = map.lines().filter_map(|line| {
        let mut numbers = line.split_whitespace().map(|number| number.parse::<u64>().ok());
        let (first, _, count) = (numbers.next()??, numbers.next()??, numbers.next()??);
        Some(first..first + count)
    });
    let range = ranges.max_by_key(|range| range.end)?;
    if range.contains(&u64::from(FIRST)) && range.contains(&u64::from(FIRST + COUNT)) {
        return Some(FIRST + random % COUNT);
    }
    let half = (range.end - range.start) / 2;
    let id = (range.end - half).checked_add(u64::from(random).checked_rem(half)?)?;
    u32::try_from(id).ok()
}

/// One user and one group, inside and outside.
pub fn write_maps(pid: i32, user: (u32, u32), group: (u32, u32)) -> io::Result<()> {
    fs::write(format!("/proc/{pid}/setgroups"), "deny")?;
    fs::write(format!("/proc/{pid}/gid_map"), format!("{} {} 1", group.0, group.1))?;
    fs::write(format!("/proc/{pid}/uid_map"), format!("{} {} 1", user.0, user.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_one_that_can_be_given_away() {
        let whole = "         0          0 4294967295\n";
        assert_eq!(chosen(whole, 5), Some(FIRST + 5));
        let container = "0 100000 65536\n";
        for random in [0, 1, 32_767, 32_768, u32::MAX] {
            assert!(chosen(container, random).is_some_and(|id| (32_768..65_536).contains(&id)));
        }
        assert_eq!(chosen("0 1000 1\n", 7), None);
        assert_eq!(chosen("", 7), None);
    }
}
