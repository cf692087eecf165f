//! Which place each of several keys has, in the order in which they were met. Most batches and objects name few things, and to
//! walk past a few is cheaper than the hash of a long text and a table to keep it in.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::hash::Hash;

/// Up to so many are walked past.
const WALKED: usize = 8;

pub(super) struct Places<K> {
    first: SmallVec<[K; WALKED]>,
    /// Where each of them is, once there are more.
    all: FxHashMap<K, usize>,
}

impl<K> Default for Places<K> {
    fn default() -> Places<K> {
        Places { first: SmallVec::new(), all: FxHashMap::default() }
    }
}

impl<K: Hash + Eq + Clone> Places<K> {
    /// The place of a key, and whether it is met for the first time.
    pub fn of(&mut self, key: &K) -> (usize, bool) {
        let known = match self.all.is_empty() {
            true => self.first.iter().position(|other| other == key),
            false => self.all.get(key).copied(),
        };
        match known {
            Some(place) => (place, false),
            None => (self.add(key.clone()), true),
        }
    }

    fn add(&mut self, key: K) -> usize {
        if self.first.len() < WALKED {
            self.first.push(key);
            return self.first.len() - 1;
        }
        if self.all.is_empty() {
            self.all.extend(self.first.iter().cloned().zip(0..));
        }
        let place = self.all.len();
        self.all.insert(key, place);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_in_order_and_once_however_many_there_are() {
        let mut places = Places::default();
        for key in 0..WALKED * 3 {
            assert_eq!(places.of(&key), (key, true));
            for earlier in 0..=key {
                assert_eq!(places.of(&earlier), (earlier, false));
            }
        }
    }
}
