//! Values, objects and the heap that holds them: what the language, the store and the merge have in common.
//! Pure: no disk, clock, process or randomness.
//!
//! - `value`: a number or a handle in one word
//! - `object`, `shape`: one object; the slot names and protos that objects share
//! - `heap`: allocation and reading; `write`, with the barrier that every write passes, `transaction`, which remembers
//!   what was `before` and can set it aside as an `overlay`, `fault`, which loads what is not here yet, `count`, which says what of it counts,
//!   `reads`, which notes what a program looked at, `veil`, which has it look again, `collect`, `lookup` and `symbol` are its chapters
//! - `sequence`: text, bytes and vectors
//! - `change`: the record of a state change, and its bytes; knows nothing of the others

mod before;
pub mod change;
mod collect;
mod count;
mod fault;
mod handle_set;
mod heap;
mod items;
mod lookup;
mod nest;
pub mod number_text;
mod object;
mod overlay;
mod reads;
pub mod sequence;
mod shape;
mod symbol;
mod transaction;
mod value;
mod veil;
mod write;

pub use before::{Before, Entries, Entry, Replaced, Splice};
pub use collect::Collected;
pub use fault::{Loaded, Loader};
pub use heap::{Heap, Usage};
pub use items::Items;
pub use nest::Nest;
pub use object::{Data, Foreign, INLINE_SLOTS, Kind, Map, Object, Place, flag};
pub use overlay::Overlay;
pub use reads::{Looks, Reads};
pub use shape::{Shape, ShapeId, Shapes};
pub use thin_vec::{ThinVec, thin_vec};
pub use value::{Handle, Symbol, Value};
