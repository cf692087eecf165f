//! The value stack of one coroutine: what frames keep, and the registers of compiled code.
//!
//! Registers are reached through a window, so that an eight-bit register number, and the few behind it, need no check.
//! Behind the top lies room for one window, with whatever was there before: nobody reads it.

use object::Value;
use std::ops::{Deref, DerefMut};

/// Registers that one frame can name, by a number of eight bits or as one of the next few.
pub const WINDOW: usize = 256 + 4;

#[derive(Clone, Default)]
pub struct Values {
    buffer: Vec<Value>,
    top: usize,
}

impl Values {
    #[inline]
    pub fn push(&mut self, value: Value) {
        match self.buffer.get_mut(self.top) {
            Some(place) => *place = value,
            None => self.buffer.push(value),
        }
        self.top += 1;
    }

    #[inline(always)]
    pub fn truncate(&mut self, len: usize) {
        self.top = self.top.min(len);
    }

    pub fn clear(&mut self) {
        self.top = 0;
    }

    pub fn extend(&mut self, values: impl IntoIterator<Item = Value>) {
        values.into_iter().for_each(|value| self.push(value));
    }

    pub fn extend_from_slice(&mut self, values: &[Value]) {
        values.iter().for_each(|&value| self.push(value));
    }

    /// Raises the top to at least `len`. What comes in is left over from before.
    #[inline(always)]
    pub fn reach(&mut self, len: usize) {
        if self.top < len {
            if self.buffer.len() < len {
                self.grow(len);
            }
            self.top = len;
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, len: usize) {
        self.buffer.resize(len.next_power_of_two(), Value::ABSENT);
    }

    /// The registers of a frame that has so many.
    #[inline(always)]
    pub fn registers(&mut self, base: usize, count: usize) -> &mut [Value; WINDOW] {
        self.top = self.top.max(base + count);
        self.window(base)
    }

    /// The registers of a frame whose values are all beneath the top.
    #[inline(always)]
    pub fn window(&mut self, base: usize) -> &mut [Value; WINDOW] {
        if self.buffer.len() < base + WINDOW {
            self.grow(base + WINDOW);
        }
        (&mut self.buffer[base..base + WINDOW]).try_into().expect("a window is as long as it is")
    }

    /// Clears what is behind the top. After a collection it could name objects that are gone, and registers that are
    /// taken again show it for as long as they are not written.
    pub fn forget_rest(&mut self) {
        self.buffer[self.top..].fill(Value::NIL);
    }

    /// Gives back what is behind the top, for a stack that will not run for a while.
    pub fn compact(&mut self) {
        self.buffer.truncate(self.top);
        self.buffer.shrink_to_fit();
    }
}

impl Deref for Values {
    type Target = [Value];

    #[inline(always)]
    fn deref(&self) -> &[Value] {
        &self.buffer[..self.top]
    }
}

impl DerefMut for Values {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Value] {
        &mut self.buffer[..self.top]
    }
}
