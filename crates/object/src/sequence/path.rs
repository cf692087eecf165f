//! File paths as text: pure cutting and joining at `/`, never a look at any disk.

use super::Sequence;

const SEPARATOR: &str = "/";

impl Sequence {
    /// What follows the last separator, not counting separators at the very end, which stay: `abc/def/` gives `def/`.
    pub fn last_path_component(&self) -> Sequence {
        self.range(self.last_path_component_start(), self.len())
    }

    /// What precedes the separator before the last component; empty when there is none.
    pub fn path_component(&self) -> Sequence {
        self.range(0, self.last_path_component_start().saturating_sub(1))
    }

    /// What follows the last dot of the last component; empty when there is none.
    pub fn path_extension(&self) -> Sequence {
        let last = self.last_path_component();
        match last.reverse_find_seq(&Sequence::from("."), None) {
            Some(dot) => last.range(dot + 1, last.len()),
            None => self.range(0, 0),
        }
    }

    /// The last component without separators at its end and without its extension.
    pub fn file_name(&self) -> Sequence {
        let mut name = self.last_path_component();
        name.rstrip(Some(&Sequence::from(SEPARATOR)));
        match name.reverse_find_seq(&Sequence::from("."), None) {
            Some(dot) => name.range(0, dot),
            None => name,
        }
    }

    /// Joins with exactly one separator between the two; none is added to an empty receiver.
    pub fn append_path_seq(&mut self, component: &Sequence) {
        let separator = Sequence::from(SEPARATOR);
        match (self.ends_with_seq(&separator), component.begins_with_seq(&separator)) {
            (true, true) => self.append_seq(&component.range(1, component.len())),
            (false, false) if !self.is_empty() => {
                self.append_seq(&separator);
                self.append_seq(component);
            }
            _ => self.append_seq(component),
        }
    }

    pub fn clone_append_path(&self, component: &Sequence) -> Sequence {
        let mut out = self.clone();
        out.append_path_seq(component);
        out
    }

    fn last_path_component_start(&self) -> usize {
        let separator = Sequence::from(SEPARATOR);
        let mut trimmed = self.clone();
        trimmed.rstrip(Some(&separator));
        trimmed.reverse_find_seq(&separator, None).map_or(0, |position| position + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> Sequence {
        Sequence::from(source)
    }

    #[test]
    fn takes_paths_apart_as_the_io_suite_says() {
        for (path, expected) in
            [("abc/def", "abc"), ("abc/def/", "abc"), ("abc/def//", "abc"), ("abc/", ""), ("abc", "")]
        {
            assert_eq!(text(path).path_component(), text(expected), "{path}");
        }
        for (path, expected) in [("abc", "abc"), ("abc/def", "def"), ("abc/def/", "def/"), ("abc/def//", "def//")] {
            assert_eq!(text(path).last_path_component(), text(expected), "{path}");
        }
        for (path, expected) in [("", ""), ("abc", ""), ("./.a.b.c", "c"), ("a.b/c", "")] {
            assert_eq!(text(path).path_extension(), text(expected), "{path}");
        }
        for (path, expected) in [("", ""), ("abc", "abc"), ("c./.a.b.c", ".a.b"), ("a/b.io", "b")] {
            assert_eq!(text(path).file_name(), text(expected), "{path}");
        }
    }

    #[test]
    fn joins_paths_with_one_separator() {
        let cases = [
            ("abc/", "def", "abc/def"),
            ("abc", "/def/", "abc/def/"),
            ("/abc/", "/def/", "/abc/def/"),
            ("abc", "def", "abc/def"),
            ("", "def", "def"),
        ];
        for (path, component, expected) in cases {
            assert_eq!(text(path).clone_append_path(&text(component)), text(expected));
        }
    }
}
