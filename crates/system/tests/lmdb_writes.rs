//! The disk fails, or is full, in the middle of LMDB's own writes: whichever of them it is, the transaction is refused with
//! what the kernel said, the file holds what the last one that was whole left, and works again.
//!
//! LMDB calls `pwrite` and `pwritev` of the C library; this program has its own, which fail when they are told to.

use std::cell::Cell;
use std::ffi::c_int;
use std::path::Path;
use std::sync::Arc;
use system::lmdb::{Access, Environment, Options, ReadTransaction, Snapshot, Table};

thread_local! {
    /// So many writes go through, then each fails with this number.
    static FAULT: Cell<Option<(usize, c_int)>> = const { Cell::new(None) };
}

/// Whether this write is to fail, and how.
fn fault() -> Option<c_int> {
    let (left, number) = FAULT.get()?;
    FAULT.set(Some((left.saturating_sub(1), number)));
    (left == 0).then_some(number)
}

fn fail(number: c_int) -> isize {
    // SAFETY: the place is this thread's own.
    unsafe { *libc::__errno_location() = number };
    -1
}

/// # Safety
/// As the call of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite(file: c_int, bytes: *const libc::c_void, count: usize, offset: i64) -> isize {
    match fault() {
        Some(number) => fail(number),
        // SAFETY: the arguments are handed on as they came.
        None => unsafe { libc::syscall(libc::SYS_pwrite64, file, bytes, count, offset) as isize },
    }
}

/// # Safety
/// As the call of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwritev(file: c_int, parts: *const libc::iovec, count: c_int, offset: i64) -> isize {
    match fault() {
        Some(number) => fail(number),
        // SAFETY: the arguments are handed on as they came; the kernel takes an offset in two halves, of which the lower
        // holds all of it here.
        None => unsafe { libc::syscall(libc::SYS_pwritev, file, parts, count, offset, 0) as isize },
    }
}

fn open(path: &Path) -> (Arc<Environment>, Table) {
    let options =
        Options { access: Access::Write, snapshot: Snapshot::Newest, map_bytes: 1 << 26, tables: 4, readers: 8 };
    let environment = Environment::open(path, &options).expect("it opens");
    let table = environment.table("things", true).expect("there is a table");
    (environment, table)
}

/// Enough for many pages, some of which are written together and some alone.
fn write(environment: &Environment, table: Table, round: u32) -> Result<(), system::SystemError> {
    let mut transaction = environment.write()?;
    for key in 0..200u32 {
        let value = round.to_le_bytes().repeat(20 + (key as usize * 37) % 300);
        transaction.put(table, &key.to_be_bytes(), &value)?;
    }
    transaction.commit()
}

/// Every thing is of the same round.
fn round(snapshot: &ReadTransaction, table: Table) -> u32 {
    let of = |key: u32| {
        let value = snapshot.get(table, &key.to_be_bytes()).expect("it can be read").expect("it is there");
        let rounds: Vec<u32> =
            value.chunks_exact(4).map(|part| u32::from_le_bytes(part.try_into().expect("four bytes"))).collect();
        assert!(rounds.iter().all(|round| *round == rounds[0]), "a value is whole");
        rounds[0]
    };
    let first = of(0);
    assert!((1..200).all(|key| of(key) == first), "a transaction is whole");
    first
}

#[test]
fn a_write_that_fails_is_told_and_leaves_what_was() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("tree");
    let (mut environment, mut table) = open(&path);
    write(&environment, table, 1).expect("nothing fails yet");
    let (mut last, mut failures) = (1, 0);
    for number in [libc::ENOSPC, libc::EIO] {
        for after in 0..400 {
            let snapshot = environment.read().expect("it can be read");
            FAULT.set(Some((after, number)));
            let written = write(&environment, table, last + 1);
            FAULT.set(None);
            let Err(error) = written else {
                last += 1;
                assert!(after > 1, "so few writes are too few for this test");
                break;
            };
            failures += 1;
            let told = std::io::Error::from_raw_os_error(number).to_string();
            let told = told.split(" (").next().unwrap_or_default();
            assert!(error.to_string().contains(told) && error.to_string().contains("tree"), "{error}");
            assert_eq!(error.is_full(), number == libc::ENOSPC, "{error}");
            // For who reads meanwhile, after opening it again, and with another write on top.
            assert_eq!(round(&snapshot, table), last, "write {after}");
            drop((snapshot, environment));
            (environment, table) = open(&path);
            let read = |environment: &Arc<Environment>| round(&environment.read().expect("it can be read"), table);
            assert_eq!(read(&environment), last, "write {after}, opened again");
            last += 1;
            write(&environment, table, last).expect("there is room again");
            assert_eq!(read(&environment), last);
        }
    }
    // The pages, which go out together, and the header.
    assert!(failures >= 4, "only {failures} writes failed");
}
