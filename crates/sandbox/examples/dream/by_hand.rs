//! The same walls as a dream's, as somebody would write them who needs them once: no checks of what is missing, no grants, no
//! one who watches.

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Result;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_change, unmount};
use rustix::mount::{MountPropagationFlags, mount_remount};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, socketpair};
use rustix::process::{Gid, Uid};
use std::ffi::CStr;
use std::fs;
use std::io::PipeWriter;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use system::clone::{self, namespace};
use system::landlock::{READ_DIRECTORY, READ_FILE, Rules};
use system::{sealing, seccomp};

#[derive(Clone, Copy, PartialEq)]
pub enum Walls {
    Namespaces,
    All,
}

const ALL: u64 =
    namespace::USER | namespace::MOUNT | namespace::PID | namespace::NETWORK | namespace::IPC | namespace::UTS;
const GROUPS: [&str; 2] = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup/cpuacct"];
const LAST_CAPABILITY: u32 = 40;
const ID: u32 = 0x7100_0000;

pub fn make(into: &PipeWriter, walls: Walls) -> i32 {
    let pair = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
    let Ok((outer, inner)) = pair else { return 1 };
    let groups = if walls == Walls::All { make_groups() } else { Vec::new() };
    let child = clone::clone(ALL, || match live(&inner, walls) {
        Ok(()) => super::tell(into),
        Err(_) => 1,
    });
    let Ok(child) = child else { return 1 };
    let pid = child.pid;
    let is_root = rustix::process::geteuid().is_root();
    let (user, group) =
        if is_root { (ID, ID) } else { (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw()) };
    let is_mapped = fs::write(format!("/proc/{pid}/setgroups"), "deny").is_ok()
        && fs::write(format!("/proc/{pid}/gid_map"), format!("1000 {group} 1")).is_ok()
        && fs::write(format!("/proc/{pid}/uid_map"), format!("1000 {user} 1")).is_ok();
    for directory in &groups {
        fs::write(directory.join("cgroup.procs"), pid.to_string()).ok();
    }
    rustix::net::send(&outer, b"g", SendFlags::empty()).ok();
    let code = super::in_child(Ok(child));
    groups.iter().for_each(|directory| drop(fs::remove_dir(directory)));
    if is_mapped { code } else { 1 }
}

/// Of the first version, where there is such.
fn make_groups() -> Vec<PathBuf> {
    let name = format!("by-hand-{}", std::process::id());
    let made = GROUPS.iter().map(|group| Path::new(group).join(&name)).filter(|path| fs::create_dir(path).is_ok());
    let made: Vec<PathBuf> = made.collect();
    if let Some(directory) = made.first() {
        fs::write(directory.join("memory.limit_in_bytes"), (1_u64 << 30).to_string()).ok();
    }
    made
}

fn live(go: &OwnedFd, walls: Walls) -> Result<()> {
    rustix::process::setsid()?;
    clone::unshare(namespace::TIME)?;
    fs::write("/proc/self/timens_offsets", "monotonic -1 0\n").ok();
    rustix::system::sethostname(b"by-hand")?;
    rustix::net::recv(go, &mut [0], RecvFlags::empty())?;
    let (user, group) = (Uid::from_raw(1000), Gid::from_raw(1000));
    rustix::thread::set_thread_res_gid(group, group, group)?;
    rustix::thread::set_thread_res_uid(user, user, user)?;
    clone::unshare(namespace::CGROUP)?;
    build()?;
    if walls == Walls::All { seal() } else { Ok(()) }
}

/// A root in memory with /proc, two devices, /etc and /tmp.
fn build() -> Result<()> {
    mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount(c"none", c"/mnt", c"tmpfs", flags, c"size=256m,nr_inodes=65536,mode=755")?;
    for directory in [c"/mnt/etc", c"/mnt/proc", c"/mnt/dev", c"/mnt/tmp"] {
        rustix::fs::mkdir(directory, Mode::from_raw_mode(0o755))?;
    }
    for (host, inside) in [(c"/dev/null", c"/mnt/dev/null"), (c"/dev/urandom", c"/mnt/dev/urandom")] {
        make_file(inside, b"")?;
        mount_bind(host, inside)?;
    }
    make_file(c"/mnt/etc/machine-id", b"0123456789abcdef0123456789abcdef\n")?;
    make_file(c"/mnt/etc/hostname", b"by-hand\n")?;
    mount(c"proc", c"/mnt/proc", c"proc", flags | MountFlags::NOEXEC, c"subset=pid")?;
    mount_bind(c"/mnt/tmp", c"/mnt/tmp")?;
    rustix::process::chdir(c"/mnt")?;
    rustix::process::pivot_root(c".", c".")?;
    unmount(c".", UnmountFlags::DETACH)?;
    mount_remount(c"/", flags | MountFlags::RDONLY | MountFlags::BIND, c"")?;
    rustix::process::chdir(c"/tmp")
}

fn make_file(path: &CStr, bytes: &[u8]) -> Result<()> {
    let file = openat(CWD, path, OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC, Mode::from_raw_mode(0o644))?;
    rustix::io::write(&file, bytes).map(drop)
}

/// Rights, rules about files, and the shortest filter that there is.
fn seal() -> Result<()> {
    let rules = Rules::new()?;
    for (path, rights) in [(c"/", READ_DIRECTORY), (c"/etc", READ_DIRECTORY | READ_FILE), (c"/tmp", rules.all())] {
        rules.leave(&openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?, rights)?;
    }
    for capability in 0..=LAST_CAPABILITY {
        sealing::never_have(capability).perform(None)?;
    }
    sealing::have_no_capabilities().perform(None)?;
    sealing::get_no_new_privileges().perform(None)?;
    sealing::keep_to_rules().perform(Some(rules.descriptor()))?;
    sealing::be_filtered(&[seccomp::answer(seccomp::ALLOW)]).perform(None)
}
