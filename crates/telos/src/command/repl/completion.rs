//! Completion of slot names. Looks at slots only: pressing Tab never runs a program.

use language::Vm;
use std::collections::BTreeMap;

/// What can be completed: the visible names of everything that has a name itself.
#[derive(Default, Clone)]
pub struct Snapshot {
    /// Names that the Lobby finds.
    lobby: Vec<String>,
    /// Names that the objects of the Lobby and Core find, by the object's name.
    of: BTreeMap<String, Vec<String>>,
}

impl Snapshot {
    /// Reads the machine as it is now.
    pub fn of(vm: &mut Vm) -> Snapshot {
        let lobby = vm.lobby();
        let mut of = BTreeMap::new();
        for holder in [vm.core(), lobby] {
            for name in vm.own_names(holder) {
                if let Some(value) = vm.get_slot(holder, &name)
                    && !vm.is_activatable(value)
                {
                    of.insert(name, sorted(vm.visible_names(value)));
                }
            }
        }
        Snapshot { lobby: sorted(vm.visible_names(lobby)), of }
    }

    /// The same for another process.
    pub fn to_json(&self) -> String {
        serde_json::json!([self.lobby, self.of]).to_string()
    }

    pub fn from_json(text: &str) -> Option<Snapshot> {
        let (lobby, of) = serde_json::from_str(text).ok()?;
        Some(Snapshot { lobby, of })
    }

    /// The names that may stand at the cursor, and where the written part of them begins.
    pub fn complete(&self, line: &str, position: usize) -> (usize, Vec<&str>) {
        let before = &line[..position];
        let is_name = |character: char| character.is_alphanumeric() || character == '_';
        let start = before
            .rfind(|character| !is_name(character))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let (receiver, prefix) = (before[..start].trim_end(), &before[start..]);
        let names = self.names_after(receiver);
        // A lone Tab lists what the receiver itself has to offer only if there is one.
        if prefix.is_empty() && receiver.is_empty() {
            return (start, Vec::new());
        }
        (start, names.iter().map(String::as_str).filter(|name| name.starts_with(prefix)).collect())
    }

    /// The names that what is written before the cursor would find.
    fn names_after(&self, receiver: &str) -> &[String] {
        let empty = &[];
        let of = |name: &str| self.of.get(name).map_or(empty as &[String], Vec::as_slice);
        let Some(last) = receiver.chars().next_back() else { return &self.lobby };
        if last == '"' {
            return of("Sequence");
        }
        let word_start = receiver.rfind(|character: char| !(character.is_alphanumeric() || character == '_'));
        let word = &receiver[word_start.map_or(0, |at| at + receiver[at..].chars().next().map_or(1, char::len_utf8))..];
        match word.chars().next() {
            None if last == ')' => self.after_call(receiver),
            // After an operator, a comma or an opening bracket a new expression begins.
            None => &self.lobby,
            Some(first) if first.is_ascii_digit() => of("Number"),
            Some(_) if self.of.contains_key(word) => of(word),
            Some(_) => of("Object"),
        }
    }

    /// After `list(…)` a List is likely, after other calls anything.
    fn after_call(&self, receiver: &str) -> &[String] {
        let name = receiver.rsplit_once('(').map_or("", |(before, _)| before);
        let likely = if name.ends_with("list") { "List" } else { "Object" };
        self.of.get(likely).map_or(&self.lobby, |names| names)
    }
}

/// In alphabetical order, without the names that no one types.
fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.retain(|name| name.chars().next().is_some_and(|first| first.is_alphabetic()));
    names.sort_unstable_by_key(|name| name.to_lowercase());
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completes_by_what_stands_before() {
        let mut of = BTreeMap::new();
        for (name, names) in [("List", "append at"), ("Sequence", "size asString"), ("Object", "clone")] {
            of.insert(name.to_string(), names.split(' ').map(String::from).collect());
        }
        let snapshot = Snapshot { lobby: vec!["List".into(), "list".into(), "writeln".into()], of };
        let complete = |line: &str| snapshot.complete(line, line.len()).1.join(" ");
        assert_eq!(complete("Li"), "List");
        assert_eq!(complete("List a"), "append at");
        assert_eq!(complete("List "), "append at");
        assert_eq!(complete("\"é\" s"), "size");
        assert_eq!(complete("list(1) ap"), "append");
        assert_eq!(complete("x := wri"), "writeln");
        assert_eq!(complete("foo c"), "clone");
        assert_eq!(complete(""), "");
    }
}
