//! Memory for copies of this process. An allocator gives them what was freed before they were made, a piece here and a piece
//! there, and each page that one of them touches is copied first. So what a copy asks for when it begins comes from one place
//! that nobody has touched, piece behind piece; when that is used up, the allocator goes on. So does a process that is soon gone.

use std::alloc::Layout;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Room of a copy and of the copies of that. What is not touched costs nothing.
pub const ROOM_BYTES: usize = 1 << 20;
/// Room of a copy that is known to do much.
const WIDE_BYTES: usize = 32 << 20;
/// What a processor has in one piece, if it may.
const HUGE_BYTES: usize = 2 << 20;
/// More than one of so many parts of a room at once is left to the allocator.
const PARTS: usize = 16;
#[cfg(test)]
pub const PIECE_BYTES_MOST: usize = ROOM_BYTES / PARTS;

pub static ROOM: Room = Room::new(ROOM_BYTES);
static WIDE: Room = Room::new(WIDE_BYTES);

/// Whether this process takes from rooms at all.
static TAKES_FROM_ROOMS: AtomicBool = AtomicBool::new(false);

pub struct Room {
    bytes: usize,
    /// Where it is, or nought.
    first: AtomicUsize,
    used: AtomicUsize,
}

#[inline]
pub fn has_room() -> bool {
    TAKES_FROM_ROOMS.load(Ordering::Relaxed)
}

/// Makes room for copies, once. Without it they go on as before.
pub fn make_room_for_copies() {
    if ROOM.first.load(Ordering::Acquire) == 0 {
        ROOM.first.store(new_memory(ROOM_BYTES).unwrap_or(0), Ordering::Release);
    }
}

/// In a copy: takes what it asks for from its room, if there is one.
pub fn use_room_of_copy() {
    if ROOM.first.load(Ordering::Acquire) != 0 {
        TAKES_FROM_ROOMS.store(true, Ordering::Release);
    }
}

/// In a copy that will ask for megabytes and then end: takes them from where the kernel gives a few huge pages, in place of a fault for each
/// small one, of which most would be copied first. Where it has none to give, it is as it would be with a small room.
pub fn use_wide_room() {
    // A copy of such a copy goes on in the one that it has: pieces of it are about.
    if WIDE.first.load(Ordering::Acquire) != 0 {
        return;
    }
    let Some(place) = new_memory(WIDE_BYTES + HUGE_BYTES) else { return };
    let first = place.next_multiple_of(HUGE_BYTES);
    // SAFETY: it lies in what was just mapped, and nobody has any of it yet.
    unsafe { libc::madvise(first as *mut libc::c_void, WIDE_BYTES, libc::MADV_HUGEPAGE) };
    WIDE.first.store(first, Ordering::Release);
    TAKES_FROM_ROOMS.store(true, Ordering::Release);
}

fn new_memory(bytes: usize) -> Option<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: asks for new memory, at a place of the kernel's choice.
    let place = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    (place != libc::MAP_FAILED).then_some(place as usize)
}

/// A piece that nobody has had, so that it is all zeroes. Null if there is no room.
pub fn take(layout: Layout) -> *mut u8 {
    let piece = WIDE.take(layout);
    if piece.is_null() { ROOM.take(layout) } else { piece }
}

/// The room that a piece is of.
pub fn room_of(piece: *mut u8) -> Option<&'static Room> {
    [&WIDE, &ROOM].into_iter().find(|room| room.holds(piece))
}

/// A process that starts a program and ends with it takes all from one place, piece behind piece, and gives nothing back. An
/// allocator would get itself ready first, and touch a page for each size that it is asked for. Works with the GNU library, which
/// tells the arguments before the standard library asks for memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod before_main {
    use std::ffi::{CStr, c_char, c_int};

    /// What such a process is told first.
    const SHORT: &CStr = c"exec";

    // SAFETY: the GNU loader calls what this section points to once, before `main` and on the only thread there is, with
    // the arguments of `main`. The function needs nothing that the standard library sets up, and cannot unwind.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn(c_int, *const *const c_char) = look;

    extern "C" fn look(count: c_int, arguments: *const *const c_char) {
        // SAFETY: there are so many, and each is a text that ends with a zero.
        if count > 1 && unsafe { CStr::from_ptr(*arguments.add(1)) } == SHORT {
            super::make_room_for_copies();
            touch_beginning();
            super::use_room_of_copy();
        }
    }

    /// What a run without grants takes, nearly.
    const BEGINNING_BYTES: usize = 128 << 10;

    /// Asks for the pages at once that are needed for certain, which costs half of what it does to fault for each. Kernels before 5.14
    /// do not know that.
    fn touch_beginning() {
        let first = super::ROOM.first.load(std::sync::atomic::Ordering::Acquire);
        if first != 0 {
            // SAFETY: it lies in what was mapped, and its bytes stay what they are.
            unsafe { libc::madvise(first as *mut libc::c_void, BEGINNING_BYTES, libc::MADV_POPULATE_WRITE) };
        }
    }
}

impl Room {
    const fn new(bytes: usize) -> Room {
        Room { bytes, first: AtomicUsize::new(0), used: AtomicUsize::new(0) }
    }

    /// Null if there is no room.
    fn take(&self, layout: Layout) -> *mut u8 {
        let first = self.first.load(Ordering::Relaxed);
        if first == 0 || layout.size() > self.bytes / PARTS {
            return std::ptr::null_mut();
        }
        let place = |used: usize| (first + used).next_multiple_of(layout.align());
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            Some(place(used) + layout.size() - first).filter(|end| *end <= self.bytes)
        });
        taken.map_or(std::ptr::null_mut(), |used| place(used) as *mut u8)
    }

    pub fn holds(&self, piece: *mut u8) -> bool {
        let first = self.first.load(Ordering::Relaxed);
        first != 0 && (piece as usize).wrapping_sub(first) < self.bytes
    }

    /// Makes a piece longer where it is. False unless it is the last one, and there is room.
    pub fn lengthen(&self, piece: *mut u8, bytes: usize, wanted: usize) -> bool {
        let start = piece as usize - self.first.load(Ordering::Relaxed);
        let is_room = wanted <= self.bytes / PARTS && start + wanted <= self.bytes;
        let (end, longer) = (start + bytes, start + wanted);
        is_room && self.used.compare_exchange(end, longer, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}
