//! From the command line to an order: what is run, in which language, and where its code comes from.

use super::Exec;
use super::language::{Installed, Language, Languages};
use super::sockets::Keeping;
use crate::images::check_apart;
use crate::options::ImageDirectory;
use anyhow::{Context, bail, ensure};
use sandbox::process::{PATH, VARIABLES};
use sandbox::{FileIn, Order, Stdin, View};
use std::ffi::OsString;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// More is no program.
const CODE_BYTES_MAX: u64 = 64 << 20;

/// An order, and what is remembered of where it came from.
pub struct Job {
    pub order: Order,
    pub stdin: Stdin,
    pub language: Option<String>,
    pub code: Option<CodeFacts>,
    /// What it says to others is to be written down.
    pub keeping: Option<Keeping>,
}

pub struct CodeFacts {
    /// The file, if it came from one.
    pub file: Option<PathBuf>,
    pub digest: String,
    pub length_bytes: usize,
}

struct Code {
    file: Option<PathBuf>,
    bytes: Vec<u8>,
    /// It was read from standard input, where nothing is left then.
    was_input: bool,
}

impl Job {
    pub fn new(exec: &Exec) -> anyhow::Result<Job> {
        let limits = exec.limits.limits();
        let grants = exec.view.grants()?;
        let own = ImageDirectory { image: exec.image.clone() }.meant();
        check_apart(own.as_deref(), grants.iter().map(|grant| grant.host.clone())).map_err(anyhow::Error::msg)?;
        let files = exec.view.handed.files(&limits)?;
        let (network, sockets, keeping) = exec.view.handed.network()?;
        let mut order = Order {
            directory: exec.view.directory(&grants),
            view: View { grants, files, ..View::default() },
            network,
            sockets,
            limits,
            allows_weaker: exec.allow_weaker,
            ..Order::default()
        };
        let Some(code) = code(exec)? else {
            order.program = exec.words.clone();
            order.environment = exec.view.handed.environment(VARIABLES.into_iter());
            return Ok(Job { order, stdin: standard_input()?, language: None, code: None, keeping });
        };
        let languages = Languages::load()?;
        let (name, language) = language_of(&languages, exec.lang.as_deref(), &code)?;
        let installed = language.installed().with_context(|| not_installed(name, language))?;
        let own = language.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        order.environment = exec.view.handed.environment(VARIABLES.into_iter().chain(own));
        let stdin = if code.was_input { Stdin::Empty } else { standard_input()? };
        let facts = put_in(&mut order, code, language, installed, &exec.words);
        Ok(Job { order, stdin, language: Some(name.to_string()), code: Some(facts), keeping })
    }
}

/// The code lies in memory inside; nothing of the directory that it came from is seen.
fn put_in(order: &mut Order, code: Code, language: &Language, installed: Installed, words: &[OsString]) -> CodeFacts {
    let inside = language.code_path(code.file.as_deref());
    order.program = language.command(&installed, &inside, words);
    order.view.grants.extend(installed.grants);
    let facts = CodeFacts {
        digest: sandbox::changes::digest::of(&code.bytes).text(),
        length_bytes: code.bytes.len(),
        file: code.file,
    };
    order.view.files.push(FileIn { inside, bytes: code.bytes, is_executable: false });
    facts
}

/// None if a command is to be run.
fn code(exec: &Exec) -> anyhow::Result<Option<Code>> {
    if let Some(text) = &exec.code {
        ensure!(exec.lang.is_some(), "--lang NAME says in which language -e is written");
        return Ok(Some(Code { file: None, bytes: text.clone().into_bytes(), was_input: false }));
    }
    let file = exec.file.as_deref().filter(|file| *file != Path::new("-"));
    if let Some(file) = file {
        let bytes = read_file(file).with_context(|| about_file(file, &exec.words))?;
        return Ok(Some(Code { file: Some(file.to_path_buf()), bytes, was_input: false }));
    }
    if exec.lang.is_none() && exec.file.is_none() {
        ensure!(!exec.words.is_empty(), "nothing to run: name a file, or --lang NAME -e CODE, or -- COMMAND");
        return Ok(None);
    }
    ensure!(exec.lang.is_some(), "--lang NAME says in which language standard input is written");
    let bytes = read(std::io::stdin().lock()).context("cannot read the code from standard input")?;
    Ok(Some(Code { file: None, bytes, was_input: true }))
}

/// `telos exec ls -l` is how most would try it first.
fn about_file(file: &Path, words: &[OsString]) -> String {
    let name = file.display();
    match words.is_empty() && !name.to_string().contains('/') {
        true => format!("cannot read the file \"{name}\" (to run a command: telos exec -- {name} …)"),
        false => format!("cannot read the file \"{name}\""),
    }
}

fn read_file(file: &Path) -> anyhow::Result<Vec<u8>> {
    read(std::fs::File::open(file)?)
}

fn read(from: impl Read) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(CODE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    let limit_mib = CODE_BYTES_MAX >> 20;
    ensure!(bytes.len() as u64 <= CODE_BYTES_MAX, "it is longer than the {limit_mib} MiB that code may have");
    Ok(bytes)
}

fn language_of<'l>(
    languages: &'l Languages,
    name: Option<&str>,
    code: &Code,
) -> anyhow::Result<(&'l str, &'l Language)> {
    if let Some(name) = name {
        return languages.named(name);
    }
    let file = code.file.as_deref().unwrap_or(Path::new(""));
    match languages.of_file(file, &code.bytes) {
        Some(found) => Ok(found),
        None => bail!("\"{}\" does not tell its language; --lang NAME does (telos exec --list)", file.display()),
    }
}

fn not_installed(name: &str, language: &Language) -> String {
    format!("{name} is not installed: there is no {} in {PATH}", language.find.join(", "))
}

fn standard_input() -> anyhow::Result<Stdin> {
    let descriptor: OwnedFd = std::io::stdin().as_fd().try_clone_to_owned().context("cannot hand standard input in")?;
    Ok(Stdin::Descriptor(descriptor))
}
