//! Callers that go away while they are looked at. Children stand for them: a copy has its parent's memory at the same
//! places.

use super::*;
use rustix::net::{AddressFamily, socket};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use system::clone::{self, Child};

/// A process that waits until it is killed.
fn waiting() -> Child {
    clone::clone(0, || {
        loop {
            rustix::thread::futex::wait(&0.into(), rustix::thread::futex::Flags::empty(), 0, None).ok();
        }
    })
    .unwrap()
}

fn end(child: &Child) {
    rustix::process::pidfd_send_signal(&child.pidfd, rustix::process::Signal::KILL).unwrap();
    clone::wait(child.pid, true).unwrap();
}

fn address_of(path: &Path) -> Vec<u8> {
    [&AddressFamily::UNIX.as_raw().to_ne_bytes(), path.as_os_str().as_bytes(), &[0]].concat()
}

fn told(call: i64, child: &Child, arguments: [u64; 6]) -> Notification {
    Notification { id: 0, thread: child.pid, call, arguments }
}

/// The way to a socket was looked for after the question whether the call still waits: whoever had the caller's number by
/// then was asked where it began, and that could be a process of this host.
#[test]
fn nothing_is_taken_from_a_caller_after_it_was_asked_whether_it_still_waits() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let (address, message) = (address_of(&path), b"hello");
    let number = |socket: &OwnedFd| socket.as_raw_fd() as u64;
    let (place, length) = (address.as_ptr() as u64, address.len() as u64);
    for call in [notify::CONNECT, notify::SEND] {
        let theirs = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        let child = waiting();
        let told = told(
            call,
            &child,
            match call {
                notify::CONNECT => [number(&theirs), place, length, 0, 0, 0],
                _ => [number(&theirs), message.as_ptr() as u64, message.len() as u64, 0, place, length],
            },
        );
        let request = Request::take(&told, || {
            end(&child);
            true
        });
        // Nothing of the caller is there any more, and nothing more of it is needed.
        let request = request.unwrap();
        unix::with_address(&request, &path, |address| rustix::net::connect(&request.socket, address)).unwrap();
        listener.accept().unwrap();
        assert!(
            matches!(&request.act, Act::Connect)
                || matches!(&request.act, Act::Send { message, .. } if message == b"hello")
        );
    }
}

#[test]
fn nothing_is_done_for_a_caller_that_does_not_wait_any_more() {
    let theirs = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    let address = address_of(Path::new("/socket"));
    let arguments = [theirs.as_raw_fd() as u64, address.as_ptr() as u64, address.len() as u64, 0, 0, 0];
    let child = waiting();
    let taken = Request::take(&told(notify::CONNECT, &child, arguments), || false);
    end(&child);
    assert_eq!(taken.err(), Some(Errno::SRCH));
}
