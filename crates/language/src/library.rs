//! The standard library that is written in Io, and the order in which it is loaded.

use crate::vm::Vm;
use object::{Data, Kind, Value};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../stdlib/", $name)))),*]
    };
}

type Files = &'static [(&'static str, &'static str)];

/// Each file with its name, in load order: a file may use what the ones before it define while it is loaded.
const FILES: Files = files![
    "Object.io",
    "Sequence.io",
    "Block.io",
    "Call_Message.io",
    "Exception.io",
    "Coroutine.io",
    "Actor.io",
    "List.io",
    "Map.io",
    "Number.io",
    "OperatorTable.io",
    "Json.io",
    "Serialize.io",
    "Random.io",
    "Regex.io",
    "Path.io",
    "System.io",
    "UnitTest.io",
    "Importer.io",
];

/// The part of the library that is about what the host hands in: each file is loaded if the prototype is there.
const HOST_FILES: &[(&str, Files)] =
    &[("Date", files!["Date.io"]), ("File", files!["File.io"]), ("Directory", files!["Directory.io"])];

macro_rules! documents {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../stdlib/doc/", $name, ".txt")))),*]
    };
}

/// What the primitives of each prototype do, one line each: `slot(arguments) What it does.` Data for people, which a
/// machine never reads: starting one costs nothing more.
const DOCUMENTS: Files = documents![
    "Block",
    "CFunction",
    "Call",
    "Collector",
    "Coroutine",
    "Date",
    "Directory",
    "Duration",
    "EvalFrame",
    "Exception",
    "File",
    "Importer",
    "List",
    "Map",
    "Message",
    "Number",
    "Object",
    "Random",
    "Regex",
    "Sequence",
    "System",
    "WeakLink",
];

/// Prototypes that the library fills and nothing makes before.
const PROTOTYPES: &[&str] = &["Error", "Random", "Regex", "System"];

/// The files of the library, each with the label that its messages have.
pub fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    let host = HOST_FILES.iter().flat_map(|(_, files)| files.iter());
    FILES.iter().chain(host).copied()
}

/// The documented slots of the library, each with its prototype: `slot(arguments) What it does.` Those that are written
/// in Io have a `//doc` comment in their source, the primitives a line in the file of their prototype.
pub fn documentation() -> impl Iterator<Item = (&'static str, &'static str)> {
    let primitives = DOCUMENTS.iter().flat_map(|(name, text)| text.lines().map(move |line| (*name, line)));
    let comments = sources().flat_map(|(_, source)| source.lines());
    comments.filter_map(|line| line.trim().strip_prefix("//doc ")?.split_once(' ')).chain(primitives)
}

/// Evaluates the library in Core. The library is part of this crate, so an error in it is ours.
pub fn load(vm: &mut Vm) {
    let core = vm.core();
    for name in PROTOTYPES {
        if vm.get_slot(core, name).is_none() {
            let prototype = Value::object(vm.heap.clone_of(vm.protos.object, Kind::Object, Data::None));
            let type_name = vm.symbol(name);
            vm.set_slot(prototype, "type", type_name);
            vm.set_slot(core, name, prototype);
        }
    }
    load_files(vm, FILES);
    for (prototype, files) in HOST_FILES {
        if vm.get_slot(core, prototype).is_some() {
            load_files(vm, files);
        }
    }
}

fn load_files(vm: &mut Vm, files: Files) {
    for (name, source) in files {
        let core = vm.core();
        if let Err(error) = vm.evaluate_in(core, source, name) {
            panic!("the standard library does not load: {error}");
        }
    }
}
