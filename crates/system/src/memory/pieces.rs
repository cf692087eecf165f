//! Where a program's memory comes from: pieces up to a bound from jemalloc, larger ones from the C library.
//!
//! A request is read on one thread, run on a second and forgotten on a third or a fourth, in small pieces by the dozen, and a
//! collection gives thousands of them back at once: the C library spends longer on its lists of free pieces than the machine
//! on messages. Of large pieces it is the better keeper: it makes one larger by moving pages, not bytes, and gives address
//! space back, so that a program gets by with what `ulimit -v` leaves.
//!
//! Both see to their own locks at `fork`; children of `clone` ask neither.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::copy_nonoverlapping;
use tikv_jemallocator::Jemalloc;

/// From here on pieces are large. Where the C library itself begins to ask the kernel for each.
const LARGE_BYTES: usize = 128 << 10;

/// How jemalloc is set up: one place of free pieces for all threads. Each further one has a dozen pages of locks and lists, which it looks
/// at before and after every `fork`: both processes would copy them, and live stands still meanwhile. Threads keep what they
/// freed last by themselves, so that they rarely meet there.
#[repr(transparent)]
pub struct Settings(*const std::ffi::c_char);

// SAFETY: it leads to a constant.
unsafe impl Sync for Settings {}

/// jemalloc looks for this name.
#[unsafe(export_name = "_rjem_malloc_conf")]
pub static SETTINGS: Settings = Settings(c"narenas:1".as_ptr());

pub struct Pieces;

const fn is_large(bytes: usize) -> bool {
    bytes >= LARGE_BYTES
}

// SAFETY: who gave a piece follows from its layout alone, which whoever gives it back or changes its size has to name.
unsafe impl GlobalAlloc for Pieces {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: what the caller promises of the layout is what both want.
        unsafe { if is_large(layout.size()) { System.alloc(layout) } else { Jemalloc.alloc(layout) } }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe { if is_large(layout.size()) { System.alloc_zeroed(layout) } else { Jemalloc.alloc_zeroed(layout) } }
    }

    #[inline]
    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        // SAFETY: a piece of this layout came from this one of the two.
        unsafe { if is_large(layout.size()) { System.dealloc(piece, layout) } else { Jemalloc.dealloc(piece, layout) } }
    }

    #[inline]
    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, new_bytes: usize) -> *mut u8 {
        // SAFETY: a piece of this layout came from this one of the two, and what comes back is of the same.
        unsafe {
            match (is_large(layout.size()), is_large(new_bytes)) {
                (false, false) => Jemalloc.realloc(piece, layout, new_bytes),
                (true, true) => System.realloc(piece, layout, new_bytes),
                _ => self.move_over(piece, layout, new_bytes),
            }
        }
    }
}

impl Pieces {
    /// From one of the two to the other.
    ///
    /// # Safety
    ///
    /// As `realloc`.
    #[cold]
    unsafe fn move_over(&self, piece: *mut u8, layout: Layout, new_bytes: usize) -> *mut u8 {
        // SAFETY: the caller promises that the new size is one for this alignment; the pieces are two, each at least as
        // long as what is copied; and the old one is given back as what it was.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(new_bytes, layout.align()));
            if !moved.is_null() {
                copy_nonoverlapping(piece, moved, layout.size().min(new_bytes));
                self.dealloc(piece, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(bytes: usize, align: usize) -> Layout {
        Layout::from_size_align(bytes, align).unwrap()
    }

    /// Makes a piece of one size, fills it, changes its size, and looks at what both sizes share.
    fn resize(from: usize, to: usize, align: usize) {
        // SAFETY: sizes are not nought, the piece is given back once, with the layout it has then.
        unsafe {
            let piece = Pieces.alloc(layout(from, align));
            assert!(!piece.is_null());
            (0..from).for_each(|at| piece.add(at).write((at % 251) as u8));
            let piece = Pieces.realloc(piece, layout(from, align), to);
            assert!(!piece.is_null() && piece.addr().is_multiple_of(align));
            let shared = from.min(to);
            assert!((0..shared).all(|at| piece.add(at).read() == (at % 251) as u8), "{from} to {to}");
            Pieces.dealloc(piece, layout(to, align));
        }
    }

    #[test]
    fn what_a_piece_holds_stays_when_its_size_passes_the_bound() {
        let sizes = [1, 100, LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 1, 3 * LARGE_BYTES];
        for (from, to) in sizes.iter().flat_map(|from| sizes.iter().map(move |to| (*from, *to))) {
            [1, 16, 4096].into_iter().for_each(|align| resize(from, to, align));
        }
    }

    #[test]
    fn what_is_asked_for_empty_is() {
        for bytes in [64, LARGE_BYTES - 8, LARGE_BYTES] {
            // SAFETY: as above.
            unsafe {
                let piece = Pieces.alloc_zeroed(layout(bytes, 8));
                assert!((0..bytes).all(|at| piece.add(at).read() == 0));
                Pieces.dealloc(piece, layout(bytes, 8));
            }
        }
    }
}
