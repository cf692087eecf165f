//! Guesses what the author of a failing program meant. Says nothing rather than something silly.

use crate::documentation;
use crate::habit;
use crate::host::Capability;
use crate::session::Session;
use clap::ValueEnum;
use language::syntax::OperatorTable;
use language::{Exception, Value, Vm, problem};

/// Longer names are nobody's typing error: they are data that was taken for code.
const NAME_CHARACTERS_MAX: usize = 64;

/// A line of help for an exception, if there is one that helps.
pub fn for_exception(session: &mut Session, exception: &Exception) -> Option<String> {
    withheld(session, exception)
        .or_else(|| missing_slot(&mut session.vm, exception))
        .or_else(|| problem(&mut session.vm, exception))
        .or_else(|| missing_brackets(session, exception))
        .or_else(|| glued(session, exception))
        .or_else(|| missing_argument(&mut session.vm, exception))
        .or_else(|| unknown(&mut session.vm, exception))
}

/// `if x > 3 …` asks what `if` without a condition answers, which is false, for `x`.
fn missing_brackets(session: &mut Session, exception: &Exception) -> Option<String> {
    let is_false = session.vm.unknown_message(exception).is_some_and(|unknown| unknown.target == Value::FALSE);
    let (before, _) = around(session, exception).filter(|_| is_false)?;
    let is_if =
        before.split(|character: char| !character.is_alphanumeric()).rfind(|word| !word.is_empty()) == Some("if");
    is_if.then(|| "the condition stands in brackets: if(x > 1, \"yes\", \"no\")".to_string())
}

/// The text of the line before and from the place of an exception.
fn around(session: &Session, exception: &Exception) -> Option<(String, String)> {
    let place = exception.trace.entries.first()?;
    let source = session.source_of(&place.label)?;
    let line = source.lines().nth(place.line.checked_sub(1)? as usize)?;
    let column = line.char_indices().nth(place.column.checked_sub(1)? as usize).map_or(line.len(), |(at, _)| at);
    Some((line[..column].to_string(), line[column..].to_string()))
}

/// `y:=-1` asks the Lobby for `y`, and then whatever that is for `:=-`.
fn glued(session: &mut Session, exception: &Exception) -> Option<String> {
    session.vm.unknown_message(exception)?;
    let (_, text) = around(session, exception)?;
    let table = OperatorTable::default();
    habit::glued(&text, |operator| table.precedence(operator).is_some() || table.assignment(operator).is_some())
}

/// An argument that was left out is nil, and nil answers little.
fn missing_argument(vm: &mut Vm, exception: &Exception) -> Option<String> {
    vm.unknown_message(exception).filter(|unknown| unknown.target.is_nil())?;
    let (method, missing) = vm.missing_arguments(exception)?;
    let missing: Vec<String> = missing.iter().map(|name| format!("'{name}'")).collect();
    Some(format!("'{method}' was called without {}, which is nil then", missing.join(" and ")))
}

fn withheld(session: &mut Session, exception: &Exception) -> Option<String> {
    let what = text_in(&mut session.vm, exception, "withheldCapability")?;
    let capability = Capability::from_str(&what, false).ok()?;
    match capability {
        Capability::Dreams | Capability::Network => None,
        // The session has it: it is withheld for as long as a world dream goes on.
        _ if session.capabilities().has(capability) => {
            Some("a world dream is given nothing of the host: --rung process gives it a sealed process".to_string())
        }
        _ => Some(format!("start it without --no-host and without --deny {what}")),
    }
}

fn missing_slot(vm: &mut Vm, exception: &Exception) -> Option<String> {
    let name = text_in(vm, exception, "missingSlot")?;
    habit::dotted(&name)
        .or_else(|| Some(format!("\"{name} := …\" makes the slot, \"=\" only changes one that is there")))
}

