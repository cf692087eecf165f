//! Who a run is on the host. For an ordinary user that is the user; root gives each run
//! an id of its own, which nothing on the host belongs to.

use super::view::USER;
use crate::error::SandboxError;
use rustix::pipe::{PipeFlags, pipe_with};
use std::os::fd::{AsRawFd, OwnedFd};
use std::{fs, io};
use system::clone;

/// Above all ids that distributions hand out; a random number below `COUNT` is added.
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
        if !user.is_root() {
            return Ids { user: user.as_raw(), group: group.as_raw(), are_own: false };
        }
        let mut bytes = [0u8; 4];
        // Without randomness two runs may have one id; they see nothing of each other all the same.
        let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::NONBLOCK);
        let id = FIRST + u32::from_le_bytes(bytes) % COUNT;
        Ids { user: id, group: id, are_own: true }
    }

    /// Tells the kernel who the run's user is. Its groups can be changed by nobody.
    pub fn map(self, pid: i32) -> Result<(), SandboxError> {
        write_maps(pid, (USER, self.user), (USER, self.group))
            .map_err(SandboxError::system("map the ids of the sandbox's user; /proc must be there and writable"))
    }

    /// A user namespace in which a file's owner and group are the run's. It is there as long as its descriptor is.
    pub fn namespace_for(self, owner: u32, group: u32) -> io::Result<OwnedFd> {
        let (held, lifeline) = pipe_with(PipeFlags::CLOEXEC)?;
        let child = clone::clone(clone::namespace::USER, || {
            let mut byte = [0u8; 1];
            let is_left = system::descriptor::close_all_but(&[held.as_raw_fd()]).is_ok();
            i32::from(!is_left || rustix::io::read(&held, &mut byte).is_err())
        })?;
        let namespace = write_maps(child.pid, (owner, self.user), (group, self.group))
            .and_then(|()| fs::File::open(format!("/proc/{}/ns/user", child.pid)));
        drop(lifeline);
        clone::wait(child.pid, true)?;
        Ok(namespace?.into())
    }
}

/// One user and one group, inside and outside.
fn write_maps(pid: i32, user: (u32, u32), group: (u32, u32)) -> io::Result<()> {
    fs::write(format!("/proc/{pid}/setgroups"), "deny")?;
    fs::write(format!("/proc/{pid}/gid_map"), format!("{} {} 1", group.0, group.1))?;
    fs::write(format!("/proc/{pid}/uid_map"), format!("{} {} 1", user.0, user.1))
}
