//! Socket calls that are handed over: what stays inside works as if nobody had looked, and what goes outside is refused,
//! redirected or replayed.

mod world;

use rustix::event::{PollFd, PollFlags, epoll, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use sandbox::network::call::{Fate, Via};
use sandbox::network::sockets::{Recorder, Recording, Sockets};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::sync::Arc;
use world::{behind_filter, converse, echo, nobody};

const OUTSIDE: &str = "1.2.3.4:443";

fn outside() -> SocketAddr {
    OUTSIDE.parse().unwrap()
}

fn redirected() -> Sockets {
    Sockets::Redirected(None)
}

fn recording(text: &str) -> Sockets {
    Sockets::Recorded(Arc::new(text.parse().unwrap()))
}

fn errno<T: std::fmt::Debug>(result: io::Result<T>) -> Errno {
    Errno::from_io_error(&result.unwrap_err()).unwrap()
}

/// A socket that does not wait, and the poll that says that it is connected.
fn unhurried() -> OwnedFd {
    socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None).unwrap()
}

#[test]
fn a_blocked_connection_is_refused_and_remembered() {
    let (answer, calls) = behind_filter(Sockets::Blocked, &[OUTSIDE], nobody, |_| errno(TcpStream::connect(outside())));
    assert_eq!(answer, Errno::ACCESS);
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].asked, OUTSIDE);
    assert!(matches!(calls[0].via, Via::Socket { thread: 1.. }));
    assert!(matches!(&calls[0].fate, Fate::Refused { why } if why.contains("blocked")));
}

#[test]
fn connections_inside_the_run_are_its_own_business() {
    for sockets in [Sockets::Blocked, redirected(), recording("")] {
        let ((), calls) = behind_filter(sockets, &[], nobody, |_| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| echo(listener.accept().unwrap().0));
                assert_eq!(converse(TcpStream::connect(address).unwrap(), b"hello"), b"hello");
            });
            drop(listener);
            assert_eq!(errno(TcpStream::connect(address)), Errno::CONNREFUSED, "nobody is there any more");
        });
        assert_eq!(calls, []);
    }
}

#[test]
fn a_socket_that_does_not_wait_is_told_as_the_kernel_tells_it() {
    behind_filter(Sockets::Blocked, &[], nobody, |_| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = unhurried();
        let address = listener.local_addr().unwrap();
        let answer = rustix::net::connect(&socket, &address);
        assert!(matches!(answer, Ok(()) | Err(Errno::INPROGRESS)), "{answer:?}");
        listener.accept().unwrap();
        poll(&mut [PollFd::new(&socket, PollFlags::OUT)], None).unwrap();
        let again = rustix::net::connect(&socket, &address);
        assert!(matches!(again, Ok(()) | Err(Errno::ISCONN)), "{again:?}");
        rustix::net::connect_unspec(&socket).unwrap();
        assert!(rustix::net::getpeername(&socket).is_err(), "it is connected to nobody any more");
    });
}

#[test]
fn messages_inside_the_run_arrive_and_those_to_the_outside_do_not() {
    let ((), calls) = behind_filter(redirected(), &[OUTSIDE], nobody, |_| {
        let here = UdpSocket::bind("127.0.0.1:0").unwrap();
        let there = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(here.send_to(b"hello", there.local_addr().unwrap()).unwrap(), 5);
        let mut heard = [0; 10];
        assert_eq!(there.recv_from(&mut heard).unwrap(), (5, here.local_addr().unwrap()));
        there.connect(here.local_addr().unwrap()).unwrap();
        there.send(b"and back").unwrap();
        assert_eq!(here.recv(&mut heard).unwrap(), 8);
        assert_eq!(errno(here.send_to(b"hello", outside())), Errno::NETUNREACH);
        assert_eq!(errno(here.connect(outside())), Errno::NETUNREACH);
    });
    assert_eq!(calls.len(), 2);
}

#[test]
fn sockets_that_are_files_are_found_where_the_run_finds_them() {
    let directory = tempfile::tempdir_in(".").unwrap();
    let relative = std::path::Path::new(directory.path().file_name().unwrap());
    behind_filter(Sockets::Blocked, &[], nobody, |_| {
        let path = directory.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let absolute = std::path::absolute(&path).unwrap();
        for path in [absolute.clone(), relative.join("socket")] {
            UnixStream::connect(&path).unwrap();
            listener.accept().unwrap();
        }
        let link = absolute.with_file_name("link");
        std::os::unix::fs::symlink(&absolute, &link).unwrap();
        UnixStream::connect(&link).unwrap();
        assert_eq!(errno(UnixStream::connect(absolute.with_file_name("none"))), Errno::NOENT);
        let messages = absolute.with_file_name("messages");
        let there = UnixDatagram::bind(&messages).unwrap();
        UnixDatagram::unbound().unwrap().send_to(b"hello", &messages).unwrap();
        assert_eq!(there.recv(&mut [0; 10]).unwrap(), 5);
    });
}

