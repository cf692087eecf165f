//! Where a program's memory comes from, and that of its copies.
//!
//! - `pieces`: small ones from jemalloc, large ones from the C library
//! - `room`: what a copy of the process asks for first, out of one place

mod pieces;
mod room;

pub use room::{make_room_for_copies, use_room_of_copy, use_wide_room};

use pieces::Pieces;
use std::alloc::{GlobalAlloc, Layout};

/// For `#[global_allocator]` of a program that makes copies of itself.
pub struct Memory;

// SAFETY: what is not of a room is an ordinary piece, and goes back where those come from. A piece of a room is as long as it was asked for,
// where nothing else is, at a place that its alignment divides; it is never given out a second time, nor unmapped.
unsafe impl GlobalAlloc for Memory {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if room::has_room() {
            let piece = room::take(layout);
            if !piece.is_null() {
                return piece;
            }
        }
        // SAFETY: as the caller says.
        unsafe { Pieces.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if room::has_room() {
            let piece = room::take(layout);
            if !piece.is_null() {
                return piece;
            }
        }
        // SAFETY: as the caller says.
        unsafe { Pieces.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if !room::has_room() || room::room_of(piece).is_none() {
            // SAFETY: as the caller says, and it is of no room.
            unsafe { Pieces.dealloc(piece, layout) }
        }
    }

    #[inline]
    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        let room = if room::has_room() { room::room_of(piece) } else { None };
        let Some(room) = room else {
            // SAFETY: as the caller says, and it is of no room.
            return unsafe { Pieces.realloc(piece, layout, bytes) };
        };
        if bytes <= layout.size() || room.lengthen(piece, layout.size(), bytes) {
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
    use super::room::{PIECE_BYTES_MOST, ROOM, ROOM_BYTES};
    use super::*;

    /// In a copy, since this process has threads that go on without it.
    #[test]
    fn a_copy_has_its_own_room_until_that_is_full_and_then_what_all_have() {
        make_room_for_copies();
        let child = crate::clone::fork(|| {
            use_room_of_copy();
            let layout = |bytes| Layout::from_size_align(bytes, 16).expect("it is a layout");
            // SAFETY: each is used within its length, and given back as it was taken.
            let is_right = unsafe {
                let inherited = Pieces.alloc(layout(100));
                let first = Memory.alloc_zeroed(layout(10));
                let is_zero = (0..10).all(|at| *first.add(at) == 0);
                first.write_bytes(7, 10);
                let longer = Memory.realloc(first, layout(10), 1000);
                let other = Memory.alloc(layout(3));
                let moved = Memory.realloc(longer, layout(1000), 5000);
                let is_kept = (0..10).all(|at| *moved.add(at) == 7);
                let large = Memory.alloc(layout(2 * PIECE_BYTES_MOST));
                let is_apart = [first, other, moved].iter().all(|piece| ROOM.holds(*piece) && piece.addr() % 16 == 0);
                let is_ordinary = !ROOM.holds(large) && !ROOM.holds(inherited);
                Memory.dealloc(large, layout(2 * PIECE_BYTES_MOST));
                Memory.dealloc(inherited, layout(100));
                let more = |_| Memory.alloc(layout(PIECE_BYTES_MOST));
                let last = (0..=ROOM_BYTES / PIECE_BYTES_MOST).map(more).fold(first, |_, last| last);
                let is_full = !last.is_null() && !ROOM.holds(last);
                is_zero && longer == first && moved != longer && is_kept && is_apart && is_ordinary && is_full
            };
            i32::from(!is_right)
        });
        let end = crate::clone::wait(child.unwrap().pid, true).unwrap().unwrap();
        assert_eq!(end.status, 0);
        assert!(!room::has_room(), "what a copy does changes nothing here");
    }

    /// What was taken from the small room before goes on being of that.
    #[test]
    fn a_copy_that_does_much_has_a_wide_room_beside() {
        make_room_for_copies();
        let child = crate::clone::fork(|| {
            use_room_of_copy();
            let layout = |bytes| Layout::from_size_align(bytes, 16).expect("it is a layout");
            // SAFETY: each is used within its length, and given back as it was taken.
            let is_right = unsafe {
                let small = Memory.alloc(layout(100));
                small.write_bytes(7, 100);
                use_wide_room();
                let first = Memory.alloc(layout(100));
                // For who asks again there is no other.
                use_wide_room();
                Memory.dealloc(first, layout(100));
                let wide = Memory.alloc_zeroed(layout(ROOM_BYTES));
                let is_zero = (0..ROOM_BYTES).step_by(4096).all(|at| *wide.add(at) == 0);
                wide.write_bytes(9, ROOM_BYTES);
                let moved = Memory.realloc(small, layout(100), 5000);
                let is_kept = (0..100).all(|at| *moved.add(at) == 7) && *wide == 9;
                let is_apart = ROOM.holds(small) && !ROOM.holds(wide) && wide.addr() - first.addr() < ROOM_BYTES;
                Memory.dealloc(moved, layout(5000));
                Memory.dealloc(wide, layout(ROOM_BYTES));
                let more = |_| Memory.alloc(layout(ROOM_BYTES));
                let last = (0..40).map(more).fold(wide, |_, last| last);
                let is_full = !last.is_null() && room::room_of(last).is_none();
                is_zero && is_kept && is_apart && is_full
            };
            i32::from(!is_right)
        });
        let end = crate::clone::wait(child.unwrap().pid, true).unwrap().unwrap();
        assert_eq!(end.status, 0);
    }
}
