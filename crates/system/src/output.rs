//! Whether this process was started with standard output closed. The standard library puts /dev/null in its place before
//! `main`, so that nobody could tell any more that what is written is lost: it has to be asked before.

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when the process began. Known on Linux; elsewhere it is taken to have been open.
pub fn was_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}

#[cfg(target_os = "linux")]
mod before_main {
    use super::{Ordering, WAS_CLOSED};

    // SAFETY: the loader calls what this section points to once, before `main` and on the only thread there is. The
    // function takes nothing, returns nothing, needs nothing that the standard library sets up, and cannot unwind.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        // SAFETY: F_GETFD takes a number and reads a flag; it touches no memory of ours, and fails for what is not open.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
    }
}
