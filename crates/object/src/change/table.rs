//! Keys and values in the order in which they came, for an object that is being changed: finding, putting and removing
//! one takes no walk through the others, however many there are.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Below this many entries a walk is faster than a hash.
const WALKED: usize = 12;

/// Removed entries leave a hole until the table is taken apart.
#[derive(Clone, Debug)]
pub(super) struct Table<K, V> {
    entries: Vec<Option<(K, V)>>,
    /// Where each key is; made when a walk would be long.
    index: FxHashMap<K, usize>,
}

impl<K: Hash + Eq + Clone, V> Table<K, V> {
    /// Of two entries with the same key the later one counts, in the place of the first.
    pub fn new(pairs: Vec<(K, V)>) -> Table<K, V> {
        let is_long = pairs.len() > WALKED;
        let mut table = Table { entries: Vec::with_capacity(pairs.len()), index: FxHashMap::default() };
        if is_long {
            table.index.reserve(pairs.len());
        }
        for (key, value) in pairs {
            table.put(key, value);
        }
        table
    }

    /// Of all entries, and of those that left a hole.
    pub fn room(&self) -> usize {
        self.entries.len()
    }

    pub fn get(&self, key: &K) -> Option<&V> {
        let at = self.find(key)?;
        self.entries[at].as_ref().map(|(_, value)| value)
    }

    /// Returns what was there before.
    pub fn put(&mut self, key: K, value: V) -> Option<V> {
        if let Some(at) = self.find(&key) {
            return self.entries[at].replace((key, value)).map(|(_, before)| before);
        }
        let at = self.entries.len();
        if at == WALKED {
            let filled = self.entries.iter().enumerate();
            self.index.extend(filled.filter_map(|(at, entry)| Some((entry.as_ref()?.0.clone(), at))));
        }
        if at >= WALKED {
            self.index.insert(key.clone(), at);
        }
        self.entries.push(Some((key, value)));
        None
    }

    pub fn remove(&mut self, key: &K) -> Option<V> {
        let at = self.find(key)?;
        self.index.remove(key);
        self.entries[at].take().map(|(_, value)| value)
    }

    pub fn into_pairs(self) -> Vec<(K, V)> {
        self.entries.into_iter().flatten().collect()
    }

    fn find(&self, key: &K) -> Option<usize> {
        if self.entries.len() > WALKED {
            return self.index.get(key).copied();
        }
        self.entries.iter().position(|entry| entry.as_ref().is_some_and(|(other, _)| other == key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small and large tables are kept in two ways; both must do the same.
    #[test]
    fn order_is_that_of_the_first_put_at_every_size() {
        for size in [1, WALKED - 1, WALKED, WALKED + 1, 100] {
            let mut table = Table::new((0..size).map(|key| (key, 0)).collect());
            assert_eq!(table.put(size / 2, 7), Some(0));
            assert_eq!(table.get(&(size / 2)), Some(&7));
            assert_eq!((table.remove(&0), table.remove(&0)), (Some(if size / 2 == 0 { 7 } else { 0 }), None));
            assert_eq!(table.put(0, 9), None);
            let keys: Vec<usize> = table.into_pairs().into_iter().map(|(key, _)| key).collect();
            let expected: Vec<usize> = (1..size).chain([0]).collect();
            assert_eq!(keys, expected);
        }
    }

    #[test]
    fn a_key_given_twice_is_one() {
        let table = Table::new(vec![(1, "a"), (2, "b"), (1, "c")]);
        assert_eq!(table.into_pairs(), [(1, "c"), (2, "b")]);
    }
}
