//! The command line and the environment that this process was started with, which others can read as long as they lie in
//! memory. Works with the GNU library, which says where they are; elsewhere they stay there.

use crate::clone::check;
use crate::program::Words;
use rustix::io::Result;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

static COMMAND_LINE: Block = Block::unknown();
static ENVIRONMENT: Block = Block::unknown();

/// Texts that lie one behind the other on the first stack.
struct Block {
    first: AtomicPtr<u8>,
    length: AtomicUsize,
}

impl Block {
    const fn unknown() -> Block {
        Block { first: AtomicPtr::new(std::ptr::null_mut()), length: AtomicUsize::new(0) }
    }

    fn wipe(&self) {
        let first = self.first.load(Ordering::Acquire);
        if !first.is_null() {
            // SAFETY: the bytes lie on the first stack, are written to by nobody else and live as long as the process.
            unsafe { std::ptr::write_bytes(first, 0, self.length.load(Ordering::Acquire)) };
        }
    }
}

/// Makes the command line empty, for a copy of this process that must not tell what that was started with. Asks for no memory.
pub fn hide() {
    COMMAND_LINE.wipe();
}

/// Makes these the environment, in a copy of this process that has one thread; of the old one nothing is left where it was.
pub fn replace_environment(words: &Words) -> Result<()> {
    // SAFETY: nobody else looks at the environment: there is one thread.
    check(unsafe { libc::clearenv() }.into())?;
    ENVIRONMENT.wipe();
    for word in words.as_slice() {
        // SAFETY: as above; the text ends with a zero, and belongs to the environment from here on.
        check(unsafe { libc::putenv(word.clone().into_raw()) }.into())?;
    }
    Ok(())
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod before_main {
    use super::{Block, COMMAND_LINE, ENVIRONMENT, Ordering};
    use std::ffi::{CStr, c_char, c_int};

    type Texts = *const *mut c_char;

    // SAFETY: the GNU loader calls what this section points to once, before `main` and on the only thread there is, with
    // the arguments of `main`. The function needs nothing that the standard library sets up, and cannot unwind.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn(c_int, Texts, Texts) = look;

    extern "C" fn look(_: c_int, arguments: Texts, environment: Texts) {
        for (block, texts) in [(&COMMAND_LINE, arguments), (&ENVIRONMENT, environment)] {
            // SAFETY: both are what `main` gets.
            unsafe { block.note(texts) };
        }
    }

    impl Block {
        /// `texts` ends with a null pointer, and the others lead to texts on the first stack that end with a zero.
        unsafe fn note(&self, texts: Texts) {
            // SAFETY: as the caller says.
            unsafe {
                let first = *texts;
                let (mut next, mut last) = (texts, first);
                while !(*next).is_null() {
                    (last, next) = (*next, next.add(1));
                }
                if !first.is_null() {
                    let end = last as usize + CStr::from_ptr(last).count_bytes() + 1;
                    self.length.store(end.saturating_sub(first as usize), Ordering::Release);
                    self.first.store(first.cast(), Ordering::Release);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_with_another_environment_has_nothing_of_the_old_one() {
        let words = Words::new(vec![c"ONLY=this".into()]);
        let child = crate::clone::fork(|| {
            let is_done = replace_environment(&words).is_ok();
            let all: Vec<_> = std::env::vars().collect();
            let is_only = all == [("ONLY".to_string(), "this".to_string())];
            let told = std::fs::read("/proc/self/environ").unwrap_or_default();
            i32::from(!(is_done && is_only && told.iter().all(|byte| *byte == 0)))
        });
        let end = crate::clone::wait(child.unwrap().pid, true).unwrap().unwrap();
        assert_eq!(end.status, 0);
    }
}
