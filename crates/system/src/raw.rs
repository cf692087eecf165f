//! System calls by their number, for tests of sandboxes: programs that try what no library offers. Only with the feature
//! `raw`, which no crate but a test may ask for: a call may do anything, and what it does to memory is the caller's risk.

use std::io;

/// Makes a system call with these arguments, the missing ones zero. Whatever a pointer among them leads to must be what
/// the call expects there.
pub fn call(number: libc::c_long, arguments: &[usize]) -> io::Result<i64> {
    let argument = |position: usize| arguments.get(position).copied().unwrap_or(0);
    // SAFETY: whoever turns the feature on takes the risk that the header tells; the function itself touches no memory.
    let answer =
        unsafe { libc::syscall(number, argument(0), argument(1), argument(2), argument(3), argument(4), argument(5)) };
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// Makes a system call as a program of 32 bits does: other numbers, and another door to the kernel.
#[cfg(target_arch = "x86_64")]
pub fn call_of_32_bits(number: i32, first: i32) -> io::Result<i32> {
    let mut answer = number;
    // SAFETY: the interrupt returns to the next instruction, and changes the registers that are named. The compiler keeps
    // `rbx` to itself, so that it is put back.
    unsafe {
        std::arch::asm!(
            "xchg rbx, {first:r}",
            "int 0x80",
            "xchg rbx, {first:r}",
            first = inout(reg) i64::from(first) => _,
            inout("eax") answer,
            inout("ecx") 0 => _,
            inout("edx") 0 => _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    if answer < 0 { Err(io::Error::from_raw_os_error(-answer)) } else { Ok(answer) }
}

/// Asks the page that old programs jump to for the time. It is a system call without an instruction for one.
#[cfg(target_arch = "x86_64")]
pub fn time_by_vsyscall() -> i64 {
    const TIME: usize = 0xffff_ffff_ff60_0400;
    // SAFETY: the kernel documents a function of this signature at this address; where it is turned off, the jump raises
    // a signal.
    let time: extern "C" fn(*mut i64) -> i64 = unsafe { std::mem::transmute(TIME) };
    time(std::ptr::null_mut())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_by_number_answers_as_the_library_does() {
        assert_eq!(call(libc::SYS_getpid, &[]).unwrap(), i64::from(std::process::id()));
        let refused = call(libc::SYS_close, &[usize::MAX]).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EBADF));
    }
}
