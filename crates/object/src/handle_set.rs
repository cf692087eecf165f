//! A set of handles beside the objects: notes about them that must not dirty their pages, which forked children share.

use crate::value::Handle;

#[derive(Default)]
pub(crate) struct HandleSet {
    words: Vec<u64>,
}

impl HandleSet {
    /// A set with room for the handles below `count`.
    pub fn with_room(count: usize) -> HandleSet {
        HandleSet { words: vec![0; count.div_ceil(64)] }
    }

    #[inline(always)]
    pub fn contains(&self, handle: Handle) -> bool {
        self.words.get(handle.0 as usize / 64).is_some_and(|word| word & mask(handle) != 0)
    }

    /// True if it was not in there yet.
    #[inline(always)]
    pub fn insert(&mut self, handle: Handle) -> bool {
        let index = handle.0 as usize / 64;
        if index >= self.words.len() {
            self.words.resize(index + 1, 0);
        }
        let before = self.words[index];
        self.words[index] = before | mask(handle);
        before & mask(handle) == 0
    }

    pub fn remove(&mut self, handle: Handle) {
        if let Some(word) = self.words.get_mut(handle.0 as usize / 64) {
            *word &= !mask(handle);
        }
    }

    /// The handles from 64 × `index` on, one bit each.
    pub fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or(0)
    }
}

#[inline(always)]
fn mask(handle: Handle) -> u64 {
    1 << (handle.0 % 64)
}
