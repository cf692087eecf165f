//! Guesses what the author of a failing program meant. Says nothing rather than something silly.

use language::{Exception, Vm};

/// Names less alike than this are no typing errors.
const LEAST_LIKENESS: f64 = 0.7;

/// A line of help for an exception, if there is one that helps.
pub fn for_exception(vm: &mut Vm, exception: &Exception) -> Option<String> {
    if let Some(what) = text_in(vm, exception, "withheldCapability") {
        return Some(match what.as_str() {
            "clock" | "files" | "environment" | "processes" | "randomness" | "system" => {
                format!("start it without --no-host and without --deny {what}")
            }
            _ => return None,
        });
    }
    if let Some(name) = text_in(vm, exception, "missingSlot") {
        return Some(format!("\"{name} := …\" makes the slot, \"=\" only changes one that is there"));
    }
    let unknown = vm.unknown_message(exception)?;
    let mut names = vm.visible_names(unknown.target);
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
fn nearest<'n>(written: &str, names: &'n [String]) -> Option<&'n str> {
    let mut best: Option<(f64, &str)> = None;
    for name in names {
        if name == written {
            continue;
        }
        let same_but_for_case = name.eq_ignore_ascii_case(written);
        let likeness = if same_but_for_case { 1.0 } else { strsim::normalized_damerau_levenshtein(written, name) };
        // Short names are all alike: ask for more of those.
        let least = if written.chars().count() <= 3 { 0.6 } else { LEAST_LIKENESS };
        if likeness >= least && best.is_none_or(|(most, _)| likeness > most) {
            best = Some((likeness, name));
        }
    }
    best.map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_nothing_else() {
        let names: Vec<String> = ["append", "at", "println", "size", "asString"].map(String::from).into();
        assert_eq!(nearest("appendd", &names), Some("append"));
        assert_eq!(nearest("prinltn", &names), Some("println"));
        assert_eq!(nearest("asstring", &names), Some("asString"));
        assert_eq!(nearest("frobnicate", &names), None);
        assert_eq!(nearest("xy", &names), None);
    }
}
