//! What keeps a run in: each wall, how much of it this host offers, and how to get what is missing.

/// One protection that a run is behind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Wall {
    UserNamespace,
    MountNamespace,
    PidNamespace,
    NetworkNamespace,
    IpcNamespace,
    UtsNamespace,
    CgroupNamespace,
    TimeNamespace,
    /// A /proc that shows only what runs inside.
    OwnProc,
    /// Writes go to memory: the kernel's overlay.
    Overlay,
    Capabilities,
    NoNewPrivileges,
    Seccomp,
    Landlock,
    MemoryLimit,
    ProcessLimit,
    CpuLimit,
}

impl Wall {
    pub const ALL: &[Wall] = &[
        Wall::UserNamespace,
        Wall::MountNamespace,
        Wall::PidNamespace,
        Wall::NetworkNamespace,
        Wall::IpcNamespace,
        Wall::UtsNamespace,
        Wall::CgroupNamespace,
        Wall::TimeNamespace,
        Wall::OwnProc,
        Wall::Overlay,
        Wall::Capabilities,
        Wall::NoNewPrivileges,
        Wall::Seccomp,
        Wall::Landlock,
        Wall::MemoryLimit,
        Wall::ProcessLimit,
        Wall::CpuLimit,
    ];
}

/// How much of a wall a host offers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Strength {
    Full,
    /// Enforced in another way, which is nearly as good; says how.
    Substitute(String),
    Missing(Lack),
}

/// A wall that cannot be had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lack {
    pub wall: Wall,
    pub why: String,
    /// What to do to have it.
    pub remedy: String,
}
