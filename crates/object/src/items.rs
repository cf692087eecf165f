//! The items of a list: one run of values with room at both ends, so that a queue costs the same at its front as at
//! its back. Inside an object the two fields lie beside the tag of its data; here they are together to be changed.

use crate::value::Value;
use std::ops::{Deref, DerefMut};
use thin_vec::ThinVec;

/// Room left behind by items taken from the front is given back once it is this much and more than half.
const SLACK_MIN: usize = 32;

/// Items from `start` on; what is before it is room for more, and holds nil.
#[derive(Clone, Default, Debug)]
pub struct Items {
    pub(crate) values: ThinVec<Value>,
    pub(crate) start: u32,
}

impl Items {
    fn first(&self) -> usize {
        self.start as usize
    }

    #[inline]
    pub fn push(&mut self, value: Value) {
        self.values.push(value);
    }

    /// Panics if the index is greater than the length.
    pub fn insert(&mut self, index: usize, value: Value) {
        assert!(index <= self.len(), "an index is within the list");
        if index > 0 || self.values.is_empty() {
            return self.values.insert(self.first() + index, value);
        }
        if self.start == 0 {
            self.make_room();
        }
        self.start -= 1;
        let first = self.first();
        self.values[first] = value;
    }

    /// Room before the first item in proportion to the length: each insertion costs a constant on average.
    fn make_room(&mut self) {
        let room = (self.values.len() / 2 + 4).min(u32::MAX as usize);
        self.values.splice(0..0, std::iter::repeat_n(Value::NIL, room));
        self.start = room as u32;
    }

    /// Panics if the index is outside.
    pub fn remove(&mut self, index: usize) -> Value {
        let first = self.first();
        let removed = if index > 0 || self.start == u32::MAX {
            self.values.remove(first + index)
        } else {
            self.start += 1;
            std::mem::replace(&mut self.values[first], Value::NIL)
        };
        self.give_back();
        removed
    }

    fn give_back(&mut self) {
        let first = self.first();
        if first == self.values.len() {
            self.clear();
        } else if first >= SLACK_MIN && first * 2 > self.values.len() {
            self.values.drain(..first);
            self.start = 0;
        }
    }

    pub fn clear(&mut self) {
        self.values.clear();
        self.start = 0;
    }

    pub fn truncate(&mut self, length: usize) {
        self.values.truncate(self.first() + length);
    }

    pub fn resize(&mut self, length: usize, value: Value) {
        self.values.resize(self.first() + length, value);
    }

    pub fn reserve(&mut self, more: usize) {
        self.values.reserve(more);
    }

    pub fn retain(&mut self, keep: impl FnMut(&Value) -> bool) {
        self.values.drain(..self.first());
        self.start = 0;
        let mut keep = keep;
        self.values.retain(|value| keep(value));
    }
}

impl Deref for Items {
    type Target = [Value];

    #[inline(always)]
    fn deref(&self) -> &[Value] {
        &self.values[self.start as usize..]
    }
}

impl DerefMut for Items {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Value] {
        &mut self.values[self.start as usize..]
    }
}

impl Extend<Value> for Items {
    fn extend<T: IntoIterator<Item = Value>>(&mut self, more: T) {
        self.values.extend(more);
    }
}

impl FromIterator<Value> for Items {
    fn from_iter<T: IntoIterator<Item = Value>>(values: T) -> Items {
        Items { values: values.into_iter().collect(), start: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    fn number(index: u64) -> Value {
        Value::number(index as f64)
    }

    #[test]
    fn behaves_as_a_deque_does() {
        let (mut items, mut model) = (Items::default(), VecDeque::new());
        let mut seed = 7u64;
        for step in 0..20_000u64 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let index = if model.is_empty() { 0 } else { (seed >> 40) as usize % model.len() };
            match (seed >> 33) % 8 {
                0 | 1 => {
                    items.insert(0, number(step));
                    model.push_front(number(step));
                }
                2 => {
                    items.push(number(step));
                    model.push_back(number(step));
                }
                3 => {
                    items.insert(index, number(step));
                    model.insert(index, number(step));
                }
                4 if !model.is_empty() => assert_eq!(Some(items.remove(items.len() - 1)), model.pop_back()),
                5 if !model.is_empty() => assert_eq!(Some(items.remove(index)), model.remove(index)),
                _ if !model.is_empty() => assert_eq!(Some(items.remove(0)), model.pop_front()),
                _ => {}
            }
            assert_eq!(items.len(), model.len());
        }
        assert!(items.iter().eq(model.iter()));
    }

    #[test]
    fn a_long_queue_is_cheap_at_both_ends() {
        let mut items: Items = (0..200_000).map(number).collect();
        for step in 0..200_000 {
            let first = items.remove(0);
            items.push(first);
            items.insert(0, number(step));
            items.remove(0);
        }
        assert_eq!(items.len(), 200_000);
    }
}
