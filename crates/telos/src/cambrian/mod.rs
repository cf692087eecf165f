//! The waking of an image. What happens in which order says `genesis/cambrian.io`; here is what it is run with.
//!
//! - `embryo`: the one capability that it has, step by step
//! - `waking`: telling the root object that it is awake, and keeping what went wrong
//!
//! Its machine is bare: the language without its library, which is made in well under a millisecond and serves the
//! image afterwards as the machine that a session has while it is lent none. It never touches an object of the image.

mod embryo;
mod waking;

pub use waking::keep;

use crate::host::StandardOutput;
use crate::host::outside::Line;
use crate::options::MachineOptions;
use embryo::{Born, Embryo};
use image::Image;
use language::{Host, Vm};
use std::path::Path;
use std::time::Duration;
use store::Ticket;

const CAMBRIAN: &str = include_str!("../../genesis/cambrian.io");
pub const GENESIS: &str = include_str!("../../genesis/genesis.io");

/// What an image is woken up with.
pub struct Conditions<'c> {
    pub directory: &'c Path,
    pub machine: &'c MachineOptions,
    pub cache_bytes: Option<u64>,
    pub output: &'c StandardOutput,
    /// Where its calls to the world outside go, if anybody makes them.
    pub outside: Option<Line>,
    /// The root object is not told that it is awake.
    pub is_asleep: bool,
}

/// An image that is awake.
pub struct Woken {
    pub image: Image,
    /// The machine that it was woken up with, which has nothing to do any more.
    pub midwife: Vm,
    /// What was done, and what came of it.
    pub steps: Vec<Step>,
    /// Why the root object could not be told that it is awake.
    pub failure: Option<String>,
    /// The commit of what the root object did then, which may not be durable yet.
    pub unsettled: Option<Ticket>,
}

/// One step of the waking.
pub struct Step {
    pub name: &'static str,
    pub told: String,
    pub took: Duration,
}

/// Wakes the image of a directory up, or makes one where there is none.
pub fn wake(conditions: &Conditions<'_>) -> Result<Woken, String> {
    let host = Host { extra: Some(Box::new(Embryo::of(conditions))), ..Host::default() };
    let mut midwife = Vm::bare(host);
    embryo::install(&mut midwife);
    let ended = midwife.evaluate(CAMBRIAN, "genesis:cambrian.io");
    let embryo = midwife.extra::<Embryo>().ok_or("the embryo is lost")?;
    let born = embryo.leave(ended.err().map(|error| error.to_string()))?;
    let Born { image, steps, failure, unsettled } = born;
    Ok(Woken { image, midwife, steps, failure, unsettled })
}
