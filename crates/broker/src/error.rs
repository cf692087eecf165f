//! What can be wrong with the files that people write. What goes wrong with a call is its answer, and no error.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    #[error("cannot read \"{}\": {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is no plain file", path.display())]
    NotAFile { path: PathBuf },
    #[error("{} has more than the {limit} bytes that are read; make it smaller", path.display())]
    TooBig { path: PathBuf, limit: usize },
    #[error("{} holds secrets and others may read it: chmod 600 {}", path.display(), system::shell::verbatim(&path.display().to_string()))]
    Open { path: PathBuf },
    /// Says where in the file if that is known, and never what stands there: it may be a secret.
    #[error("in {}{}: {why}", path.display(), line.map(|line| format!(", line {line}")).unwrap_or_default())]
    Content { path: PathBuf, line: Option<usize>, why: String },
    #[error(
        "the answers that {} gives or names have more than {limit} bytes; leave out calls that are not needed",
        path.display()
    )]
    TooManyAnswers { path: PathBuf, limit: usize },
}

/// Why a call was not answered. The text says what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Somebody decided that it is not to be.
    Blocked(String),
    /// It was tried, or could not be.
    Failed(String),
}

impl Refusal {
    pub fn blocked(why: impl Into<String>) -> Refusal {
        Refusal::Blocked(why.into())
    }

    pub fn failed(why: impl Into<String>) -> Refusal {
        Refusal::Failed(why.into())
    }
}
