//! Memory for copies of this process. The C library gives them what was freed before they were made, a piece here and a
//! piece there, and each page that one of them touches is copied first. So what a copy asks for when it begins comes from one
//! place that nobody has touched, piece behind piece; when that is used up, the library goes on.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Room of a copy and of the copies of that. What is not touched costs nothing.
const ROOM_BYTES: usize = 1 << 20;
/// More at once is left to the library.
const PIECE_BYTES_MOST: usize = 64 << 10;

static ROOM: Room = Room { first: AtomicUsize::new(0), used: AtomicUsize::new(0), is_open: AtomicBool::new(false) };

struct Room {
    /// Where it is, or nought.
    first: AtomicUsize,
    used: AtomicUsize,
    is_open: AtomicBool,
}

/// The allocator of a program that makes copies of itself: that of the system, until it is in one.
pub struct Memory;

/// Makes room for copies, once. Without it they go on as before.
pub fn make_room_for_copies() {
    if ROOM.first.load(Ordering::Acquire) != 0 {
        return;
    }
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: asks for new memory, at a place of the kernel's choice.
    let place = unsafe { libc::mmap(std::ptr::null_mut(), ROOM_BYTES, protection, flags, -1, 0) };
    if place != libc::MAP_FAILED {
        ROOM.first.store(place as usize, Ordering::Release);
    }
}

/// In a copy: takes what it asks for from its room, if there is one.
pub fn use_room_of_copy() {
    ROOM.is_open.store(ROOM.first.load(Ordering::Acquire) != 0, Ordering::Release);
}

impl Room {
    /// A piece that nobody has had, so that it is all zeroes. Null if there is no room.
    fn take(&self, layout: Layout) -> *mut u8 {
        if layout.size() > PIECE_BYTES_MOST {
            return std::ptr::null_mut();
        }
        let first = self.first.load(Ordering::Relaxed);
        let place = |used: usize| (first + used).next_multiple_of(layout.align());
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            Some(place(used) + layout.size() - first).filter(|end| *end <= ROOM_BYTES)
        });
        taken.map_or(std::ptr::null_mut(), |used| place(used) as *mut u8)
    }

    fn holds(&self, piece: *mut u8) -> bool {
        (piece as usize).wrapping_sub(self.first.load(Ordering::Relaxed)) < ROOM_BYTES
    }

    /// Makes a piece longer where it is. False unless it is the last one, and there is room.
    fn lengthen(&self, piece: *mut u8, bytes: usize, wanted: usize) -> bool {
        let start = piece as usize - self.first.load(Ordering::Relaxed);
        let is_room = wanted <= PIECE_BYTES_MOST && start + wanted <= ROOM_BYTES;
        let (end, longer) = (start + bytes, start + wanted);
        is_room && self.used.compare_exchange(end, longer, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

// SAFETY: what is not of the room is the system's, and goes back there. A piece of the room is as long as it was asked for,
// where nothing else is, at a place that its alignment divides; it is never given out a second time, nor unmapped.
unsafe impl GlobalAlloc for Memory {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if ROOM.is_open.load(Ordering::Relaxed) {
            let piece = ROOM.take(layout);
            if !piece.is_null() {
                return piece;
            }
        }
        // SAFETY: as the caller says.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if ROOM.is_open.load(Ordering::Relaxed) {
            let piece = ROOM.take(layout);
            if !piece.is_null() {
                return piece;
            }
        }
        // SAFETY: as the caller says.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if !(ROOM.is_open.load(Ordering::Relaxed) && ROOM.holds(piece)) {
            // SAFETY: as the caller says, and it is the system's.
            unsafe { System.dealloc(piece, layout) }
        }
    }

    #[inline]
    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if !(ROOM.is_open.load(Ordering::Relaxed) && ROOM.holds(piece)) {
            // SAFETY: as the caller says, and it is the system's.
            return unsafe { System.realloc(piece, layout, bytes) };
        }
        if bytes <= layout.size() || ROOM.lengthen(piece, layout.size(), bytes) {
            return piece;
        }
        // SAFETY: the caller answers for the new length, and the alignment is one that was taken before.
        let moved = unsafe { self.alloc(Layout::from_size_align_unchecked(bytes, layout.align())) };
        if !moved.is_null() {
            // SAFETY: both are at least so long, and the new one is nobody else's.
            unsafe { std::ptr::copy_nonoverlapping(piece, moved, layout.size()) };
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a copy, since this process has threads that go on with the library.
    #[test]
    fn a_copy_has_its_own_room_until_that_is_full_and_then_the_systems() {
        make_room_for_copies();
        let child = crate::clone::fork(|| {
            use_room_of_copy();
            let layout = |bytes| Layout::from_size_align(bytes, 16).expect("it is a layout");
            // SAFETY: each is used within its length, and given back as it was taken.
            let is_right = unsafe {
                let inherited = System.alloc(layout(100));
                let first = Memory.alloc_zeroed(layout(10));
                let is_zero = (0..10).all(|at| *first.add(at) == 0);
                first.write_bytes(7, 10);
                let longer = Memory.realloc(first, layout(10), 1000);
                let other = Memory.alloc(layout(3));
                let moved = Memory.realloc(longer, layout(1000), 5000);
                let is_kept = (0..10).all(|at| *moved.add(at) == 7);
                let large = Memory.alloc(layout(2 * PIECE_BYTES_MOST));
                let is_apart = [first, other, moved].iter().all(|piece| ROOM.holds(*piece) && piece.addr() % 16 == 0);
                let is_systems = !ROOM.holds(large) && !ROOM.holds(inherited);
                Memory.dealloc(large, layout(2 * PIECE_BYTES_MOST));
                Memory.dealloc(inherited, layout(100));
                let more = |_| Memory.alloc(layout(PIECE_BYTES_MOST));
                let last = (0..=ROOM_BYTES / PIECE_BYTES_MOST).map(more).fold(first, |_, last| last);
                let is_full = !last.is_null() && !ROOM.holds(last);
                is_zero && longer == first && moved != longer && is_kept && is_apart && is_systems && is_full
            };
            i32::from(!is_right)
        });
        let end = crate::clone::wait(child.unwrap().pid, true).unwrap().unwrap();
        assert_eq!(end.status, 0);
        assert!(!ROOM.is_open.load(Ordering::Relaxed), "what a copy does changes nothing here");
    }
}
