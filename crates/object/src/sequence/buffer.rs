//! The bytes of a sequence: up to 15 of them inside the value itself, more on the heap.
//! Owns growth and the inline/heap switch; knows nothing of item types or encodings.
//!
//! Most strings of an Io program are short names, so most clones and slices need no allocation. A buffer that has
//! moved to the heap stays there: whoever grew it once will likely grow it again.

use std::ops::Range;

/// As many as fit beside the length byte without making [`Buffer`] larger than a `Vec`.
const INLINE_CAPACITY: usize = 15;

#[derive(Clone)]
pub(super) enum Buffer {
    Inline { len: u8, bytes: [u8; INLINE_CAPACITY] },
    Heap(Vec<u8>),
}

impl Buffer {
    pub(super) const fn new() -> Self {
        Buffer::Inline { len: 0, bytes: [0; INLINE_CAPACITY] }
    }

    pub(super) fn from_slice(source: &[u8]) -> Self {
        if source.len() > INLINE_CAPACITY {
            return Buffer::Heap(source.to_vec());
        }
        let mut bytes = [0; INLINE_CAPACITY];
        bytes[..source.len()].copy_from_slice(source);
        Buffer::Inline { len: source.len() as u8, bytes }
    }

    pub(super) fn from_vec(source: Vec<u8>) -> Self {
        if source.len() > INLINE_CAPACITY { Buffer::Heap(source) } else { Buffer::from_slice(&source) }
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[u8] {
        match self {
            Buffer::Inline { len, bytes } => &bytes[..usize::from(*len)],
            Buffer::Heap(bytes) => bytes,
        }
    }

    #[inline]
    pub(super) fn as_mut_slice(&mut self) -> &mut [u8] {
        match self {
            Buffer::Inline { len, bytes } => &mut bytes[..usize::from(*len)],
            Buffer::Heap(bytes) => bytes,
        }
    }

    /// Amortised constant time per byte.
    #[inline]
    pub(super) fn extend(&mut self, source: &[u8]) {
        match self {
            Buffer::Heap(bytes) => bytes.extend_from_slice(source),
            Buffer::Inline { len, bytes } => {
                let start = usize::from(*len);
                let end = start + source.len();
                if end <= INLINE_CAPACITY {
                    bytes[start..end].copy_from_slice(source);
                    *len = end as u8;
                } else {
                    self.spill(source.len()).extend_from_slice(source);
                }
            }
        }
    }

    /// Shortens, or lengthens with zeros.
    pub(super) fn resize(&mut self, new_len: usize) {
        match self {
            Buffer::Heap(bytes) => bytes.resize(new_len, 0),
            Buffer::Inline { len, bytes } if new_len <= INLINE_CAPACITY => {
                // Bytes past the length may be left over from a longer value.
                bytes[new_len.min(usize::from(*len))..].fill(0);
                *len = new_len as u8;
            }
            Buffer::Inline { len, .. } => {
                let additional = new_len - usize::from(*len);
                self.spill(additional).resize(new_len, 0);
            }
        }
    }

    /// Replaces a range of bytes, moving what follows it.
    pub(super) fn splice(&mut self, range: Range<usize>, source: &[u8]) {
        let old_len = self.as_slice().len();
        let new_len = old_len - range.len() + source.len();
        if new_len > old_len {
            self.resize(new_len);
        }
        let bytes = self.as_mut_slice();
        bytes.copy_within(range.end..old_len, range.start + source.len());
        bytes[range.start..range.start + source.len()].copy_from_slice(source);
        if new_len < old_len {
            self.resize(new_len);
        }
    }

    pub(super) fn reserve(&mut self, capacity: usize) {
        let additional = capacity.saturating_sub(self.as_slice().len());
        match self {
            Buffer::Heap(bytes) => bytes.reserve(additional),
            Buffer::Inline { .. } if capacity <= INLINE_CAPACITY => {}
            Buffer::Inline { .. } => {
                self.spill(additional);
            }
        }
    }

    fn spill(&mut self, additional: usize) -> &mut Vec<u8> {
        if let Buffer::Inline { len, bytes } = self {
            let used = &bytes[..usize::from(*len)];
            let mut heap = Vec::with_capacity((used.len() + additional).max(2 * INLINE_CAPACITY));
            heap.extend_from_slice(used);
            *self = Buffer::Heap(heap);
        }
        match self {
            Buffer::Heap(bytes) => bytes,
            Buffer::Inline { .. } => unreachable!("an inline buffer was moved to the heap just above"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_from_inline_spill_and_keeps_its_bytes() {
        let mut buffer = Buffer::new();
        let mut model = Vec::new();
        for byte in 0..100u8 {
            buffer.extend(&[byte]);
            model.push(byte);
            assert_eq!(buffer.as_slice(), model);
        }
    }

    #[test]
    fn shrinking_then_growing_reads_zeros() {
        let mut buffer = Buffer::from_slice(b"abcdef");
        buffer.resize(2);
        buffer.resize(4);
        assert_eq!(buffer.as_slice(), b"ab\0\0");
    }

    #[test]
    fn splices_shorter_equal_and_longer() {
        for (range, source, expected) in [
            (1..3, "X", "aXdef"),
            (1..3, "XY", "aXYdef"),
            (0..0, "0123456789", "0123456789abcdef"),
            (6..6, "!", "abcdef!"),
        ] {
            let mut buffer = Buffer::from_slice(b"abcdef");
            buffer.splice(range, source.as_bytes());
            assert_eq!(buffer.as_slice(), expected.as_bytes());
        }
    }
}
