//! Rows that the backend is known to answer wrongly, each with its reason. They are told by name and do not close the gate;
//! one that is answered rightly by everybody must be taken off, and closes it until it is.

pub const OPEN: &[(&str, &str)] = &[
    ("bomb.nameless_file", "without a cgroup files without a name are not counted"),
    ("bomb.shared_segments", "without a cgroup segments that nobody has attached are not counted"),
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
