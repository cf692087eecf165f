//! Guesses what the author of a failing program meant. Says nothing rather than something silly.

use language::{Exception, Vm};

/// Names less alike than this are no typing errors.
const LEAST_LIKENESS: f64 = 0.7;

/// A line of help for an exception, if there is one that helps.
pub fn for_exception(vm: &mut Vm, exception: &Exception) -> Option<String> {
    if let Some(what) = exception.message.strip_prefix("this machine was given no ") {
        return Some(match what {
            "system" => "start it without --no-host".to_string(),
            "clock" | "files" | "environment" | "processes" | "randomness" => {
                format!("start it without --no-host and without --deny {what}")
            }
            _ => return None,
        });
    }
    if exception.message.starts_with("Slot ") && exception.message.contains("Must define slot using :=") {
        let name = exception.message.split(' ').nth(1).unwrap_or("x");
        return Some(format!("\"{name} := …\" makes the slot, \"=\" only changes one that is there"));
    }
    let unknown = vm.unknown_message(exception).filter(|unknown| unknown.name.len() <= LONGEST_NAME_BYTES)?;
    let mut names = vm.visible_names(unknown.target);
    // A name that was meant for somebody else is often one of the Lobby's.
    names.extend(vm.visible_names(vm.lobby()));
    nearest(&unknown.name, &names).map(|name| format!("did you mean '{name}'?"))
}

/// Nobody mistypes a name of this length: it is data that was taken for code.
const LONGEST_NAME_BYTES: usize = 100;

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
