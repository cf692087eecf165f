//! The rows in a sealed copy of this process that starts no program: the attempt is a function of ours there.

use crate::table::Row;
use sandbox::process::{Process, get_ready, sealed, seclude};
use sandbox::{Backend, Order, Running, SandboxError, Streams, Strength, Wall};
use std::io::Write;

pub const NAME: &str = "dream";

pub struct Dream;

/// Whether a row says something about a backend.
pub fn is_for(backend: &str, row: &Row) -> bool {
    let is_other = if backend == NAME { row.is_for_programs } else { row.is_for_dreams };
    !is_other
}

/// Whether this is inside a dream: nothing else that plays a row is process 1.
pub fn is_here() -> bool {
    std::process::id() == 1
}

impl Backend for Dream {
    fn name(&self) -> &'static str {
        NAME
    }

    fn survey(&self) -> Vec<(Wall, Strength)> {
        Process::new().survey()
    }

    fn start(&self, order: &Order, streams: Streams) -> Result<Box<dyn Running>, SandboxError> {
        let program: Vec<&str> = order.program.iter().filter_map(|word| word.to_str()).collect();
        let body: Box<dyn FnOnce() -> i32> = match program[..] {
            [_, "--inside", row] => Box::new(|| {
                crate::say_inside(row);
                i32::from(std::io::stdout().flush().is_err())
            }),
            ["true"] => Box::new(|| 0),
            ["false"] => Box::new(|| 1),
            ["sleep", _] => Box::new(|| sleep()),
            ["sh", "-c", crate::leftovers::ORPHAN] => Box::new(leave_orphan),
            _ => return Err(SandboxError::NoProgram { program: format!("{program:?}, which a dream cannot start,") }),
        };
        let order = Order { program: Vec::new(), ..order.clone() };
        get_ready();
        seclude();
        Ok(sealed(&order, streams, &[], body)?)
    }
}

fn sleep() -> ! {
    loop {
        std::thread::park();
    }
}

/// As the script does: a process that nobody waits for.
fn leave_orphan() -> i32 {
    let _ = system::clone::fork(|| {
        let _ = system::clone::fork(|| sleep());
        0
    });
    3
}
