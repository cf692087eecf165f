//! How a place is written: names from the Lobby with spaces or dots between them, `Garden grow` or `Garden.grow`. A name that has one
//! of these, or a quote, is written in quotes: `Garden."north gate"`; in there `\"` is a quote and `\\` a backslash.

/// The names in a path.
pub fn names_in(path: &str) -> Result<Vec<String>, String> {
    let (mut names, mut rest) = (Vec::new(), path.chars());
    loop {
        let before = rest.as_str();
        match rest.next() {
            None => return Ok(names),
            Some('"') => {
                names
                    .push(quoted(&mut rest).ok_or_else(|| format!("a name in {path} is not as it should be: {RULE}"))?);
                if rest.as_str().starts_with(|next| !is_between(next)) {
                    return Err(format!("a name in {path} is not as it should be: {RULE}"));
                }
            }
            Some(first) if is_between(first) => {}
            Some(_) => {
                let end = before.find(is_between).unwrap_or(before.len());
                if before[..end].contains('"') {
                    return Err(format!("a name in {path} is not as it should be: {RULE}"));
                }
                names.push(before[..end].to_string());
                rest = before[end..].chars();
            }
        }
    }
}

const RULE: &str =
    "one with a space, a dot or a quote stands in quotes, as in Garden.\"north gate\", \\\" for a quote in it";

fn is_between(letter: char) -> bool {
    letter == '.' || letter.is_whitespace()
}

/// The rest of a name whose first quote has been read; none if it has no end.
fn quoted(rest: &mut std::str::Chars<'_>) -> Option<String> {
    let mut name = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(name),
            '\\' => name.push(rest.next().filter(|letter| matches!(letter, '"' | '\\'))?),
            letter => name.push(letter),
        }
    }
}

/// A name as it is written in a path.
pub fn written(name: &str) -> String {
    match name.is_empty() || name.contains(|letter| is_between(letter) || letter == '"') {
        true => format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")),
        false => name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_as_it_is_written() {
        for (path, names) in [
            ("Garden grow", &["Garden", "grow"][..]),
            ("Garden.grow", &["Garden", "grow"]),
            (" Garden . grow ", &["Garden", "grow"]),
            ("Garden.\"north gate\"", &["Garden", "north gate"]),
            ("\"a.b\" \"c \\\"d\\\" \\\\\"", &["a.b", "c \"d\" \\"]),
            ("Garden +", &["Garden", "+"]),
            ("a\\b", &["a\\b"]),
            ("", &[]),
        ] {
            assert_eq!(names_in(path).as_deref(), Ok(&names.iter().map(ToString::to_string).collect::<Vec<_>>()[..]));
        }
        for names in [&["Garden", "north gate"][..], &["a.b", "\"", "\\"], &["", "ü ü"]] {
            let path: Vec<String> = names.iter().map(|name| written(name)).collect();
            assert_eq!(names_in(&path.join(".")).unwrap(), names, "{path:?}");
        }
        for wrong in ["\"no end", "a\"b", "\"a\"b", "\"a\\n\""] {
            assert!(names_in(wrong).is_err_and(|why| why.contains("north gate")), "{wrong}");
        }
    }
}
