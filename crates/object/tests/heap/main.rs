//! Properties of the heap: it does what a naive model does, its barrier is enough to undo any write, and a collection
//! frees what is unreachable and touches nothing else.

mod collection;
mod fault;
mod model;
mod operation;
mod transaction;
mod world;
