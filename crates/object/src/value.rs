//! A value in one machine word: a number, or a handle to an object. Owns the bit layout; nothing outside may look at it.
//!
//! Doubles are stored as they are. The space of quiet negative NaNs above `OBJECT_TAG`, which arithmetic never
//! produces once NaN is made canonical, holds handles and the one marker for "no value here".

use std::fmt;

/// An object's place in the heap. Stable for the object's life: the collector never moves objects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(pub u32);

/// The handle of an interned, immutable sequence. Equal text has equal handles.
pub type Symbol = Handle;

impl fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "#{}", self.0)
    }
}

/// A number or an object. Copying it copies no object.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value(u64);

const OBJECT_TAG: u64 = 0xFFFC_0000_0000_0000;
const ABSENT_BITS: u64 = 0xFFFD_0000_0000_0000;
const CANONICAL_NAN: u64 = 0x7FF8_0000_0000_0000;

impl Value {
    pub const NIL: Value = Value::object(Handle(0));
    pub const TRUE: Value = Value::object(Handle(1));
    pub const FALSE: Value = Value::object(Handle(2));
    /// Marks a register or field that holds nothing. Never visible to a program.
    pub const ABSENT: Value = Value(ABSENT_BITS);

    #[inline(always)]
    pub fn number(number: f64) -> Value {
        if number.is_nan() { Value(CANONICAL_NAN) } else { Value(number.to_bits()) }
    }

    /// The result of arithmetic on numbers that are values already: a NaN among them is canonical, and so is what the
    /// processor makes of it.
    #[inline(always)]
    pub fn computed(number: f64) -> Value {
        debug_assert!(number.to_bits() < OBJECT_TAG);
        Value(number.to_bits())
    }

    /// The number that this is known to be. Anything else reads as some NaN.
    #[inline(always)]
    pub fn assume_number(self) -> f64 {
        debug_assert!(self.is_number());
        f64::from_bits(self.0)
    }

    #[inline(always)]
    pub const fn object(handle: Handle) -> Value {
        Value(OBJECT_TAG | handle.0 as u64)
    }

    /// Bits that are no value, for a place where nobody looks for one.
    pub(crate) const fn from_bits(bits: u64) -> Value {
        Value(bits)
    }

    pub(crate) const fn to_bits(self) -> u64 {
        self.0
    }

    #[inline(always)]
    pub const fn boolean(truth: bool) -> Value {
        if truth { Value::TRUE } else { Value::FALSE }
    }

    #[inline(always)]
    pub const fn is_number(self) -> bool {
        self.0 < OBJECT_TAG
    }

    #[inline(always)]
    pub fn as_number(self) -> Option<f64> {
        if self.is_number() { Some(f64::from_bits(self.0)) } else { None }
    }

    #[inline(always)]
    pub const fn as_handle(self) -> Option<Handle> {
        let index = self.0.wrapping_sub(OBJECT_TAG);
        if index >> 32 == 0 { Some(Handle(index as u32)) } else { None }
    }

    /// The object that this is known to be. Anything else reads as some handle.
    #[inline(always)]
    pub fn assume_handle(self) -> Handle {
        debug_assert!(self.as_handle().is_some());
        Handle(self.0 as u32)
    }

    #[inline(always)]
    pub const fn is_absent(self) -> bool {
        self.0 == ABSENT_BITS
    }

    #[inline(always)]
    pub const fn is_nil(self) -> bool {
        self.0 == Value::NIL.0
    }

    /// Io's truth without asking the object: all but nil and false.
    #[inline(always)]
    pub const fn is_true(self) -> bool {
        self.0 != Value::NIL.0 && self.0 != Value::FALSE.0
    }

    /// This value, or nil where there is none.
    #[inline(always)]
    pub const fn or_nil(self) -> Value {
        if self.is_absent() { Value::NIL } else { self }
    }

    pub const fn bits(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.as_number(), self.as_handle()) {
            (Some(number), _) => write!(formatter, "{number}"),
            (_, Some(handle)) => write!(formatter, "{handle:?}"),
            _ => write!(formatter, "absent"),
        }
    }
}

impl From<Handle> for Value {
    fn from(handle: Handle) -> Value {
        Value::object(handle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_handles_never_overlap() {
        for number in [0.0, -0.0, 1.5, f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN] {
            let value = Value::number(number);
            assert!(value.is_number() && value.as_handle().is_none() && !value.is_absent());
        }
        let value = Value::object(Handle(u32::MAX));
        assert_eq!(value.as_handle(), Some(Handle(u32::MAX)));
        assert!(!value.is_number() && !value.is_absent());
        assert!(Value::ABSENT.as_handle().is_none() && !Value::ABSENT.is_number());
    }

    #[test]
    fn a_value_is_one_word() {
        assert_eq!(size_of::<Value>(), 8);
        assert_eq!(size_of::<Option<Handle>>(), 8);
    }
}
