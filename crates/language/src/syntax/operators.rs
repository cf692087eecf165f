//! Which names are operators. A table is a value: a program may change its own, and parsing reads it only.

use std::collections::BTreeMap;

/// The binary operators with their precedences (0 binds tightest) and the assignment operators with the names of the
/// messages they become. Iterates in the order of the names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorTable {
    operators: BTreeMap<String, u8>,
    assign_operators: BTreeMap<String, String>,
    /// Whether any operator starts with this byte: most names are none, and one look tells.
    starts: [bool; 256],
}

impl OperatorTable {
    /// The loosest precedence that programs may use.
    pub const MAX_PRECEDENCE: u8 = 31;

    /// A table without operators.
    pub fn empty() -> Self {
        OperatorTable { operators: BTreeMap::new(), assign_operators: BTreeMap::new(), starts: [false; 256] }
    }

    /// Adds a binary operator, or changes its precedence.
    pub fn add_operator(&mut self, name: &str, precedence: u8) {
        self.operators.insert(name.to_owned(), precedence);
        self.note_starts();
    }

    /// Adds an assignment operator, or changes the message it becomes.
    pub fn add_assign_operator(&mut self, name: &str, message: &str) {
        self.assign_operators.insert(name.to_owned(), message.to_owned());
        self.note_starts();
    }

    /// Removes a binary operator and returns the precedence it had.
    pub fn remove_operator(&mut self, name: &str) -> Option<u8> {
        let removed = self.operators.remove(name);
        self.note_starts();
        removed
    }

    /// Removes an assignment operator and returns the message it became.
    pub fn remove_assign_operator(&mut self, name: &str) -> Option<String> {
        let removed = self.assign_operators.remove(name);
        self.note_starts();
        removed
    }

    /// The precedence of a binary operator.
    pub fn precedence(&self, name: &str) -> Option<u8> {
        if self.may_know(name) { self.operators.get(name).copied() } else { None }
    }

    /// The message that an assignment operator becomes.
    pub fn assignment(&self, name: &str) -> Option<&str> {
        if self.may_know(name) { self.assign_operators.get(name).map(String::as_str) } else { None }
    }

    /// The binary operators with their precedences, by name.
    pub fn operators(&self) -> impl Iterator<Item = (&str, u8)> {
        self.operators.iter().map(|(name, &precedence)| (name.as_str(), precedence))
    }

    /// The assignment operators with their messages, by name.
    pub fn assign_operators(&self) -> impl Iterator<Item = (&str, &str)> {
        self.assign_operators.iter().map(|(name, message)| (name.as_str(), message.as_str()))
    }

    fn may_know(&self, name: &str) -> bool {
        name.bytes().next().is_some_and(|first| self.starts[first as usize])
    }

    fn note_starts(&mut self) {
        self.starts = [false; 256];
        for name in self.operators.keys().chain(self.assign_operators.keys()) {
            if let Some(first) = name.bytes().next() {
                self.starts[first as usize] = true;
            }
        }
    }
}

impl Default for OperatorTable {
    /// Io's own operators.
    fn default() -> Self {
        let levels: [&[&str]; 15] = [
            &["?", "@", "@@"],
            &["**"],
            &["%", "*", "/"],
            &["+", "-"],
            &["<<", ">>"],
            &["<", "<=", ">", ">="],
            &["!=", "=="],
            &["&"],
            &["^"],
            &["|"],
            &["&&", "and"],
            &["or", "||"],
            &[".."],
            &["%=", "&=", "*=", "+=", "-=", "/=", "<<=", ">>=", "^=", "|="],
            &["return"],
        ];
        let mut table = Self::empty();
        for (names, precedence) in levels.iter().zip(0..) {
            table.operators.extend(names.iter().map(|&name| (name.to_owned(), precedence)));
        }
        for (name, message) in [(":=", "setSlot"), ("=", "updateSlot"), ("::=", "newSlot")] {
            table.assign_operators.insert(name.to_owned(), message.to_owned());
        }
        table.note_starts();
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_io_and_learns() {
        let mut table = OperatorTable::default();
        assert_eq!(table.precedence("**"), Some(1));
        assert_eq!(table.precedence("return"), Some(14));
        assert_eq!(table.precedence("retur"), None);
        assert_eq!(table.precedence(""), None);
        assert_eq!(table.assignment("::="), Some("newSlot"));
        table.add_operator("xor", 8);
        table.add_assign_operator(":", "atPutNumber");
        assert_eq!(table.precedence("xor"), Some(8));
        assert_eq!(table.assignment(":"), Some("atPutNumber"));
        assert_eq!(table.remove_operator("xor"), Some(8));
        assert_eq!(table.precedence("xor"), None);
        assert_eq!(table.remove_assign_operator("nothing"), None);
        assert_eq!(table.operators().count(), 36);
    }
}
