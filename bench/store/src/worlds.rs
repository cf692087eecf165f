//! Worlds that are made, written to and discarded: what they leave in memory.

use crate::living::{Printed, rested, send};
use crate::work::{again, argument, required, resident_bytes};
use serde_json::{Value, json};
use std::path::Path;

pub fn measure(directory: &Path) -> Value {
    again("worlds", &[("--place", directory.as_os_str())])
}

/// In a process of its own: resident memory after so many, and after ten times as many.
pub fn run() -> Value {
    let first = argument("--worlds", 100_000);
    let mut image =
        rested(&required("--place"), "x := 0; worlds := method(n, n repeat(i, one(i)))", &Printed::default());
    send(&mut image, "one := method(i, world := World clone; world run(x = i); world discard); nil");
    let mut after = |count: u64| {
        send(&mut image, &format!("worlds({count}); if(x != 0, Exception raise(\"a world leaks\")); nil"));
        resident_bytes(std::process::id()).0
    };
    let few = after(first);
    let many = after(first * 9);
    json!({ "worlds": first, "few_bytes": few, "many_bytes": many })
}
