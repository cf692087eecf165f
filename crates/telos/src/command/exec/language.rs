//! The languages of `telos exec`: data from `languages.toml`, and where each is on this host. Running one is a command
//! line like any other; nothing else here knows languages.

use super::ask::{PATIENCE, ask};
use super::zygote::Zygote;
use crate::hint;
use anyhow::{Context, ensure};
use sandbox::process::{CODE_PLACE, PATH};
use sandbox::{Access, Grant};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use system::shell::verbatim;

/// What telos brings along.
const BUILT_IN: &str = include_str!("../../../languages.toml");
/// What compilers make.
const PROGRAM: &str = "/tmp/program";
/// Where telos itself is inside, for programs in Io.
const TELOS: &str = "/telos/telos";

/// All languages by name.
pub struct Languages(BTreeMap<String, Language>);

/// One entry of `languages.toml`, which says what the fields mean.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Language {
    #[serde(default)]
    pub aliases: Vec<String>,
    #[serde(default)]
    pub extensions: Vec<String>,
    pub find: Vec<String>,
    #[serde(default)]
    ask: Vec<String>,
    #[serde(default)]
    see: Vec<String>,
    #[serde(default)]
    compile: Vec<String>,
    run: Vec<String>,
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    #[serde(default)]
    pub zygote: Option<Zygote>,
}

/// Where a language is on this host.
#[derive(Debug)]
pub struct Installed {
    /// The program, as it is called inside.
    pub found: PathBuf,
    home: Option<PathBuf>,
    /// What has to be let in for it.
    pub grants: Vec<Grant>,
}

impl Languages {
    /// Those that telos brings along, and those of the user's own file.
    pub fn load() -> anyhow::Result<Languages> {
        let Languages(mut languages) = Languages::built_in();
        if let Some(file) = own_file().filter(|file| file.exists()) {
            let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read \"{}\"", file.display()))?;
            languages.extend(parsed(&text).with_context(|| format!("in {}", file.display()))?);
        }
        Ok(Languages(languages))
    }

    pub fn built_in() -> Languages {
        Languages(parsed(BUILT_IN).expect("what telos brings along is tested"))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&String, &Language)> {
        self.0.iter()
    }

    /// By its name or an alias.
    pub fn named(&self, name: &str) -> anyhow::Result<(&str, &Language)> {
        let is_meant = |own: &str, language: &Language| own == name || language.aliases.iter().any(|each| each == name);
        self.find(is_meant).with_context(|| {
            let names: Vec<String> = self.0.keys().cloned().collect();
            let meant = hint::nearest(name, &names).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            format!("there is no language \"{name}\"{meant} (telos exec --list shows all)")
        })
    }

    /// By how the file is called, or else by the interpreter that its first line names.
    pub fn of_file(&self, file: &Path, code: &[u8]) -> Option<(&str, &Language)> {
        let extension = file.extension().and_then(OsStr::to_str);
        let by_name = |_: &str, language: &Language| language.extensions.iter().any(|each| Some(&**each) == extension);
        let interpreter = interpreter(code);
        let by_line = |own: &str, language: &Language| {
            let names = [own].into_iter().chain(language.aliases.iter().chain(&language.find).map(String::as_str));
            interpreter.as_deref().is_some_and(|wanted| names.into_iter().any(|name| name == wanted))
        };
        self.find(by_name).or_else(|| self.find(by_line))
    }

    fn find(&self, is_meant: impl Fn(&str, &Language) -> bool) -> Option<(&str, &Language)> {
        self.0.iter().map(|(name, language)| (name.as_str(), language)).find(|(name, each)| is_meant(name, each))
    }
}

fn parsed(text: &str) -> anyhow::Result<BTreeMap<String, Language>> {
    let languages: BTreeMap<String, Language> = toml::from_str(text)?;
    for (name, language) in &languages {
        ensure!(!language.find.is_empty() && !language.run.is_empty(), "[{name}] needs a program in find and in run");
    }
    Ok(languages)
}

/// Where a user's own languages stand.
pub fn own_file() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|directory| directory.is_absolute());
    let directory = named.or_else(|| Some(std::env::home_dir()?.join(".config")))?;
    Some(directory.join("telos/languages.toml"))
}

/// `python3` of `#!/usr/bin/env python3`.
fn interpreter(code: &[u8]) -> Option<String> {
    let line = code.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split_whitespace();
    let base = |word: &str| word.rsplit('/').next().map(String::from);
    let program = base(words.next()?)?;
    if program != "env" {
        return Some(program);
    }
    base(words.find(|word| !word.starts_with('-') && !word.contains('='))?)
}

impl Language {
    /// Looks for it on this host.
    pub fn installed(&self) -> Option<Installed> {
        let mut installed = self.in_system().or_else(|| self.elsewhere())?;
        let seen = self.see.iter().filter_map(|path| expanded(path)?.canonicalize().ok());
        installed.grants.extend(seen.filter(|path| !is_of_system(path)).map(readable));
        Some(installed)
    }

    pub fn in_system(&self) -> Option<Installed> {
        if self.find.iter().any(|name| name == "{telos}") {
            let host = std::env::current_exe().ok().filter(|path| path.is_file())?;
            let grant = Grant { host, inside: TELOS.into(), access: Access::Read };
            return Some(Installed { found: TELOS.into(), home: None, grants: vec![grant] });
        }
        let candidates = self.find.iter().flat_map(|name| PATH.split(':').map(move |each| Path::new(each).join(name)));
        let found = candidates.into_iter().find(|path| path.is_file())?;
        Some(Installed { found, home: None, grants: Vec::new() })
    }

