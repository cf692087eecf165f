//! What this program hands to the machines it starts: each capability is a table of functions for primitives that the
//! language knows by name, and that say that they were withheld where nobody binds them.

mod clock;
mod directory;
pub mod dream;
mod file;
mod open;
mod output;
pub mod outside;
mod own_process;
mod process;
mod random;
mod read;
mod started;
mod stat;
mod stream;
mod surroundings;
mod system;
pub mod told;

pub use clock::{LocalZone, now};
pub use file::reason;
pub use output::{Sink, StandardOutput, write_out};
pub use read::WAIT_SLICE;
pub use started::end_all as end_all_commands;
pub use stream::standard_input;
pub use surroundings::Surroundings;

use clap::ValueEnum;
use language::{Args, Eagerness, Function, Interrupt, Outcome, Signal, Value, Vm};
use object::sequence::Sequence;
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
    /// sealed forks of the image, if it is up
    Dreams,
    /// servers, through the broker of an image that is up
    Network,
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
    pub dreams: bool,
    pub network: bool,
}

impl Capabilities {
    pub const fn all() -> Capabilities {
        Capabilities {
            files: true,
            clock: true,
            environment: true,
            processes: true,
            randomness: true,
            system: true,
            dreams: true,
            network: true,
        }
    }

    pub const fn none() -> Capabilities {
        Capabilities {
            files: false,
            clock: false,
            environment: false,
            processes: false,
            randomness: false,
            system: false,
            dreams: false,
            network: false,
        }
    }

    pub fn has(self, capability: Capability) -> bool {
        self.without(capability) != self
    }

    pub fn without(mut self, capability: Capability) -> Capabilities {
        match capability {
            Capability::Files => self.files = false,
            Capability::Clock => self.clock = false,
            Capability::Environment => self.environment = false,
            Capability::Processes => self.processes = false,
            Capability::Randomness => self.randomness = false,
            Capability::System => self.system = false,
            Capability::Dreams => self.dreams = false,
            Capability::Network => self.network = false,
        }
        self
    }

    /// Gives a machine these capabilities: binds functions to the names of primitives. The others refuse what they are
    /// asked. Nothing is written into the machine's heap.
    pub fn install(self, vm: &mut Vm) {
        bind_table(vm, "System", system::PROGRAM_TABLE);
        let granted: [(bool, &str, &[Row]); 7] = [
            (self.dreams, "Dream", dream::TABLE),
            (self.system, "System", system::TABLE),
            (self.clock, "Date", clock::DATE_TABLE),
            (self.clock, "System", clock::SYSTEM_TABLE),
            (self.environment, "System", system::ENVIRONMENT_TABLE),
            (self.processes, "System", process::TABLE),
            (self.randomness, "Random", random::TABLE),
        ];
        for (is_granted, prototype, table) in granted {
            if is_granted {
                bind_table(vm, prototype, table);
            }
        }
        if self.files {
            bind_table(vm, "File", file::PATH_TABLE);
            bind_table(vm, "File", file::TABLE);
            bind_table(vm, "File", stat::TABLE);
            bind_table(vm, "Directory", file::PATH_TABLE);
            bind_table(vm, "Directory", directory::TABLE);
        }
        if self.files && self.processes {
            bind_table(vm, "File", file::COMMAND_TABLE);
        }
        if let Some(line) = vm.extra::<Shared>().and_then(|shared| shared.outside.clone()) {
            line.bind(vm, self);
        }
    }
}

/// What the primitives of one machine share.
pub struct Shared {
    pub output: StandardOutput,
    pub interrupt: Interrupt,
    /// Variables that the program has set, for itself and the commands it starts; this process keeps its own.
    pub environment: BTreeMap<OsString, OsString>,
    /// What the program was started with.
    pub arguments: Vec<String>,
    /// The file that was started, and its directory.
    pub launch_file: Option<(String, String)>,
    /// Files that must be flushed when the program ends.
    open: Vec<Weak<RefCell<Stream>>>,
    /// Where dreams are asked for, in an image that is up.
    pub dreams: Option<dream::Desk>,
    /// Where calls to the world outside go, in an image that is up.
    pub outside: Option<outside::Line>,
}

impl Shared {
    pub fn new(output: StandardOutput) -> Shared {
        Shared {
            output,
            interrupt: Interrupt::default(),
            environment: BTreeMap::new(),
            arguments: Vec::new(),
            launch_file: None,
            open: Vec::new(),
            dreams: None,
            outside: None,
        }
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

type Row = (&'static str, Eagerness, fn(&mut Vm, Args) -> Outcome);

/// Binds the functions of a table to the primitives of a prototype.
fn bind_table(vm: &mut Vm, prototype: &str, table: &[Row]) {
    for &(name, eagerness, function) in table {
        vm.bind(&format!("{prototype}.{name}"), eagerness, Function::Plain(function));
    }
}

/// How the host is told a path, a command or a name: bytes as the program gave them, and text of wider items, which is what
/// a literal with other letters than ASCII is, as UTF-8.
fn told_bytes(sequence: &Sequence) -> Vec<u8> {
    match sequence.item_size() {
        1 => sequence.as_bytes().to_vec(),
        _ => sequence.as_utf8().as_bytes().to_vec(),
    }
}

/// The same of an argument.
fn bytes_for_host(vm: &mut Vm, args: &Args, index: usize) -> Result<Vec<u8>, Signal> {
    match vm.sequence_of(args.value(vm, index)) {
        Some(sequence) => Ok(told_bytes(sequence)),
        None => Err(args.wrong(vm, index, "Sequence")),
    }
}

/// An argument as it is written to a file: text as UTF-8, however wide its items are, numbers and what is only bytes as they are.
fn bytes_to_write(vm: &mut Vm, args: &Args, index: usize) -> Result<Vec<u8>, Signal> {
    let value = args.value(vm, index);
    match vm.sequence_of(value) {
        Some(sequence) if sequence.encoding().is_text() => return Ok(told_bytes(sequence)),
        Some(sequence) => return Ok(sequence.as_bytes().to_vec()),
        None => {}
    }
    vm.simple_text(value).map(String::into_bytes).ok_or_else(|| args.wrong(vm, index, "Sequence"))
}

fn os_argument(vm: &mut Vm, args: &Args, index: usize) -> Result<OsString, Signal> {
    bytes_for_host(vm, args, index).map(os_string)
}

fn os_string(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

/// The slot `path`, as the program gave it.
fn set_path(vm: &mut Vm, args: &Args) -> Result<(), Signal> {
    let Some(path) = vm.sequence_of(args.value(vm, 0)).cloned() else { return Err(args.wrong(vm, 0, "Sequence")) };
    let path = vm.immutable(path);
    vm.set_slot(args.target, "path", path);
    Ok(())
}

fn symbol_of_os(vm: &mut Vm, text: &std::ffi::OsStr) -> Value {
    use std::os::unix::ffi::OsStrExt;
    vm.immutable(Sequence::from_bytes(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function whose name the language does not know would be bound to a primitive that no prototype has.
    #[test]
    fn handing_in_binds_functions_and_writes_nothing() {
        let mut vm = Vm::default();
        let names = Vm::primitive_names;
        let (before, objects) = (names(&vm), vm.heap().object_count());
        Capabilities::all().install(&mut vm);
        assert_eq!(names(&vm), before);
        assert_eq!(vm.heap().object_count(), objects);
    }
}