/// What to do about a problem that the exception itself names.
fn problem(vm: &mut Vm, exception: &Exception) -> Option<String> {
    let method = text_in(vm, exception, "problemMethod").unwrap_or_default();
    match text_in(vm, exception, "problem")?.as_str() {
        problem::DEPTH => Some("does the recursion end? --depth N allows more".to_string()),
        problem::NOT_NUMBERS => Some(match exception.trace.entries.first().map(|entry| entry.name.as_str()) {
            Some("*") => "text is repeated with \"a\" repeated(3)".to_string(),
            _ => "text is joined with \"..\": \"a\" .. 1".to_string(),
        }),
        problem::NO_SLOTS => Some("an expression ends with its line or with \";\": x := 1; y := 2".to_string()),
        problem::IMMUTABLE => Some(format!("\"text\" asMutable {method} works on a copy that can be changed")),
        problem::ARGUMENT => {
            let is_text = text_in(vm, exception, "problemValue").is_some();
            match method == "Number +" && is_text {
                true => Some("\"..\" joins text, and \"1\" asNumber makes a number of it".to_string()),
                false => signature(&method),
            }
        }
        _ => None,
    }
}

/// How a method of the library is used whose arguments were wrong or missing.
fn signature(method: &str) -> Option<String> {
    let (prototype, slot) = method.split_once(' ').unwrap_or(("Object", method));
    let entry = documentation::find(prototype, slot)?;
    Some(format!("{}: {}", entry.signature(), entry.sentence()))
}

fn unknown(vm: &mut Vm, exception: &Exception) -> Option<String> {
    let unknown = vm.unknown_message(exception).filter(|unknown| unknown.name.len() <= 4 * NAME_CHARACTERS_MAX)?;
    // `a[0] = 1` asks for the slot of that name where it would assign.
    let is_assigned = exception.trace.entries.get(1).is_some_and(|entry| entry.name == "updateSlot");
    if unknown.name == "squareBrackets" && is_assigned {
        return Some("an item is changed with atPut: a atPut(0, 1)".to_string());
    }
    if unknown.name == "Telos" && unknown.target == vm.lobby() {
        return Some("Telos is in an image that is up: telos up DIR, then telos send --image DIR".to_string());
    }
    let mut names = vm.visible_names(unknown.target);
    if let Some(advice) = habit::advice(&unknown.name, unknown.target == vm.lobby(), &names) {
        return Some(advice);
    }
    // A name that was meant for somebody else is often one of the Lobby's.
    names.extend(vm.visible_names(vm.lobby()));
    nearest(&unknown.name, &names).map(|name| format!("did you mean '{name}'?"))
}

/// The text in a slot of an exception.
fn text_in(vm: &mut Vm, exception: &Exception, slot: &str) -> Option<String> {
    let value = vm.get_slot(exception.value, slot)?;
    vm.text_of(value)
}

/// The name that is most like what was written. Earlier names win over later ones.
pub fn nearest<'n>(written: &str, names: &'n [String]) -> Option<&'n str> {
    let length = written.chars().count();
    // Short names are all alike: of those, only letters that changed places or case count.
    let most = match length {
        0..=3 => 0,
        4 => 1,
        5..=NAME_CHARACTERS_MAX => 2,
        _ => return None,
    };
    let mut best: Option<(usize, &str)> = None;
    for name in names.iter().filter(|name| *name != written && !name.is_empty()) {
        let distance = match name.eq_ignore_ascii_case(written) {
            true => 0,
            false if is_shuffled(written, name) => 1,
            false => match strsim::damerau_levenshtein(written, name) {
                distance if distance <= most => distance,
                _ => continue,
            },
        };
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

/// Whether two neighbours changed places: `ofr` for `for`.
fn is_shuffled(written: &str, name: &str) -> bool {
    let (written, name): (Vec<char>, Vec<char>) = (written.chars().collect(), name.chars().collect());
    let differing: Vec<usize> =
        written.iter().zip(&name).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at).collect();
    match differing[..] {
        [first, second] if written.len() == name.len() && second == first + 1 => {
            written[first] == name[second] && written[second] == name[first]
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_nothing_else() {
        let names: Vec<String> =
            ["append", "at", "println", "size", "asString", "for", "sort", "sortKey"].map(String::from).into();
        assert_eq!(nearest("appendd", &names), Some("append"));
        assert_eq!(nearest("prinltn", &names), Some("println"));
        assert_eq!(nearest("asstring", &names), Some("asString"));
        assert_eq!(nearest("sorted", &names), Some("sort"));
        assert_eq!(nearest("sise", &names), Some("size"));
        assert_eq!(nearest("ofr", &names), Some("for"));
        for silly in ["frobnicate", "xy", "foo", "bar", "fo", "a", &"x".repeat(100_000)] {
            assert_eq!(nearest(silly, &names), None);
        }
    }
}
