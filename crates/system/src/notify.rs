//! System calls of another process that a filter hands to us instead of the kernel: which it was, what its memory holds,
//! and what it is answered. The process waits meanwhile.
//!
//! There is no way here to let such a call go on: what it points to could be changed after it was looked at.

use crate::clone::{check, last};
use crate::seccomp::{self, Instruction};
use rustix::io::{Errno, Result};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// A filter that hands over the calls which name somebody to talk to, and allows all others: it is put beside the filter
/// that says what is allowed. Messages whose address is behind a second pointer cannot be told from those without one,
/// and go to the kernel, for which there is nobody outside of the process's own network.
pub const SOCKET_CALLS: &[Instruction] = &[
    seccomp::load(seccomp::ARCHITECTURE),
    seccomp::equal(seccomp::NATIVE, 0, 8),
    seccomp::load(seccomp::NUMBER),
    seccomp::equal(CONNECT as u32, 5, 0),
    seccomp::equal(SEND as u32, 0, 5),
    // Where the address is: both halves of the pointer are zero if there is none.
    seccomp::load(seccomp::argument(4)),
    seccomp::equal(0, 0, 2),
    seccomp::load(seccomp::argument(4) + 4),
    seccomp::equal(0, 1, 0),
    seccomp::answer(seccomp::NOTIFY),
    seccomp::answer(seccomp::ALLOW),
];

pub const CONNECT: i64 = libc::SYS_connect;
pub const SEND: i64 = libc::SYS_sendto;

/// Where calls are handed over.
#[derive(Debug)]
pub struct Listener(OwnedFd);

/// A call that waits for its answer.
#[derive(Clone, Copy, Debug)]
pub struct Notification {
    pub id: u64,
    /// The thread that made it, by its number here.
    pub thread: i32,
    pub call: i64,
    pub arguments: [u64; 6],
}

impl From<OwnedFd> for Listener {
    fn from(descriptor: OwnedFd) -> Listener {
        Listener(descriptor)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Listener {
    /// Waits for the next call. `NOENT` if it was given up meanwhile.
    pub fn receive(&self) -> Result<Notification> {
        // SAFETY: plain data, for which zeroes are valid, and what the kernel asks for.
        let mut request: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the place is whole, ours, and what this ioctl fills.
        check(unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut request) }.into())?;
        let data = request.data;
        Ok(Notification { id: request.id, thread: request.pid as i32, call: data.nr.into(), arguments: data.args })
    }

    /// Whether a call still waits. Until it does, its thread's number means another, and what was read of it nothing.
    pub fn is_waiting(&self, id: u64) -> bool {
        // SAFETY: the number lives, and is what this ioctl reads.
        unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id) == 0 }
    }

    /// Lets the call return with this. `NOENT` if nobody waits for it any more.
    pub fn answer(&self, id: u64, answer: Result<i64>) -> Result<()> {
        let (val, error) = match answer {
            Ok(value) => (value, 0),
            Err(errno) => (0, -errno.raw_os_error()),
        };
        let response = libc::seccomp_notif_resp { id, val, error, flags: 0 };
        // SAFETY: the response is whole, lives, and is what this ioctl reads.
        check(unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const response) }.into())
    }
}

/// Reads memory of another process, all of `place` or nothing.
pub fn read_memory(thread: i32, address: u64, place: &mut [u8]) -> Result<()> {
    if place.is_empty() {
        return Ok(());
    }
    let here = libc::iovec { iov_base: place.as_mut_ptr().cast(), iov_len: place.len() };
    let there = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: place.len() };
    // SAFETY: writes into `place`, no more than its length. What is there is only read, by the kernel, which checks it.
    let count = unsafe { libc::process_vm_readv(thread, &raw const here, 1, &raw const there, 1, 0) };
    match usize::try_from(count) {
        Ok(count) if count == place.len() => Ok(()),
        Ok(_) => Err(Errno::FAULT),
        Err(_) => Err(last()),
    }
}

/// The same open file that a process has under this number. All threads of a process have the same, unless they took
/// pains; then what is found here is still something of that process.
pub fn descriptor_of(process: i32, number: i32) -> Result<OwnedFd> {
    let process = Pid::from_raw(process).ok_or(Errno::SRCH)?;
    let pidfd = pidfd_open(process, PidfdFlags::empty())?;
    pidfd_getfd(&pidfd, number, PidfdGetfdFlags::empty())
}

