//! The standard library that is written in Io, and the order in which it is loaded.

use crate::vm::Vm;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$((concat!("library:", $name), include_str!(concat!("../../../stdlib/", $name)))),*]
    };
}

/// Each file with its label, in load order: a file may use what the ones before it define while it is loaded. The labels
/// are no file names, so that a program's own List.io is not taken for the library's.
const FILES: &[(&str, &str)] = files![
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
    "Date.io",
    "File.io",
    "Directory.io",
    "Dream.io",
    "Http.io",
];

/// What few programs need is loaded when it is first named, so that no start pays for it.
const LATE: &[(&str, &str)] = files!["Verification.io"];

macro_rules! documents {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../stdlib/doc/", $name, ".txt")))),*]
    };
}

/// What the primitives of each prototype do, one line each: `slot(arguments) What it does.` Data for people, which a
/// machine never reads: starting one costs nothing more.
const DOCUMENTS: &[(&str, &str)] = documents![
    "Block",
    "CFunction",
    "Call",
    "Collector",
    "Coroutine",
    "Counter",
    "Date",
    "Directory",
    "Dream",
    "Duration",
    "EvalFrame",
    "Exception",
    "File",
    "Http",
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
    "World",
];

/// The files of the library, each with the label that its messages have.
pub fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().chain(LATE).copied()
}

/// The source of a prototype that is loaded when it is first named.
pub fn late(prototype: &str) -> Option<&'static str> {
    let is_its =
        |label: &str| label.strip_prefix("library:").and_then(|file| file.strip_suffix(".io")) == Some(prototype);
    LATE.iter().find(|(label, _)| is_its(label)).map(|(_, source)| *source)
}

/// The documented slots of the library, each with its prototype: `slot(arguments) What it does.` Those that are written
/// in Io have a `//doc` comment in their source, the primitives a line in the file of their prototype.
pub fn documentation() -> impl Iterator<Item = (&'static str, &'static str)> {
    let primitives = DOCUMENTS.iter().flat_map(|(name, text)| text.lines().map(move |line| (*name, line)));
    sources().flat_map(|(_, source)| documentation_in(source)).chain(primitives)
}

/// What is documented in a source: `//doc List select(element, test) Returns …`.
pub fn documentation_in(source: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    source.lines().filter_map(|line| line.trim().strip_prefix("//doc ")?.split_once(' '))
}

/// Evaluates the library in Core. The library is part of this crate, so an error in it is ours.
pub fn load(vm: &mut Vm) {
    // The library fills it, and nothing made it before.
    vm.prototype("Error");
    let core = vm.core();
    for (label, source) in FILES {
        if let Err(error) = vm.evaluate_in(core, source, label) {
            panic!("the standard library does not load: {error}");
        }
    }
}
