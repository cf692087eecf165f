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
    ("bomb.memory", "memory is not limited yet"),
    ("bomb.memory_together", "memory is not limited yet"),
    ("bomb.nameless_file", "memory is not limited yet"),
    ("bomb.shared_segments", "memory is not limited yet"),
    ("bomb.sockets", "memory is not limited yet"),
    ("endless.spin", "who used up its processor time is told to have been killed"),
    ("endless.spin_together", "processor time is counted for each process alone"),
    ("works.links_to_self", "run by root, a program may not open its own output again: the pipe is root's"),
    ("order.fails_closed", "the survey is empty"),
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
