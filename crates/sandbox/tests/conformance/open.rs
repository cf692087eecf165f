//! Rows that the backend is known to answer wrongly, each with its reason. They are told by name and do not close the gate;
//! one that is answered rightly by everybody must be taken off, and closes it until it is.

pub const OPEN: &[(&str, &str)] = &[
    ("trace.arguments_of_init", "process 1 is a copy of its supervisor, whose command line /proc/1/cmdline shows"),
    (
        "rights.limits_of_init",
        "prlimit reaches process 1, which has the same user; the filter could let only 0 through",
    ),
    ("files.socket_in_grant", "a read-only mount does not keep anybody from calling a socket; a layer does"),
    ("files.lock_of_the_host", "a read-only mount does not keep anybody from locking a file; a layer does"),
    ("files.lease_of_the_host", "a read-only mount does not keep the owner of a file from taking a lease on it"),
    (
        "bomb.host_contexts",
        "io_setup takes from a number that the whole host shares; the filter could know no such call",
    ),
    (
        "bomb.host_watches",
        "inotify takes from its user's number; user.max_inotify_instances of the namespace could be lower",
    ),
    (
        "inherited.core_limit",
        "with a limit of 0 a crash still starts the host's handler, if that is a program; 1 does not",
    ),
    ("bomb.nameless_file", "without groups of limits only mapped memory is counted, and this is not mapped"),
    ("bomb.shared_segments", "without groups of limits only mapped memory is counted, and this is not mapped"),
    ("bomb.sockets", "without groups of limits only mapped memory is counted, and this is the kernel's"),
    ("works.links_to_self", "run by root, a program may not open its own output again: the pipe is root's"),
    ("proxy.metadata", "there is no proxy yet"),
    ("proxy.loopback", "there is no proxy yet"),
    ("proxy.rebound_name", "there is no proxy yet"),
    ("proxy.host_name", "there is no proxy yet"),
    ("proxy.mapped", "there is no proxy yet"),
    ("proxy.number", "there is no proxy yet"),
    ("proxy.zero", "there is no proxy yet"),
    ("proxy.socks", "there is no proxy yet"),
    ("proxy.socks_name", "there is no proxy yet"),
    ("proxy.unlisted", "there is no proxy yet"),
];

/// Why a row is open, if it is.
pub fn reason(row: &str) -> Option<&'static str> {
    OPEN.iter().find(|(name, _)| *name == row).map(|(_, why)| *why)
}
