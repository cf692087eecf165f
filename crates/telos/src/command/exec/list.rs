//! `telos exec --list`: the languages, and which of them are installed here.

use super::language::{Language, Languages, own_file};
use serde_json::json;
use std::fmt::Write;

pub fn text() -> anyhow::Result<String> {
    let languages = Languages::load()?;
    let mut text = String::new();
    let width = languages.iter().map(|(_, language)| also(language).chars().count()).max().unwrap_or(0);
    for (name, language) in languages.iter() {
        let place = match language.installed() {
            Some(installed) => installed.found.display().to_string(),
            None => format!("not installed: no {}", language.find.join(", ")),
        };
        // Writing to a String never fails.
        let _ = writeln!(text, "{name:8}  {:width$}  {place}", also(language));
    }
    if let Some(file) = own_file() {
        let _ = writeln!(text, "\nYour own: a few lines each in {}", file.display());
    }
    Ok(text)
}

fn also(language: &Language) -> String {
    let extensions = language.extensions.iter().map(|extension| format!(".{extension}"));
    extensions.chain(language.aliases.iter().cloned()).collect::<Vec<_>>().join(" ")
}

pub fn json_text() -> anyhow::Result<String> {
    let languages = Languages::load()?;
    let each = languages.iter().map(|(name, language)| {
        let found = language.installed().map(|installed| installed.found);
        json!({ "name": name, "aliases": language.aliases, "extensions": language.extensions, "found": found })
    });
    Ok(format!("{}\n", each.collect::<serde_json::Value>()))
}
