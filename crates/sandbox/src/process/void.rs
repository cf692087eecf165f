//! The *void*: a network namespace with nothing in it that all dreams of an image share, in place of one each. Making one, and
//! above all removing it, costs the kernel more than all else of a dream together.
//!
//! It stays empty: no dream may make, bind or connect a socket (`syscalls::dream`), whoever holds its descriptors makes none, and
//! who could change its settings has no capabilities in it. Runs of programs never share it, for they may have sockets.

use super::ids::{self, Ids};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use system::clone::namespace;

/// Lives as long as one of its descriptors is open, or somebody is in it.
pub struct Void {
    /// Who may not make one otherwise has made it in a user namespace, and enters that first.
    user: Option<OwnedFd>,
    network: OwnedFd,
}

static VOID: OnceLock<Option<Void>> = OnceLock::new();
/// A process is in it from here on, and so are its copies.
static IS_ENTERED: AtomicBool = AtomicBool::new(false);

impl Void {
    /// Makes it, once. Where it cannot be had each dream has a network namespace of its own, or is told that it cannot.
    pub fn get_ready() {
        VOID.get_or_init(|| Void::make().ok());
    }

    fn make() -> io::Result<Void> {
        let own = Ids::of_run();
        let of = |pid: i32, name: &str| File::open(format!("/proc/{pid}/ns/{name}")).map(OwnedFd::from);
        let privileged = ids::with_idle(namespace::NETWORK, |pid| Ok(Void { user: None, network: of(pid, "net")? }));
        match privileged {
            // Runs of root get ids that a namespace with one user does not have.
            Err(_) if !own.are_own => ids::with_idle(namespace::USER | namespace::NETWORK, |pid| {
                ids::write_maps(pid, (own.user, own.user), (own.group, own.group))?;
                Ok(Void { user: Some(of(pid, "user")?), network: of(pid, "net")? })
            }),
            made => made,
        }
    }

    fn enter(&self) -> rustix::io::Result<()> {
        if let Some(user) = &self.user {
            move_into_link_name_space(user.as_fd(), Some(LinkNameSpaceType::User))?;
        }
        move_into_link_name_space(self.network.as_fd(), Some(LinkNameSpaceType::Network))
    }
}

/// Moves the calling process, which has one thread and no use for a network, into the void, if there is one.
pub fn enter() {
    match VOID.get() {
        Some(Some(void)) if !is_entered() => IS_ENTERED.store(void.enter().is_ok(), Ordering::Relaxed),
        _ => {}
    }
}

pub fn is_entered() -> bool {
    IS_ENTERED.load(Ordering::Relaxed)
}
