//! Words as a shell takes them, for commands that a message tells people to type, and for scripts.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// One word: as it is if it is plain, else in quotes. What cannot be seen is written by number, as bash, zsh and ksh read it.
pub fn quoted(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+:,@".contains(byte);
    match word.to_str().filter(|text| !text.chars().any(char::is_control)) {
        Some(text) if !text.is_empty() && text.as_bytes().iter().all(is_plain) => text.to_string(),
        Some(text) => verbatim(text),
        None => {
            let written = word.as_bytes().iter().map(|&byte| match byte {
                b'\'' | b'\\' => format!("\\{}", char::from(byte)),
                b' '..=b'~' => char::from(byte).to_string(),
                _ => format!("\\x{byte:02x}"),
            });
            format!("$'{}'", written.collect::<String>())
        }
    }
}

/// One word for a script of any shell, in quotes, with whatever is in it.
pub fn verbatim(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_what_a_shell_makes_of_it_again() {
        let names: [&[u8]; 7] =
            [b"/a/plain-name_1.x", b"two words", b"it's", b"\x1b[31m'\\", b"\xff", b"", "ä".as_bytes()];
        for name in names {
            let script = format!("printf %s {}", quoted(OsStr::from_bytes(name)));
            let said = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
            assert_eq!(said.stdout, name, "{script}");
            assert!(!script.chars().any(char::is_control), "{script:?}");
        }
        assert_eq!(quoted("/a/plain-name_1.x"), "/a/plain-name_1.x");
    }
}