#[test]
fn sockets_with_a_name_that_is_no_file_are_those_of_the_run() {
    behind_filter(Sockets::Blocked, &[], nobody, |_| {
        let name = format!("telos-test-{}", std::process::id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
        assert_eq!(errno(UnixStream::connect_addr(&address)), Errno::CONNREFUSED);
        let listener = UnixListener::bind_addr(&address).unwrap();
        UnixStream::connect_addr(&address).unwrap();
        listener.accept().unwrap();
    });
}

#[test]
fn a_redirected_connection_reaches_whom_was_allowed_and_nobody_else() {
    let ((), calls) = behind_filter(redirected(), &[OUTSIDE], echo, |_| {
        assert_eq!(converse(TcpStream::connect(outside()).unwrap(), b"hello"), b"hello");
        assert_eq!(errno(TcpStream::connect("1.2.3.4:80")), Errno::ACCESS);
        assert_eq!(errno(TcpStream::connect("8.8.8.8:443")), Errno::ACCESS);
        assert_eq!(errno(TcpStream::connect("169.254.169.254:80")), Errno::ACCESS);
        assert_eq!(errno(TcpStream::connect("10.0.0.1:443")), Errno::ACCESS);
        assert_eq!(errno(TcpStream::connect("[fd00:ec2::254]:80")), Errno::ACCESS);
        assert_eq!(errno(TcpStream::connect("[::ffff:10.0.0.1]:80")), Errno::ACCESS);
    });
    let reached: Vec<_> = calls.iter().filter(|call| matches!(call.fate, Fate::Reached { .. })).collect();
    assert_eq!((reached.len(), calls.len()), (1, 7));
    assert_eq!((reached[0].sent_bytes, reached[0].received_bytes), (5, 5));
}

#[test]
fn an_ipv6_socket_reaches_an_ipv4_host_that_was_allowed() {
    behind_filter(redirected(), &[OUTSIDE], echo, |_| {
        let stream = TcpStream::connect("[::ffff:1.2.3.4]:443").unwrap();
        assert_eq!(converse(stream, b"hello"), b"hello");
    });
}

/// Go's library waits for a socket before it connects it; a socket that was replaced by another was never heard of again.
#[test]
fn a_redirected_socket_stays_the_one_that_it_was() {
    behind_filter(redirected(), &[OUTSIDE], echo, |_| {
        let waiting = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        let socket = unhurried();
        epoll::add(&waiting, &socket, epoll::EventData::new_u64(7), epoll::EventFlags::IN).unwrap();
        let copy = socket.try_clone().unwrap();
        let answer = rustix::net::connect(&socket, &outside());
        assert!(matches!(answer, Ok(()) | Err(Errno::INPROGRESS)), "{answer:?}");
        poll(&mut [PollFd::new(&socket, PollFlags::OUT)], None).unwrap();
        let stream = TcpStream::from(copy);
        stream.set_nodelay(true).unwrap();
        rustix::net::send(&stream, b"hello", rustix::net::SendFlags::empty()).unwrap();
        let mut events = [epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) }; 1];
        assert_eq!(epoll::wait(&waiting, events.as_mut_slice(), None).unwrap(), 1);
        let again = rustix::net::connect(&socket, &outside());
        assert!(matches!(again, Ok(()) | Err(Errno::ISCONN)), "{again:?}");
    });
}

#[test]
fn whoever_waits_outside_hears_when_the_run_closes_its_socket() {
    let ((), calls) = behind_filter(redirected(), &[OUTSIDE], echo, |_| {
        drop(TcpStream::connect(outside()).unwrap());
        // The next one is only answered after this one was taken; both have ended when the switchboard has.
        assert_eq!(converse(TcpStream::connect(outside()).unwrap(), b"x"), b"x");
    });
    assert_eq!(calls.len(), 2);
}

#[test]
fn where_connections_really_end_is_for_us_alone() {
    for sockets in [Sockets::Blocked, redirected()] {
        behind_filter(sockets, &[], nobody, |inside| {
            assert_eq!(errno(TcpStream::connect(inside.plug)), Errno::CONNREFUSED);
        });
    }
}

#[test]
fn many_connections_at_once_are_not_mixed_up() {
    behind_filter(redirected(), &[OUTSIDE], echo, |_| {
        std::thread::scope(|scope| {
            for number in 0..32 {
                scope.spawn(move || {
                    let said = format!("this is {number}").repeat(1000);
                    assert_eq!(converse(TcpStream::connect(outside()).unwrap(), said.as_bytes()), said.as_bytes());
                });
            }
        });
    });
}

