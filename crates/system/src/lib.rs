//! The one door to the kernel and to foreign code: whatever needs `unsafe`, libc or an ioctl is here, behind functions
//! that are safe to call. Knows no objects and no formats of ours.
//!
//! - `arguments`: the command line and the environment, made empty in a copy of this process
//! - `caretaker`: who removes directories that a killed process could not
//! - `changed`: what a program did to a file, as data
//! - `clone`: processes in namespaces of their own; `program`: what they become; `mount`, `loopback`: what they see
//! - `seccomp`, `calls`, `landlock`: what a process may still do when it has given up the rest; `sealing`: how it does
//! - `notify`: calls of another process that are handed to us
//! - `descriptor`: what this process was started with and a child must not be
//! - `disk`: a file as the log needs it, as a trait, so that tests can put a failing one in its place
//! - `file`: what the standard library does not offer for files: write-back in pieces, locks with an owner
//! - `scheduling`: how much of the processor a process gets
//! - `shell`: words as a shell takes them, for messages
//! - `terminal`: the one that controls a process, given up
//! - `lmdb`: the B+tree in a mapped file that holds the image
//! - `memory`: where a program's memory comes from, and that of its copies
//! - `output`: whether standard output was closed from the beginning
//! - `passing`: descriptors handed from process to process
//! - `random`: randomness
//! - `raw`: system calls by number, for tests of sandboxes only
//! - `fault`: a mapped file that is too short or broken ends the process with the file named

pub mod arguments;
pub mod calls;
pub mod caretaker;
pub mod changed;
pub mod clone;
pub mod descriptor;
pub mod disk;
mod error;
pub mod fault;
pub mod file;
pub mod landlock;
pub mod lmdb;
pub mod loopback;
pub mod memory;
pub mod mount;
pub mod notify;
pub mod output;
pub mod passing;
pub mod program;
pub mod random;
#[cfg(feature = "raw")]
pub mod raw;
pub mod scheduling;
pub mod sealing;
pub mod seccomp;
pub mod shell;
pub mod terminal;

pub use error::SystemError;