/// Which network namespace a socket belongs to: equal numbers for the same, and no number twice.
pub fn network_of(socket: impl AsFd) -> Result<u64> {
    // Known since Linux 5.14.
    const SO_NETNS_COOKIE: libc::c_int = 71;
    let mut cookie = 0u64;
    let mut length = size_of::<u64>() as libc::socklen_t;
    let socket = socket.as_fd().as_raw_fd();
    let (place, size) = ((&raw mut cookie).cast(), &raw mut length);
    // SAFETY: both places live, and the length is that of the number.
    check(unsafe { libc::getsockopt(socket, libc::SOL_SOCKET, SO_NETNS_COOKIE, place, size) }.into())?;
    Ok(cookie)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// Makes a call behind the filter, and hands it to somebody who answers it. What the call returned, as an error.
    fn call(make: impl FnOnce() -> libc::c_long + Send, answer: impl FnOnce(&Listener, Notification)) -> Result<i64> {
        std::thread::scope(|scope| {
            let (hand_over, handed_over) = channel();
            let caller = scope.spawn(move || {
                // SAFETY: numbers only.
                check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into()).unwrap();
                hand_over.send(Listener::from(seccomp::install_with_listener(SOCKET_CALLS).unwrap())).unwrap();
                let answer = make();
                if answer < 0 { Err(last()) } else { Ok(answer) }
            });
            let listener = handed_over.recv().unwrap();
            let notification = listener.receive().unwrap();
            answer(&listener, notification);
            caller.join().unwrap()
        })
    }

    fn connect(address: *const libc::c_void, length: u32) -> libc::c_long {
        // SAFETY: the call never reaches the kernel's own: the filter hands it over.
        unsafe { libc::syscall(libc::SYS_connect, -1, address, length) }
    }

    #[test]
    fn a_call_is_told_with_its_arguments_and_what_they_point_to() {
        let address = [7u8; 16];
        let place = address.as_ptr() as u64;
        let answer = call(
            || connect(place as *const libc::c_void, 16),
            |listener, told| {
                assert_eq!((told.call, told.arguments[1], told.arguments[2]), (CONNECT, place, 16));
                let mut read = [0; 16];
                read_memory(told.thread, told.arguments[1], &mut read).unwrap();
                assert_eq!(read, address);
                assert!(listener.is_waiting(told.id));
                listener.answer(told.id, Ok(42)).unwrap();
                assert!(!listener.is_waiting(told.id));
                assert!(listener.answer(told.id, Ok(43)).is_err(), "a call is answered once");
            },
        );
        assert_eq!(answer, Ok(42));
    }

    #[test]
    fn a_pointer_that_leads_nowhere_is_a_fault_of_the_caller() {
        // The last page of memory is never a program's; the first ends before so many bytes are read.
        for place in [0u64, 8, u64::MAX - 8, 1 << 63] {
            let answer = call(
                || connect(place as *const libc::c_void, 16),
                |listener, told| {
                    let read = read_memory(told.thread, told.arguments[1], &mut [0; 16]);
                    assert_eq!(read, Err(Errno::FAULT), "{place:x}");
                    listener.answer(told.id, Err(Errno::FAULT)).unwrap();
                },
            );
            assert_eq!(answer, Err(Errno::FAULT));
        }
    }

    #[test]
    fn sending_is_told_only_if_it_names_somebody() {
        let answer = call(
            || {
                // SAFETY: nothing is at the descriptor, so that nothing is read; the second is handed over.
                unsafe {
                    let nobody = std::ptr::null::<libc::c_void>();
                    assert_eq!(libc::syscall(libc::SYS_sendto, -1, nobody, 0, 0, nobody, 0), -1);
                    assert_eq!(last(), Errno::BADF);
                    libc::syscall(libc::SYS_sendto, -1, nobody, 0, 0, (1u64 << 32) as *const libc::c_void, 16)
                }
            },
            |listener, told| {
                assert_eq!((told.call, told.arguments[4]), (SEND, 1 << 32));
                listener.answer(told.id, Err(Errno::ACCESS)).unwrap();
            },
        );
        assert_eq!(answer, Err(Errno::ACCESS));
    }

    #[test]
    fn a_descriptor_of_another_is_the_same_open_file() {
        let (here, there) = std::os::unix::net::UnixStream::pair().unwrap();
        let process = rustix::process::getpid().as_raw_nonzero().get();
        let copy = descriptor_of(process, here.as_raw_fd()).unwrap();
        assert_eq!(rustix::io::write(&copy, b"x"), Ok(1));
        assert_eq!(rustix::io::read(&there, &mut [0; 2]), Ok(1));
        assert_eq!(descriptor_of(process, i32::MAX).unwrap_err(), Errno::BADF);
        assert_eq!(network_of(&here), network_of(&there));
    }
}
