//! What this program hands to the machines it starts: each capability is one function that gives the prototypes of
//! the language their primitives, or methods that say that they were withheld.

mod clock;
mod directory;
mod file;
mod open;
mod output;
mod process;
mod random;
mod read;
mod started;
mod stat;
mod stream;
mod system;

pub use clock::LocalZone;
pub use file::reason;
pub use output::{Sink, StandardOutput, write_out};
pub use read::WAIT_SLICE;
pub use started::end_all as end_all_commands;
pub use stream::standard_input;

use clap::ValueEnum;
use language::{Eagerness, Function, Interrupt, Outcome, Value, Vm};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::rc::{Rc, Weak};
use stream::Stream;

/// Something of the world that a program may be given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Capability {
    /// File and Directory
    Files,
    /// the current time, and sleeping
    Clock,
    /// environment variables
    Environment,
    /// shell commands and the process itself
    Processes,
    /// random numbers that no seed determines
    Randomness,
    /// what computer this is, and where this program lies on it
    System,
}

/// Which capabilities a machine gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    pub files: bool,
    pub clock: bool,
    pub environment: bool,
    pub processes: bool,
    pub randomness: bool,
    pub system: bool,
}

impl Capabilities {
    pub const fn all() -> Capabilities {
        Capabilities { files: true, clock: true, environment: true, processes: true, randomness: true, system: true }
    }

    pub const fn none() -> Capabilities {
        Capabilities {
            files: false,
            clock: false,
            environment: false,
            processes: false,
            randomness: false,
            system: false,
        }
    }

    pub fn without(mut self, capability: Capability) -> Capabilities {
        match capability {
            Capability::Files => self.files = false,
            Capability::Clock => self.clock = false,
            Capability::Environment => self.environment = false,
            Capability::Processes => self.processes = false,
            Capability::Randomness => self.randomness = false,
            Capability::System => self.system = false,
        }
        self
    }

    /// Gives a machine these capabilities, and clear refusals for the others.
    pub fn install(self, vm: &mut Vm) {
        system::install(vm, self.system);
        clock::install(vm, self.clock);
        system::install_environment(vm, self.environment);
        process::install(vm, self.processes);
        random::install(vm, self.randomness);
        if self.files {
            file::install(vm, self.processes);
            directory::install(vm);
        }
    }
}

/// What the primitives of one machine share.
pub struct Shared {
    pub output: StandardOutput,
    pub interrupt: Interrupt,
    /// Variables that the program has set, for itself and the commands it starts; this process keeps its own.
    pub environment: BTreeMap<OsString, OsString>,
    /// Files that must be flushed when the program ends.
    open: Vec<Weak<RefCell<Stream>>>,
}

impl Shared {
    pub fn new(output: StandardOutput) -> Shared {
        Shared { output, interrupt: Interrupt::default(), environment: BTreeMap::new(), open: Vec::new() }
    }

    fn track(&mut self, stream: &Rc<RefCell<Stream>>) {
        self.open.retain(|each| each.strong_count() > 0);
        self.open.push(Rc::downgrade(stream));
    }

    /// Writes out what is still buffered. What cannot be written any more has no reader to tell.
    pub fn flush_all(&mut self) {
        for stream in self.open.iter().filter_map(Weak::upgrade) {
            if let Ok(mut stream) = stream.try_borrow_mut() {
                let _ = stream.flush();
            }
        }
        self.output.flush();
    }
}

type Row = (&'static str, Eagerness, fn(&mut Vm, language::Args) -> Outcome);

/// Gives an object the methods of a table, or refusals in their place.
fn define_table(vm: &mut Vm, holder: Value, table: &[Row], granted: bool, what: &'static str) {
    for &(name, eagerness, function) in table {
        if granted {
            vm.define(holder, name, eagerness, Function::Plain(function));
        } else {
            vm.withhold(holder, name, what);
        }
    }
}

/// A path or command, byte for byte as the program gave it.
fn os_string(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

fn symbol_of_os(vm: &mut Vm, text: &std::ffi::OsStr) -> Value {
    use std::os::unix::ffi::OsStrExt;
    vm.immutable(object::sequence::Sequence::from_bytes(text.as_bytes()))
}
