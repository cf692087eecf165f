//! Values, objects and the heap that holds them: what the language, the store and the merge have in common.
//! Pure: no disk, clock, process or randomness.

pub mod number_text;
pub mod sequence;
