//! The command line that this process was started with, which others can read as long as it lies in memory.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

static FIRST: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Makes it empty, for a copy of this process that must not tell what that was started with, and asks for it no more.
/// Works with the GNU library, which says where it is; elsewhere it stays.
pub fn hide() {
    let first = FIRST.load(Ordering::Acquire);
    if !first.is_null() {
        // SAFETY: the bytes of all arguments lie one behind the other on the first stack, which is written to by nobody
        // else and lives as long as the process.
        unsafe { std::ptr::write_bytes(first, 0, LENGTH.load(Ordering::Acquire)) };
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod before_main {
    use super::{FIRST, LENGTH, Ordering};
    use std::ffi::{CStr, c_char, c_int};

    // SAFETY: the GNU loader calls what this section points to once, before `main` and on the only thread there is, with
    // the arguments of `main`. The function needs nothing that the standard library sets up, and cannot unwind.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn(c_int, *const *mut c_char) = look;

    extern "C" fn look(count: c_int, arguments: *const *mut c_char) {
        let Some(last) = usize::try_from(count).ok().and_then(|count| count.checked_sub(1)) else { return };
        // SAFETY: there are as many pointers as said, each to a text that ends with a zero.
        unsafe {
            let (first, last) = (*arguments, *arguments.add(last));
            let end = last as usize + CStr::from_ptr(last).count_bytes() + 1;
            LENGTH.store(end.saturating_sub(first as usize), Ordering::Release);
            FIRST.store(first.cast(), Ordering::Release);
        }
    }
}
