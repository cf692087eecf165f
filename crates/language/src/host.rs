//! What the embedder hands in: the only way from a program to the world. A machine without any of it still runs every
//! program that needs none, and says what it lacks when a program needs some.

use crate::primitives::{Args, Function, NONE, ONE, Row};
use crate::signal::{Halt, Outcome};
use crate::vm::Vm;
use object::{Data, Kind, Value};
use std::any::Any;
use std::ops::RangeInclusive;

/// Where a program's output goes.
pub trait Output {
    fn write(&mut self, bytes: &[u8]);
}

/// The local time zone. Without one, dates are in UTC.
pub trait Zone {
    /// What holds at an instant, in seconds since 1970.
    fn at(&self, seconds: f64) -> ZoneAt;
}

/// A time zone at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneAt {
    /// East of Greenwich.
    pub offset_seconds: i32,
    pub name: String,
    pub is_daylight_saving: bool,
}

/// Capabilities, each absent unless handed in.
#[derive(Default)]
pub struct Host {
    pub output: Option<Box<dyn Output>>,
    pub zone: Option<Box<dyn Zone>>,
    /// What the embedder's own primitives share.
    pub extra: Option<Box<dyn Any>>,
}

impl Host {
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        if let Some(output) = &mut self.output {
            output.write(bytes);
        }
    }
}

/// Primitives that only the embedder can bring to life, by prototype and by what they need. A row that all machines know
/// raises until its function is bound: the slots are always there, so that an image knows nothing of who opens it.
const WITHHELD: &[(&str, &str, &[&str])] = &[
    ("Date", "clock", &["now", "clock", "secondsSinceNow", "isPast"]),
    ("Directory", "files", DIRECTORY),
    ("Dream", "dreams", &["order", "mergeOf", "pageOf", "keepOf", "discardOf"]),
    ("File", "files", FILE),
    ("File", "processes", &["popen"]),
    ("Http", "network", &["ask"]),
    ("Random", "randomness", &["systemValue"]),
    ("System", "clock", &["sleep"]),
    ("System", "environment", &["getEnvironmentVariable", "setEnvironmentVariable"]),
    ("System", "processes", &["system", "systemOutput", "thisProcessPid"]),
    ("System", "system", &["platform", "platformVersion", "activeCpus", "installPrefix", "version", "distribution"]),
];

const DIRECTORY: &[&str] = &[
    "setPath",
    "name",
    "exists",
    "items",
    "size",
    "at",
    "create",
    "createSubdirectory",
    "currentWorkingDirectory",
    "setCurrentWorkingDirectory",
];

const FILE: &[&str] = &[
    "setPath",
    "name",
    "standardInput",
    "standardOutput",
    "standardError",
    "temporaryFile",
    "mode",
    "open",
    "openForReading",
    "openForUpdating",
    "openForAppending",
    "reopen",
    "close",
    "isOpen",
    "descriptor",
    "descriptorId",
    "contents",
    "asBuffer",
    "readLine",
    "readLines",
    "readBufferOfLength",
    "readStringOfLength",
    "readToBufferLength",
    "at",
    "atPut",
    "write",
    "flush",
    "rewind",
    "setPosition",
    "position",
    "positionAtEnd",
    "isAtEnd",
    "remove",
    "moveTo",
    "truncateToSize",
    "exists",
    "stat",
    "size",
    "protectionMode",
    "userId",
    "groupId",
    "lastAccessDate",
    "lastInfoChangeDate",
    "lastDataChangeDate",
    "isDirectory",
    "isRegularFile",
    "isPipe",
    "isSocket",
    "isUserExecutable",
    "isLink",
];

/// What a program asks to know whether it was given something, and a primitive that is bound if it was.
const AVAILABLE: &[(&str, &str)] = &[
    ("Directory.isAvailable", "Directory.items"),
    ("Dream.isAvailable", "Dream.order"),
    ("File.isAvailable", "File.open"),
    ("Http.isAvailable", "Http.ask"),
    ("Random.isAvailable", "Random.systemValue"),
    ("System.isAvailable", "System.platform"),
];

