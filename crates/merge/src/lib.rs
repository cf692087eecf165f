//! Reconciles what forks of the image did with what the image did meanwhile. Pure, and knows no language.
//!
//! The [`Ledger`] holds, place by place, the changes since the oldest open fork; what nobody touched since then is *at
//! rest*, and read from the image through [`Rest`] when it is first touched. Opening a fork notes where the ledger
//! stands. A journal is admitted ([`Refusal`] says why not), replayed in its author's view, and answered by an
//! [`Outcome`]: the effects to apply to the image, and conflicts and violations as values.
//!
//! **The result is a pure function of the set of admitted changes**, whatever their order and batching: a place shows
//! the greatest of its *heads*, the changes that no other one replaces, by rank, time and id.
//!
//! - `stamp`, `register`, `registers`: who wrote when and seen by whom; places that hold one value
//! - `line`, `values`, `integrate`, `coalesce`: elements in an order; `members`: sets and bags; `protos` with `edges` and
//!   `graph`: no new cycle, found in so many `steps`; `deeds`: nobody left without; `hold`: what live goes by
//! - `ledger`: forks and the whole; `commit`, `admit`, `apply` with `edit`, `settle`: the stages of a merge; `fresh`: what it stands on
//! - `compact`, `undo` with `contended`; `conflict`: what a merge has to say
//! - `image`: the least image that all of this can stand on, for tests and measurements

mod admit;
mod apply;
mod coalesce;
mod commit;
mod compact;
mod conflict;
mod contended;
mod deeds;
mod edges;
mod edit;
mod fresh;
mod graph;
mod hold;
mod image;
mod integrate;
mod ledger;
mod line;
mod members;
mod protos;
mod register;
mod registers;
mod rest;
mod settle;
mod settle_line;
mod stamp;
mod steps;
mod undo;
mod values;

pub use admit::{Refusal, fits};
pub use conflict::{Conflict, Place, Position, Sibling, Status, Violation};
pub use image::Image;
pub use ledger::Ledger;
pub use rest::{NoReconciler, Presence, Reconciler, Rest};
pub use settle::{Effect, Outcome};
pub use stamp::{Fork, Policy, Span};
