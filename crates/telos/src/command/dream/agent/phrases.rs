//! What an agent asks for, as Io source that is evaluated in the dream.

use language::syntax::quote;

const PHRASES: &str = include_str!("../../../../agent/phrases.io");

pub fn get(path: &[String]) -> String {
    phrase(&format!("get({})", list(path)))
}

pub fn set(path: &[String], source: &str) -> String {
    phrase(&format!("set({}, {})", list(path), quote(source)))
}

pub fn slots(path: &[String]) -> String {
    phrase(&format!("slots({})", list(path)))
}

pub fn tests() -> String {
    phrase("tests")
}

pub fn rejections(path: &[String]) -> String {
    phrase(&format!("rejections({})", list(path)))
}

fn phrase(message: &str) -> String {
    format!("{} {message}", PHRASES.trim_end())
}

/// Whatever the names hold, they are texts.
fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| quote(name)).collect();
    format!("list({})", names.join(", "))
}
