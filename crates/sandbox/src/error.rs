//! Why a run was not started, or what went wrong with one. Each says what to do about it.

use crate::wall::Lack;
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("this host cannot keep it in: {}; `telos doctor` says how to get that, --allow-weaker runs without", said(.0))]
    TooWeak(Vec<Lack>),
    #[error("{} cannot be given to it: {why}", path.display())]
    Grant { path: PathBuf, why: String },
    #[error("{program} is not there inside the sandbox; --read DIR lets it see a directory")]
    NoProgram { program: String },
    /// What another process said that was asked to run it.
    #[error("{0}")]
    Told(String),
    #[error("cannot {action}: {source}")]
    System { action: &'static str, source: io::Error },
}

fn said(lacks: &[Lack]) -> String {
    let each: Vec<String> = lacks.iter().map(|lack| format!("no {:?} ({})", lack.wall, lack.why)).collect();
    each.join(", ")
}

impl SandboxError {
    pub fn system<E: Into<io::Error>>(action: &'static str) -> impl FnOnce(E) -> SandboxError {
        move |source| SandboxError::System { action, source: source.into() }
    }
}
