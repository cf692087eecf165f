//! Names survive a crash: which directories are flushed, and what comes before what.
//!
//! The standard library calls `fsync` and `rename` of the C library; the program of these tests has its own, which take notes.

use super::{give_name, make_directory};
use std::cell::RefCell;
use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

thread_local! {
    static NOTES: RefCell<Vec<(&'static str, PathBuf)>> = const { RefCell::new(Vec::new()) };
}

#[unsafe(no_mangle)]
pub extern "C" fn fsync(file: c_int) -> c_int {
    let path = std::fs::read_link(format!("/proc/self/fd/{file}")).expect("it is open");
    NOTES.with_borrow_mut(|notes| notes.push(("flush", path)));
    // SAFETY: the call takes a number only.
    unsafe { libc::syscall(libc::SYS_fsync, file) as c_int }
}

/// # Safety
/// As the call of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: both are texts that end in a zero byte and are handed on as they came.
    unsafe {
        let name = Path::new(OsStr::from_bytes(CStr::from_ptr(to).to_bytes())).to_path_buf();
        NOTES.with_borrow_mut(|notes| notes.push(("rename", name)));
        libc::syscall(libc::SYS_renameat, libc::AT_FDCWD, from, libc::AT_FDCWD, to) as c_int
    }
}

#[test]
fn the_parent_of_each_directory_that_is_made_is_flushed() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().canonicalize().expect("it is there");
    make_directory(&root.join("a/b/c")).expect("it is made");
    let expected = [("flush", root.clone()), ("flush", root.join("a")), ("flush", root.join("a/b"))];
    assert_eq!(NOTES.take(), expected);
    make_directory(&root.join("a/b/c")).expect("it is there");
    assert_eq!(NOTES.take(), []);
}

#[test]
fn a_name_is_given_after_all_that_came_before_it_and_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().canonicalize().expect("it is there");
    std::fs::write(root.join("new"), "content").expect("it is written");
    give_name(&root.join("new"), &root.join("name")).expect("it is named");
    assert_eq!(NOTES.take(), [("flush", root.clone()), ("rename", root.join("name")), ("flush", root.clone())]);
    assert!(root.join("name").exists() && !root.join("new").exists());
}
