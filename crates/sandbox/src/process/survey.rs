//! What this host offers, found out by trying: a process goes through all the steps of a run and says which failed.

use super::cgroup::Layout;
use super::report::Step;
use super::start::{self, Purpose};
use crate::order::{Access, Grant, Order};
use crate::wall::{Lack, Strength, Wall};
use rustix::io::Errno;
use system::clone::{self, namespace};

/// Namespaces that a first process is made in; without the first three there is no sandbox at all.
pub const NAMESPACES: &[(Wall, u64, bool)] = &[
    (Wall::UserNamespace, namespace::USER, true),
    (Wall::MountNamespace, namespace::MOUNT, true),
    (Wall::PidNamespace, namespace::PID, true),
    (Wall::NetworkNamespace, namespace::NETWORK, false),
    (Wall::IpcNamespace, namespace::IPC, false),
    (Wall::UtsNamespace, namespace::UTS, false),
];

pub fn survey() -> Vec<(Wall, Strength)> {
    let (lacks, noted) = match lacking_namespaces() {
        lacks if lacks.iter().any(|lack| is_essential(lack.wall)) => (lacks, Vec::new()),
        _ => try_all(),
    };
    Wall::ALL.iter().map(|wall| (*wall, strength(*wall, &lacks, &noted))).collect()
}

fn strength(wall: Wall, lacks: &[Lack], noted: &[Step]) -> Strength {
    if let Some(lack) = lacks.iter().find(|lack| lack.wall == wall) {
        return Strength::Missing(lack.clone());
    }
    match (wall, Layout::of_host()) {
        (Wall::Overlay, _) if noted.contains(&Step::Substitute) => {
            Strength::Substitute("by fuse-overlayfs, a process of each run: the kernel's refuses".into())
        }
        (Wall::Overlay, _) if noted.contains(&Step::Uncovered) => Strength::Substitute(
            "not over /usr or /etc, in which other file systems are mounted: a run can lock and watch files there"
                .into(),
        ),
        (Wall::MemoryLimit, Layout::Nothing { why }) => {
            Strength::Substitute(format!("counted by telos every 25 ms, and per process by the kernel: {why}"))
        }
        (Wall::CpuLimit, Layout::Nothing { why }) => {
            Strength::Substitute(format!("counted by telos, and per process by the kernel: {why}"))
        }
        (Wall::CpuLimit, Layout::First { time: None, .. }) => {
            Strength::Substitute("per process by the kernel: no cpuacct controller".into())
        }
        _ => Strength::Full,
    }
}

pub fn is_essential(wall: Wall) -> bool {
    NAMESPACES.iter().any(|(other, _, is_essential)| *other == wall && *is_essential)
}

/// Tries each kind of namespace by itself, as a run would have it: in a user namespace.
pub fn lacking_namespaces() -> Vec<Lack> {
    let attempts = NAMESPACES.iter().map(|(wall, flag, _)| (*wall, attempt(*flag)));
    attempts.filter_map(|(wall, answer)| Some(lack(wall, answer.err()?))).collect()
}

fn attempt(flag: u64) -> rustix::io::Result<()> {
    let child = clone::clone(namespace::USER | flag, || 0)?;
    clone::wait(child.pid, true).map(drop)
}

/// Goes through the steps of a run that runs nothing. What stops it altogether is missing as well. And what is
/// otherwise than it should be.
fn try_all() -> (Vec<Lack>, Vec<Step>) {
    let mut order = Order { allows_weaker: true, ..Order::default() };
    // Every host has it, and nothing is mounted below it, where no layer could be put over it.
    order.view.grants.push(Grant { host: "/usr/bin".into(), inside: "/mnt/layered".into(), access: Access::Layered });
    match start::begin(&order, crate::backend::Streams::nowhere(), Purpose::Probe) {
        Ok(mut begun) => (std::mem::take(&mut begun.lacks), std::mem::take(&mut begun.noted)),
        Err(crate::SandboxError::TooWeak(lacks)) => (lacks, Vec::new()),
        Err(other) => {
            let (wall, why) = (Wall::MountNamespace, other.to_string());
            (vec![Lack { wall, why, remedy: remedy(wall).into() }], Vec::new())
        }
    }
}

pub fn lack(wall: Wall, errno: Errno) -> Lack {
    Lack { wall, why: std::io::Error::from(errno).to_string(), remedy: remedy(wall).into() }
}

/// What to do to have a wall.
pub fn remedy(wall: Wall) -> &'static str {
    match wall {
        Wall::UserNamespace => {
            "allow user namespaces: sysctl user.max_user_namespaces=10000; on Ubuntu also \
             sysctl kernel.apparmor_restrict_unprivileged_userns=0, on older Debian \
             kernel.unprivileged_userns_clone=1; in a container start it with --security-opt seccomp=unconfined"
        }
        Wall::MountNamespace
        | Wall::PidNamespace
        | Wall::NetworkNamespace
        | Wall::IpcNamespace
        | Wall::UtsNamespace => {
            "the kernel must be built with this kind of namespace, its limit in /proc/sys/user must not be 0, and in a \
             container its seccomp profile must let clone make it: --security-opt seccomp=unconfined"
        }
        Wall::CgroupNamespace => "a kernel from 4.6 on, built with cgroups",
        Wall::TimeNamespace => "a kernel from 5.6 on, built with CONFIG_TIME_NS",
        Wall::OwnProc => {
            "the host's /proc must not be covered in parts: in a container start it with \
             --security-opt systempaths=unconfined"
        }
        Wall::Overlay => {
            "a kernel from 5.11 on with the overlay module, and from 6.6 on for attributes on tmpfs; or install \
             fuse-overlayfs, and let everybody open /dev/fuse"
        }
        Wall::Capabilities => {
            "nothing should keep a process from dropping capabilities; look at the host's security modules"
        }
        Wall::NoNewPrivileges => "a kernel from 3.5 on",
        Wall::Seccomp => "a kernel built with CONFIG_SECCOMP_FILTER; in gVisor and old containers there is none",
        Wall::Landlock => "a kernel from 5.13 on built with CONFIG_SECURITY_LANDLOCK, and landlock in its lsm= list",
        Wall::MemoryLimit | Wall::ProcessLimit | Wall::CpuLimit => {
            "run as root, or in a cgroup that is delegated with the memory controller: systemd-run --user --scope -p \
             Delegate=yes telos …"
        }
    }
}
