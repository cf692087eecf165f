//! Rows that the backend is known to answer wrongly, each with its reason. They are told by name and do not close the gate;
//! one that is answered rightly is told too: if that is so on every host, it must be taken off.

pub const OPEN: &[(&str, &str)] = &[
    (
        "bomb.sockets",
        "in a cell the supervisor is in the run's cgroup, and may be the one that the kernel kills for its memory",
    ),
    (
        "changes.many_names",
        "in a cell the supervisor is in the run's cgroup, and may be the one that the kernel kills for its memory",
    ),
    ("bomb.nameless_file", "without a cgroup files without a name are not counted"),
    ("bomb.shared_segments", "without a cgroup segments that nobody has attached are not counted"),
];

/// Why a row is open, if it is.
pub fn reason(row: &str) -> Option<&'static str> {
    OPEN.iter().find(|(name, _)| *name == row).map(|(_, why)| *why)
}