    /// Asks the host's own program where it is. What is or holds the user's home is no place to let a program into.
    fn elsewhere(&self) -> Option<Installed> {
        let (program, arguments) = self.ask.split_first()?;
        let answer = ask(program, arguments, PATIENCE)?;
        let home = Path::new(answer.trim()).canonicalize().ok()?;
        let holds_users_home = std::env::home_dir().is_some_and(|users| users.starts_with(&home));
        let found = self.find.iter().map(|name| home.join("bin").join(name)).find(|path| path.is_file())?;
        let grants = if is_of_system(&home) { Vec::new() } else { vec![readable(home.clone())] };
        (!holds_users_home).then_some(Installed { found, home: Some(home), grants })
    }

    /// The command line that runs the code. Compiling comes first, in the same sandbox.
    pub fn command(&self, installed: &Installed, code: &Path, arguments: &[OsString]) -> Vec<OsString> {
        let filled =
            |words: &[String]| -> Vec<String> { words.iter().map(|word| fill(word, installed, code)).collect() };
        let run = filled(&self.run);
        if self.compile.is_empty() {
            return run.into_iter().map(OsString::from).chain(arguments.iter().cloned()).collect();
        }
        let line = |words: Vec<String>| words.iter().map(|word| verbatim(word)).collect::<Vec<_>>().join(" ");
        let script = format!("{} </dev/null >&2 && exec {} \"$@\"", line(filled(&self.compile)), line(run));
        let shell = ["/bin/sh", "-c", &script, PROGRAM].map(OsString::from);
        shell.into_iter().chain(arguments.iter().cloned()).collect()
    }

    /// How the file with the code is called inside.
    pub fn code_path(&self, file: Option<&Path>) -> PathBuf {
        let plain = || OsString::from(format!("main.{}", self.extensions.first().map_or("txt", String::as_str)));
        Path::new(CODE_PLACE).join(file.and_then(Path::file_name).map_or_else(plain, OsStr::to_os_string))
    }
}

fn fill(word: &str, installed: &Installed, code: &Path) -> String {
    let home = installed.home.as_deref().unwrap_or(Path::new("/usr"));
    [("{found}", &*installed.found), ("{home}", home), ("{code}", code), ("{program}", Path::new(PROGRAM))]
        .iter()
        .fold(word.to_string(), |text, (name, path)| text.replace(name, &path.to_string_lossy()))
}

fn expanded(path: &str) -> Option<PathBuf> {
    match path.strip_prefix("~/") {
        Some(rest) => Some(std::env::home_dir()?.join(rest)),
        None => Some(PathBuf::from(path)),
    }
}

/// What every program sees anyhow.
fn is_of_system(path: &Path) -> bool {
    ["/usr", "/bin", "/sbin", "/lib", "/lib64"].iter().any(|directory| path.starts_with(directory))
}

fn readable(path: PathBuf) -> Grant {
    Grant { host: path.clone(), inside: path, access: Access::Read }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn languages() -> Languages {
        Languages::built_in()
    }

    #[test]
    fn a_language_has_a_name_aliases_and_extensions() {
        let languages = languages();
        assert_eq!(languages.named("py").unwrap().0, "python");
        assert_eq!(languages.of_file(Path::new("a/b.cpp"), b"").unwrap().0, "c++");
        assert_eq!(languages.of_file(Path::new("tool"), b"#!/usr/bin/env -S python3\n").unwrap().0, "python");
        assert_eq!(languages.of_file(Path::new("tool"), b"#!/bin/sh\n").unwrap().0, "sh");
        assert!(languages.of_file(Path::new("tool"), b"hello").is_none());
        let message = languages.named("pyton").unwrap_err().to_string();
        assert!(message.contains("did you mean python?"), "{message}");
    }

    #[test]
    fn no_two_languages_share_a_name_or_an_extension() {
        let languages = languages();
        let named = languages.iter().flat_map(|(name, language)| [name].into_iter().chain(&language.aliases));
        let mut names: Vec<&String> = named.collect();
        let mut extensions: Vec<&String> = languages.iter().flat_map(|(_, each)| &each.extensions).collect();
        for all in [&mut names, &mut extensions] {
            all.sort();
            assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{all:?}");
        }
    }

    #[test]
    fn what_has_to_be_compiled_is_compiled_before_it_runs() {
        let languages = languages();
        let (_, c) = languages.named("c").unwrap();
        let installed = Installed { found: "/usr/bin/cc".into(), home: None, grants: Vec::new() };
        let command = c.command(&installed, Path::new("/code/it's.c"), &["a b".into()]);
        let script = "'/usr/bin/cc' '-O1' '-w' '-o' '/tmp/program' '/code/it'\\''s.c' '-lm' </dev/null >&2 \
                      && exec '/tmp/program' \"$@\"";
        assert_eq!(command, ["/bin/sh", "-c", script, "/tmp/program", "a b"].map(OsString::from));
    }

    #[test]
    fn a_field_that_does_not_exist_is_refused() {
        let error = parsed("[x]\nfind = [\"x\"]\nrun = [\"{found}\"]\nexetnsions = [\"x\"]\n").unwrap_err();
        assert!(format!("{error:#}").contains("exetnsions"), "{error:#}");
        assert!(parsed("[x]\nfind = []\nrun = []\n").is_err());
    }
}
