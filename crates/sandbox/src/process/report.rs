//! What the first process inside tells the one outside: whole messages of a few bytes over a socket.

use crate::wall::Wall;
use rustix::io::Errno;

/// What the process inside was doing when something failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Step {
    Descriptors,
    Time,
    Loopback,
    HostName,
    Go,
    Ids,
    Cgroup,
    Memory,
    Skeleton,
    File,
    System,
    Grant,
    Layer,
    Devices,
    Proc,
    Pivot,
    Directory,
    Rlimit,
    Capabilities,
    Privileges,
    Landlock,
    Seccomp,
    Fork,
    Execute,
    Network,
    GoOn,
    Group,
    /// A layer is by other means than the kernel's overlay.
    Substitute,
    /// Programs and libraries of the host are below no overlay.
    Uncovered,
    OwnNetwork,
}

const STEPS: &[Step] = &[
    Step::Descriptors,
    Step::Time,
    Step::Loopback,
    Step::HostName,
    Step::Go,
    Step::Ids,
    Step::Cgroup,
    Step::Memory,
    Step::Skeleton,
    Step::File,
    Step::System,
    Step::Grant,
    Step::Layer,
    Step::Devices,
    Step::Proc,
    Step::Pivot,
    Step::Directory,
    Step::Rlimit,
    Step::Capabilities,
    Step::Privileges,
    Step::Landlock,
    Step::Seccomp,
    Step::Fork,
    Step::Execute,
    Step::Network,
    Step::GoOn,
    Step::Group,
    Step::Substitute,
    Step::Uncovered,
    Step::OwnNetwork,
];

impl Step {
    pub fn action(self) -> &'static str {
        match self {
            Step::Descriptors => "close descriptors inside the sandbox",
            Step::Time => "make a time namespace",
            Step::Loopback => "bring up the loopback interface of the sandbox",
            Step::HostName => "name the sandbox",
            Step::Go => "be told to go on inside the sandbox",
            Step::Ids => "become the user of the sandbox",
            Step::Cgroup => "make a cgroup namespace",
            Step::Memory => "make the sandbox's file system in memory",
            Step::Skeleton => "make the sandbox's directories",
            Step::File => "write a file into the sandbox",
            Step::System => "show the system's programs inside the sandbox",
            Step::Grant => "show a directory inside the sandbox",
            Step::Layer => "put a layer over a directory",
            Step::Devices => "make the sandbox's /dev",
            Step::Proc => "make the sandbox's /proc",
            Step::Pivot => "leave the host's files",
            Step::Directory => "enter the directory inside the sandbox",
            Step::Rlimit => "set limits",
            Step::Capabilities => "drop capabilities",
            Step::Privileges => "give up new privileges",
            Step::Landlock => "close the landlock wall",
            Step::Seccomp => "close the seccomp wall",
            Step::Fork => "start a process inside the sandbox",
            Step::Execute => "start the program inside the sandbox",
            Step::Network => "make the way out of the sandbox's own network",
            Step::GoOn => "go on inside the sandbox",
            Step::Group => "put the sandbox into its cgroup",
            Step::Substitute => "put a layer over a directory by fuse-overlayfs",
            Step::Uncovered => "put an overlay over the system's programs",
            Step::OwnNetwork => "make a network namespace",
        }
    }

    /// Which wall is missing where this step fails.
    pub fn wall(self) -> Option<Wall> {
        Some(match self {
            Step::Time => Wall::TimeNamespace,
            Step::Cgroup => Wall::CgroupNamespace,
            Step::HostName => Wall::UtsNamespace,
            Step::Loopback | Step::OwnNetwork => Wall::NetworkNamespace,
            Step::Proc => Wall::OwnProc,
            Step::Layer => Wall::Overlay,
            Step::Capabilities => Wall::Capabilities,
            Step::Privileges => Wall::NoNewPrivileges,
            Step::Landlock => Wall::Landlock,
            Step::Seccomp => Wall::Seccomp,
            _ => return None,
        })
    }
}

/// A step that failed, and which of several things of its kind it was about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    pub step: Step,
    pub item: u16,
    pub errno: Errno,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    Failed(Failure),
    /// The program runs. Steps that failed and may, as bits.
    Started {
        failed: u32,
    },
    /// The program has ended, with this status of `wait`.
    Ended {
        status: i32,
    },
}

pub const LENGTH: usize = 8;

const FAILED: u8 = 0;
const STARTED: u8 = 1;
const ENDED: u8 = 2;

/// What zygotes write into their messages, who have no other way to know it: the step at which sealing failed, and the kinds of
/// messages that tell of a failure, a start and an end.
pub const SAID_BY_ZYGOTES: [u8; 4] = [Step::Fork as u8, FAILED, STARTED, ENDED];

impl Message {
    pub fn encode(self) -> [u8; LENGTH] {
        let (kind, step, item, value) = match self {
            Message::Failed(failure) => (FAILED, failure.step as u8, failure.item, failure.errno.raw_os_error()),
            Message::Started { failed } => (STARTED, 0, 0, failed as i32),
            Message::Ended { status } => (ENDED, 0, 0, status),
        };
        let [low, high] = item.to_le_bytes();
        let [a, b, c, d] = value.to_le_bytes();
        [kind, step, low, high, a, b, c, d]
    }

    /// `None` for what is no message of ours.
    pub fn decode(bytes: &[u8]) -> Option<Message> {
        let [kind, step, low, high, a, b, c, d] = *bytes else { return None };
        let value = i32::from_le_bytes([a, b, c, d]);
        match kind {
            FAILED => Some(Message::Failed(Failure {
                step: *STEPS.get(usize::from(step))?,
                item: u16::from_le_bytes([low, high]),
                errno: Errno::from_raw_os_error(value.clamp(1, 4095)),
            })),
            STARTED => Some(Message::Started { failed: value as u32 }),
            ENDED => Some(Message::Ended { status: value }),
            _ => None,
        }
    }
}

/// The steps whose bits are set.
pub fn steps(bits: u32) -> impl Iterator<Item = Step> {
    STEPS.iter().copied().filter(move |step| bits & (1 << (*step as u8)) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_its_own_number() {
        for (number, step) in STEPS.iter().enumerate() {
            assert_eq!(*step as usize, number);
        }
        assert!(STEPS.len() <= 32, "steps are bits of a word");
    }

    #[test]
    fn messages_arrive_as_they_were_sent() {
        let failure = Failure { step: Step::Grant, item: 513, errno: Errno::NOENT };
        for message in
            [Message::Failed(failure), Message::Started { failed: 1 << 31 }, Message::Ended { status: 0x300 }]
        {
            assert_eq!(Message::decode(&message.encode()), Some(message));
        }
        assert_eq!(Message::decode(b"hello"), None);
    }
}
