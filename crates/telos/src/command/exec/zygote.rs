//! Zygotes of languages, as `languages.toml` has them: which program is started before any run, and what it serves.

use super::language::{Language, Languages};
use crate::report;
use anyhow::Context;
use sandbox::warden::ZygoteKind;
use serde::Deserialize;
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt;

/// Programs that telos brings along; others are files.
const BUILT_IN: &[(&str, &str)] = &[("python", include_str!("../../../zygotes/python.py"))];

/// What `languages.toml` says of one.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Zygote {
    program: String,
    option: String,
    #[serde(default)]
    load: Vec<String>,
    variables: String,
    #[serde(default)]
    harmless: Vec<String>,
}

/// All that can be started on this host; what cannot be read is told, and done without.
pub fn kinds() -> Vec<ZygoteKind> {
    let languages = match Languages::load() {
        Ok(languages) => languages,
        Err(error) => {
            let why = report::with_causes(&error);
            report::say(&format!("warning: only the languages that telos brings along are used: {why}"));
            Languages::built_in()
        }
    };
    let mut kinds = Vec::new();
    for (name, language) in languages.iter() {
        match kind(language) {
            Ok(kind) => kinds.extend(kind),
            Err(error) => {
                report::say(&format!("warning: the zygote of {name} is not used: {}", report::with_causes(&error)))
            }
        }
    }
    kinds
}

fn kind(language: &Language) -> anyhow::Result<Option<ZygoteKind>> {
    let Some(zygote) = &language.zygote else { return Ok(None) };
    // It lives where runs live, and sees no more than they do.
    let Some(found) = language.in_system().map(|installed| installed.found) else { return Ok(None) };
    let text = match BUILT_IN.iter().find(|(name, _)| *name == zygote.program) {
        Some((_, text)) => text.to_string(),
        None => {
            std::fs::read_to_string(&zygote.program).with_context(|| format!("cannot read \"{}\"", zygote.program))?
        }
    };
    let words = [zygote.option.clone(), text].into_iter().chain(zygote.load.iter().cloned());
    let names = language.find.iter().filter(|name| found.ends_with(name)).map(OsString::from);
    Ok(Some(ZygoteKind {
        program: CString::new(found.as_os_str().as_bytes())?,
        arguments: words.map(CString::new).collect::<Result<_, _>>()?,
        names: names.chain([found.clone().into_os_string()]).collect(),
        option: zygote.option.clone().into(),
        prefix: zygote.variables.clone(),
        harmless: zygote.harmless.clone(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sandbox::{FileIn, Order};

    fn order(words: &[&str]) -> Order {
        Order { program: words.iter().map(OsString::from).collect(), ..Order::default() }
    }

    /// They stand there as numbers, copied by hand.
    #[test]
    fn python_says_what_the_sandbox_understands() {
        let (_, program) = BUILT_IN.iter().find(|(name, _)| *name == "python").unwrap();
        let told = program.lines().find_map(|line| line.strip_prefix("SEALED, FAILED, STARTED, ENDED = "));
        let numbers: Vec<u8> = told.unwrap().split(", ").map(|number| number.parse().unwrap()).collect();
        assert_eq!(numbers, sandbox::warden::SAID_BY_ZYGOTES);
    }

    #[test]
    fn python_has_one_that_serves_code_and_files_and_nothing_else() {
        let Some(python) = kinds().into_iter().find(|kind| kind.prefix == "PYTHON") else { return };
        assert!(python.serves(&order(&["python3", "-c", "pass"])));
        assert!(python.serves(&order(&["python3", "/code/main.py", "-v"])));
        for other in [&["python3"][..], &["python3", "-c"], &["python3", "-m", "this"], &["bash", "-c", "true"]] {
            assert!(!python.serves(&order(other)), "{other:?}");
        }
        let mut seeded = order(&["python3", "-c", "pass"]);
        seeded.environment.push(("PYTHONHASHSEED".into(), "0".into()));
        assert!(!python.serves(&seeded));
    }

    /// A zygote is the system's Python. One that was handed in, or that is found from the run's directory, is another.
    #[test]
    fn a_program_of_the_same_name_that_was_handed_in_is_not_taken_for_the_systems() {
        let Some(python) = kinds().into_iter().find(|kind| kind.prefix == "PYTHON") else { return };
        let with_path =
            |path: &str| Order { environment: vec![("PATH".into(), path.into())], ..order(&["python3", "-c", "pass"]) };
        let system = sandbox::process::PATH;
        assert!(python.serves(&with_path(system)));
        assert!(!python.serves(&with_path("bin:/usr/bin")) && !python.serves(&with_path(":/usr/bin")));
        let file = |inside: &str| FileIn { inside: inside.into(), bytes: Vec::new(), is_executable: true };
        let mut handed = with_path(&format!("/tmp/bin:{system}"));
        handed.view.files.push(file("/tmp/bin/python3"));
        assert!(!python.serves(&handed));
        let mut other = with_path(system);
        other.view.files.push(file("/code/main.py"));
        assert!(python.serves(&other));
    }
}
