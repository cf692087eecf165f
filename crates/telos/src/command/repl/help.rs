//! `help`: what is written about prototypes and slots, and what the machine knows of the rest. Looks only: asking for
//! help never runs a program.

use crate::documentation::{self, Entry};
use crate::hint::nearest;
use language::{Value, Vm};

const OVERVIEW: &str = "\
Type Io; the value of each line is shown, text in quotes. Brackets and strings
that are still open go on in the next line.

  help List            the slots of a prototype, or of an object of yours
  help List append     one of them
  help append          every slot of that name
  exit                 leave; so does Ctrl-D
  Tab                  complete the name of a slot
  Ctrl-C               stop what runs, or clear the line

  x := 1               makes a slot          \"text\" println     prints a line
  x = 2                changes it            list(1, 2) at(0)   reads an item
  f := method(a, b, a + b)                   if(x > 1, \"yes\", \"no\")

Prototypes: ";

/// Where a description begins, unless the signature is longer.
const INDENT: usize = 34;
const WIDTH: usize = 80;

/// What `help` and the words after it say.
pub fn text(vm: &mut Vm, words: &[&str]) -> String {
    match words {
        [] => format!("{OVERVIEW}{}", wrapped(&prototypes().join(" "), "Prototypes: ".len(), 0)),
        [word] if documentation::is_documented(word) => about_prototype(word),
        [word] => match named(vm, word) {
            Some(object) => about_object(vm, word, object),
            None => about_name(vm, word),
        },
        [prototype, slot, ..] => about_slot(vm, prototype, slot),
    }
}

/// The object of the Lobby with this name, unless it is a method.
fn named(vm: &mut Vm, name: &str) -> Option<Value> {
    let lobby = vm.lobby();
    vm.get_slot(lobby, name).filter(|&value| !vm.is_activatable(value))
}

/// A prototype of the library: what it is, and its documented slots.
fn about_prototype(name: &str) -> String {
    let entries = documentation::entries().filter(|entry| entry.prototype == name && !entry.slot.is_empty());
    let lines = entries.map(|entry| (format!("{}{}", entry.slot, entry.arguments), entry.sentence().to_string()));
    let about = documentation::description(name).map(|words| wrapped(words, 0, 0) + "\n\n").unwrap_or_default();
    about + &listed(name, lines.collect())
}

/// An object of the program: its own slots, as far as the machine knows them.
fn about_object(vm: &mut Vm, name: &str, object: Value) -> String {
    let type_name = vm.type_name(object);
    if type_name != name && documentation::is_documented(&type_name) && type_name != "Object" {
        return format!("{name} is of type {type_name}.\nhelp {type_name} lists what it can do.");
    }
    let slots = vm.own_names(object);
    let lines = slots.iter().map(|slot| (signature(vm, object, slot), String::new())).collect();
    format!("{name} is an object of this program.\n\n{}", listed(name, lines))
}

/// Slots in alphabetical order, operators last.
fn listed(name: &str, mut lines: Vec<(String, String)>) -> String {
    lines.sort_by_key(|(signature, _)| (!signature.starts_with(char::is_alphabetic), signature.to_lowercase()));
    let slots: String = lines.iter().map(|(signature, words)| line(signature, words)).collect();
    let example = lines.first().map_or("SLOT", |(signature, _)| signature.split('(').next().unwrap_or("SLOT"));
    format!("{slots}\nhelp {name} {example} says more about one of them.")
}

/// A slot of some prototype: found where the object itself would find it.
fn about_slot(vm: &mut Vm, prototype: &str, slot: &str) -> String {
    let Some(object) = named(vm, prototype) else {
        // A part of the library that is loaded when it is first named.
        if let Some(entry) = documentation::find(prototype, slot) {
            return details(&entry);
        }
        return unknown(prototype, &prototypes().iter().map(|name| name.to_string()).collect::<Vec<_>>());
    };
    let lineage = vm.ancestor_types(object);
    let found =
        std::iter::once(prototype.to_string()).chain(lineage).find_map(|holder| documentation::find(&holder, slot));
    if let Some(entry) = found {
        return details(&entry);
    }
    if vm.get_slot(object, slot).is_some() {
        return format!("{prototype} {}\n    Nothing is written about it.", signature(vm, object, slot));
    }
    let names = vm.visible_names(object);
    unknown(&format!("{prototype} {slot}"), &names)
}

/// A name that is no object: every slot that is called so.
fn about_name(vm: &mut Vm, name: &str) -> String {
    let found: Vec<String> =
        documentation::entries().filter(|entry| entry.slot == name).map(|entry| details(&entry)).collect();
    if !found.is_empty() {
        return found.join("\n");
    }
    let lobby = vm.lobby();
    if vm.get_slot(lobby, name).is_some() {
        return format!("{}\n    A method of this program.", signature(vm, lobby, name));
    }
    let mut names: Vec<String> = prototypes().iter().map(|name| name.to_string()).collect();
    names.extend(documentation::entries().map(|entry| entry.slot.to_string()));
    unknown(name, &names)
}

fn unknown(asked: &str, names: &[String]) -> String {
    let last = asked.split(' ').next_back().unwrap_or(asked);
    let before = asked.strip_suffix(last).unwrap_or("");
    match nearest(last, names) {
        Some(name) => format!("There is no \"{asked}\". Did you mean: help {before}{name}"),
        None => format!("There is no \"{asked}\". Try: help, or help List"),
    }
}

fn details(entry: &Entry) -> String {
    format!("{}\n    {}", entry.signature(), wrapped(entry.words, 4, 4))
}

/// A slot of a program as far as the machine knows it: `deposit(amount)`
fn signature(vm: &mut Vm, object: Value, slot: &str) -> String {
    let value = vm.get_slot(object, slot).unwrap_or(Value::NIL);
    match vm.argument_names(value) {
        Some(names) if !names.is_empty() => format!("{slot}({})", names.join(", ")),
        _ => slot.to_string(),
    }
}

fn line(signature: &str, words: &str) -> String {
    if words.is_empty() {
        return format!("  {signature}\n");
    }
    let gap = match signature.chars().count() + 4 > INDENT {
        true => format!("\n{:INDENT$}", ""),
        false => String::new(),
    };
    format!("  {signature:width$}{gap}{}\n", wrapped(words, INDENT, INDENT), width = INDENT - 2)
}

/// Breaks text into lines, the first of which begins at one column and the others at another.
fn wrapped(text: &str, first: usize, others: usize) -> String {
    let mut lines = String::new();
    let mut column = first;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column + length >= WIDTH && column > others {
            lines.truncate(lines.trim_end().len());
            lines.push_str(&format!("\n{:others$}", ""));
            column = others;
        }
        lines.push_str(word);
        lines.push(' ');
        column += length + 1;
    }
    lines.trim_end().to_string()
}

fn prototypes() -> Vec<&'static str> {
    let mut names: Vec<&str> = documentation::entries().map(|entry| entry.prototype).collect();
    names.sort_unstable();
    names.dedup();
    names
}
