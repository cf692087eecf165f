//! Help from the `//doc` comments of the standard library.

/// One documented slot: `List select(element, expression)` and what it does.
struct Entry {
    prototype: String,
    slot: String,
    signature: String,
    words: String,
}

const OVERVIEW: &str = "\
Type Io; the value of each line is shown. Brackets and strings that are still open go on in the next line.

  help List            the documented slots of a prototype
  help List select     one of them
  help select          every slot of that name
  exit                 leave; so does Ctrl-D
  Tab                  complete the name of a slot
  Ctrl-C               stop what runs, or clear the line

Prototypes: ";

/// What `help` and the words after it say.
pub fn text(words: &[&str]) -> String {
    let entries = entries();
    match words {
        [] => format!("{OVERVIEW}{}", prototypes(&entries)),
        [word] => {
            let of_prototype: Vec<&Entry> = entries.iter().filter(|entry| entry.prototype == *word).collect();
            if of_prototype.is_empty() {
                details(entries.iter().filter(|entry| entry.slot == *word).collect(), word)
            } else {
                let about = description(word).map(|words| format!("{words}\n\n")).unwrap_or_default();
                let slots: String = of_prototype.iter().map(|entry| format!("  {}\n", entry.signature)).collect();
                format!("{about}{slots}\nhelp {word} SLOT says what one of them does.")
            }
        }
        [prototype, slot, ..] => {
            let found = entries.iter().filter(|entry| entry.prototype == *prototype && entry.slot == *slot);
            details(found.collect(), &format!("{prototype} {slot}"))
        }
    }
}

fn details(found: Vec<&Entry>, asked: &str) -> String {
    if found.is_empty() {
        return format!("Nothing is written about \"{asked}\". Try: help, help List, or {asked} slotNames");
    }
    found.iter().map(|entry| format!("{}\n    {}", entry.signature, entry.words)).collect::<Vec<_>>().join("\n")
}

/// What `//metadoc List description …` says of a prototype.
fn description(prototype: &str) -> Option<&'static str> {
    let wanted = format!("//metadoc {prototype} description ");
    language::library_sources()
        .flat_map(|(_, source)| source.lines())
        .find_map(|line| line.trim().strip_prefix(&wanted))
}

fn prototypes(entries: &[Entry]) -> String {
    let mut names: Vec<&str> = entries.iter().map(|entry| entry.prototype.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(" ")
}

fn entries() -> Vec<Entry> {
    language::library_sources().flat_map(|(_, source)| source.lines().filter_map(entry)).collect()
}

/// Reads `//doc List select(a, b) Returns …`.
fn entry(line: &str) -> Option<Entry> {
    let text = line.trim().strip_prefix("//doc ")?;
    let (prototype, rest) = text.split_once(' ')?;
    let name_end = rest.find([' ', '(']).unwrap_or(rest.len());
    let signature_end = match rest[name_end..].starts_with('(') {
        true => rest[name_end..].find(')').map_or(rest.len(), |close| name_end + close + 1),
        false => name_end,
    };
    Some(Entry {
        prototype: prototype.to_string(),
        slot: rest[..name_end].to_string(),
        signature: format!("{prototype} {}", &rest[..signature_end]),
        words: rest[signature_end..].trim().to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_comment_of_the_library() {
        let entry = entry("    //doc List select(element, test) Returns those that pass.").unwrap();
        assert_eq!((entry.prototype.as_str(), entry.slot.as_str()), ("List", "select"));
        assert_eq!(entry.signature, "List select(element, test)");
        assert_eq!(entry.words, "Returns those that pass.");
    }
}
