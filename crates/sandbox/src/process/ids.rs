//! Who a run is on the host. For an ordinary user that is the user; root gives each run an id of its own, which nobody else has.

use super::view::USER;
use crate::error::SandboxError;
use std::fs;

/// Above all ids that distributions hand out. The number of the first process inside is added, so that no two runs have
/// the same one at once.
const FIRST: u32 = 0x7000_0000;

/// The id that a run has on the host, as user and as group.
#[derive(Clone, Copy, Debug)]
pub struct Ids {
    pub user: u32,
    pub group: u32,
}

impl Ids {
    pub fn of_run(pid: i32) -> Ids {
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        match user.is_root() {
            true => Ids { user: FIRST + pid as u32, group: FIRST + pid as u32 },
            false => Ids { user: user.as_raw(), group: group.as_raw() },
        }
    }

    /// Tells the kernel who the run's user is. Its groups can be changed by nobody.
    pub fn map(self, pid: i32) -> Result<(), SandboxError> {
        let map = |name: &str, text: String| {
            fs::write(format!("/proc/{pid}/{name}"), text)
                .map_err(SandboxError::system("map the ids of the sandbox's user; /proc must be there and writable"))
        };
        map("setgroups", "deny".into())?;
        map("gid_map", format!("{USER} {} 1", self.group))?;
        map("uid_map", format!("{USER} {} 1", self.user))
    }
}
