//! What is written about the slots of the library, and of what genesis makes. Reads texts only; what a machine knows is asked for
//! in `help`.

use crate::cambrian::GENESIS;

/// One documented slot: `List select(element, expression)` and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub prototype: &'static str,
    pub slot: &'static str,
    /// `(element, expression)`, or nothing.
    pub arguments: &'static str,
    pub words: &'static str,
}

impl Entry {
    /// `List select(element, expression)`
    pub fn signature(&self) -> String {
        format!("{} {}{}", self.prototype, self.slot, self.arguments)
    }

    /// What it does, in one sentence.
    pub fn sentence(&self) -> &'static str {
        self.words.find(". ").map_or(self.words, |end| &self.words[..=end])
    }
}

/// Everything that is documented.
pub fn entries() -> impl Iterator<Item = Entry> {
    let genesis = language::documentation_in(GENESIS);
    language::documentation().chain(genesis).map(|(prototype, text)| entry(prototype, text))
}

/// What is written about one slot of a prototype.
pub fn find(prototype: &str, slot: &str) -> Option<Entry> {
    entries().find(|entry| entry.prototype == prototype && entry.slot == slot)
}

/// Whether anything is written about a prototype.
pub fn is_documented(prototype: &str) -> bool {
    entries().any(|entry| entry.prototype == prototype)
}

/// What `//metadoc List description …` says of a prototype.
pub fn description(prototype: &str) -> Option<&'static str> {
    let wanted = format!("//metadoc {prototype} description ");
    let sources = language::library_sources().map(|(_, source)| source).chain([GENESIS]);
    sources.flat_map(str::lines).find_map(|line| line.trim().strip_prefix(&wanted))
}

/// Reads `select(element, test) Returns …`.
fn entry(prototype: &'static str, text: &'static str) -> Entry {
    let name_end = text.find([' ', '(']).unwrap_or(text.len());
    let arguments_end = match text[name_end..].starts_with('(') {
        true => text[name_end..].find(')').map_or(text.len(), |close| name_end + close + 1),
        false => name_end,
    };
    Entry {
        prototype,
        slot: &text[..name_end],
        arguments: &text[name_end..arguments_end],
        words: text[arguments_end..].trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_line_of_documentation() {
        let entry = entry("List", "select(element, test) Returns those that pass. All of them.");
        assert_eq!((entry.slot, entry.signature().as_str()), ("select", "List select(element, test)"));
        assert_eq!(entry.sentence(), "Returns those that pass.");
        assert_eq!(super::entry("List", "size Returns the number.").arguments, "");
    }

    #[test]
    fn io_and_rust_are_documented_alike() {
        assert_eq!(find("List", "append").map(|entry| entry.arguments), Some("(values, ...)"));
        assert!(find("List", "select").is_some());
        assert_eq!(find("List", "frobnicate"), None);
    }
}