/// Of System, what concerns this machine only: it touches nothing, so it needs no permission.
const MACHINE: &[Row] = &[
    ("exit", ONE, exit),
    ("symbols", NONE, |vm, _| {
        vm.heap.note_machine();
        let symbols: Vec<Value> = vm.heap.symbols().map(Value::object).collect();
        vm.charge(symbols.len())?;
        Ok(vm.list(symbols))
    }),
    // Nothing is recycled here: the heap reuses places by itself.
    ("recycledObjectCount", NONE, |_, _| Ok(Value::number(0.0))),
    ("maxRecycledObjects", NONE, |_, _| Ok(Value::number(0.0))),
    ("setMaxRecycledObjects", ONE, |_, args| Ok(args.target)),
    ("setLobby", ONE, |vm, _| Err(vm.raise("'setLobby' is not supported: the Lobby is the root of this machine"))),
    ("daemon", NONE, |vm, _| Err(vm.raise("'daemon' is not supported: start the program with setsid or a service"))),
    ("errorNumber", NONE, |_, _| Ok(Value::NIL)),
    // What the program was started with: nothing, unless the embedder says otherwise.
    ("args", NONE, |vm, _| Ok(vm.list([]))),
    ("launchScript", NONE, |_, _| Ok(Value::NIL)),
    ("launchPath", NONE, |_, _| Ok(Value::NIL)),
];

/// Knows the primitives that belong to the host, and which it lacks.
pub(crate) fn register(vm: &mut Vm) {
    for &(owner, what, names) in WITHHELD {
        let refusal = refusal_of(what);
        for name in names {
            vm.withhold(&format!("{owner}.{name}"), &refusal);
        }
    }
    for &(name, asked) in AVAILABLE {
        vm.bind_own(name, NONE, Function::shared(move |vm, _| Ok(Value::boolean(vm.is_bound(asked)))));
    }
    for &(name, eagerness, function) in MACHINE {
        vm.bind_own(&format!("System.{name}"), eagerness, Function::Plain(function));
    }
}

fn refusal_of(what: &'static str) -> Function {
    Function::shared(move |vm, _| {
        vm.heap.note_host();
        let slots = [("withheldCapability", vm.symbol(what))];
        Err(vm.raise_with(format!("this machine was given no {what}"), &slots))
    })
}

/// What is in the slots of the host's prototypes beside primitives.
pub(crate) fn install(vm: &mut Vm) {
    for (prototype, slot, text) in [("File", "path", ""), ("File", "openMode", "update"), ("Directory", "path", ".")] {
        let (prototype, text) = (vm.prototype(prototype), vm.symbol(text));
        vm.set_slot(prototype, slot, text);
    }
}

impl Vm {
    /// Takes back all that the embedder bound to primitives of the host: they refuse again, until it is bound anew.
    pub fn withhold_host(&mut self) {
        register(self);
    }

    /// What the embedder's primitives share, if it is a `T`.
    pub fn extra<T: 'static>(&mut self) -> Option<&mut T> {
        self.host.extra.as_mut().and_then(|extra| extra.downcast_mut())
    }

    /// The prototype of this name in Core, made if there is none.
    pub fn prototype(&mut self, name: &str) -> Value {
        let (core, symbol) = (self.protos.core, self.heap.intern(name));
        if let Some(prototype) = self.heap.own_slot(core, symbol) {
            return prototype;
        }
        let prototype = self.heap.clone_of(self.protos.object, Kind::Object, Data::None);
        self.heap.set_slot(core, symbol, Value::object(prototype));
        self.heap.set_slot(prototype, self.names.type_, Value::object(symbol));
        Value::object(prototype)
    }
}

/// What the host's processes can end with. Negative codes are the same from the other end, as shells show them: -1 is 255.
const EXIT_CODES: RangeInclusive<f64> = -255.0..=255.0;

/// A code beyond those a process can end with would lose its higher bits, and 256 would look like success.
fn exit(vm: &mut Vm, args: Args) -> Outcome {
    let code = args.optional_number(vm, 0)?.unwrap_or(0.0);
    if code.fract() != 0.0 || !EXIT_CODES.contains(&code) {
        let given = object::number_text::format_number(code);
        return Err(vm.raise(format!("an exit code is a whole number from 0 to 255, or from -255 to -1, not {given}")));
    }
    Err(Halt::Exit { code: (code as i16).rem_euclid(256) as u8 }.into())
}