#[test]
fn a_recording_answers_as_it_was_once_answered() {
    let script = "call 1.2.3.4:443\n> ping\n< pong\\x00\n> more\n< end\n";
    let ((), calls) = behind_filter(recording(script), &[], nobody, |_| {
        assert_eq!(converse(TcpStream::connect(outside()).unwrap(), b"pingmore"), b"pong\0end");
        assert_eq!(errno(TcpStream::connect(outside())), Errno::CONNREFUSED, "it was recorded once");
        assert_eq!(errno(TcpStream::connect("5.6.7.8:443")), Errno::CONNREFUSED);
    });
    let replayed = calls.iter().find(|call| call.fate == Fate::Replayed).unwrap();
    assert_eq!((replayed.sent_bytes, replayed.received_bytes), (8, 8));
    assert_eq!(calls.len(), 3);
}

#[test]
fn a_run_that_says_something_else_than_was_recorded_is_cut_off() {
    let ((), calls) = behind_filter(recording("call 1.2.3.4:443\n> ping\n< pong\n"), &[], nobody, |_| {
        assert_eq!(converse(TcpStream::connect(outside()).unwrap(), b"pang"), b"");
    });
    assert!(matches!(&calls[0].fate, Fate::Refused { why } if why.contains("something else")), "{calls:?}");
}

#[test]
fn what_is_recorded_can_be_replayed_with_nobody_there() {
    let recorder = Arc::new(Recorder::default());
    let talk = |_: &world::Inside| converse(TcpStream::connect(outside()).unwrap(), b"hello\r\n\x00\xff");
    let (said, _) = behind_filter(Sockets::Redirected(Some(Arc::clone(&recorder))), &[OUTSIDE], echo, talk);
    let text = recorder.recording().to_string();
    let again: Recording = text.parse().unwrap();
    let (replayed, calls) = behind_filter(Sockets::Recorded(Arc::new(again)), &[], nobody, talk);
    assert_eq!(said, replayed);
    assert_eq!(calls[0].fate, Fate::Replayed);
}

/// A queue that is full, and one who wants to write to it: a message in the queue of the second keeps the first alive.
struct Full {
    receiver: UnixDatagram,
    sender: UnixDatagram,
    path: std::path::PathBuf,
    _directory: tempfile::TempDir,
}

fn full() -> Full {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("messages");
    let receiver = UnixDatagram::bind(&path).unwrap();
    let filler = UnixDatagram::unbound().unwrap();
    filler.connect(&path).unwrap();
    filler.set_nonblocking(true).unwrap();
    while filler.send(b"x").is_ok() {}
    let (sender, other) = UnixDatagram::pair().unwrap();
    system::passing::send(&other, &[io::IoSlice::new(b"x")], &[receiver.as_fd()]).unwrap();
    Full { receiver, sender, path, _directory: directory }
}

/// Whether a thread of the switchboard is at a call that names a file.
fn is_calling_by_path() -> bool {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    tasks.map(name).any(|name| name.trim() == "call by path")
}

/// Threads that sent there could not be woken, and stayed behind in a process that served other runs.
#[test]
fn a_message_that_finds_no_room_leaves_no_thread_behind() {
    behind_filter(Sockets::Blocked, &[], nobody, |_| {
        let Full { receiver, sender, path, _directory } = full();
        drop(receiver);
        std::thread::spawn(move || sender.send_to(b"hello", path));
        while !is_calling_by_path() {
            std::thread::yield_now();
        }
    });
    let until = std::time::Instant::now() + world::PATIENCE;
    while sandbox::network::threads_left() > 0 {
        assert!(std::time::Instant::now() < until, "a thread of a run that has ended is still there");
        std::thread::yield_now();
    }
}

#[test]
fn a_message_waits_for_room_as_long_as_its_sender_would() {
    behind_filter(Sockets::Blocked, &[], nobody, |_| {
        let Full { receiver, sender, path, _directory } = full();
        sender.set_nonblocking(true).unwrap();
        assert_eq!(errno(sender.send_to(b"hello", &path)), Errno::AGAIN);
        sender.set_nonblocking(false).unwrap();
        sender.set_write_timeout(Some(std::time::Duration::from_millis(10))).unwrap();
        assert_eq!(errno(sender.send_to(b"hello", &path)), Errno::AGAIN);
        sender.set_write_timeout(None).unwrap();
        std::thread::scope(|scope| {
            let sent = scope.spawn(|| sender.send_to(b"hello", &path).unwrap());
            let mut heard = [0; 10];
            while receiver.recv(&mut heard).unwrap() != 5 {}
            assert_eq!((sent.join().unwrap(), heard.starts_with(b"hello")), (5, true));
        });
    });
}
