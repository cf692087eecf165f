//! A person's token on its way from where it is kept to the keeper. No argument has the
//! token itself, for everybody sees those, and no variable of the environment, which children inherit: both name a file.

use super::refusal::Refusal;
use anyhow::Context;
use clap::Args;
use keeper::token::{self, Token};
use keeper::{Client, KeeperError};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::io::{BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};

/// Names the file that has the token.
const VARIABLE: &str = "TELOS_TOKEN_FILE";
/// What is read of standard input.
const INPUT_BYTES_MAX: u64 = 4 << 10;

/// What commands take that may change something protected or locked.
#[derive(Args, Clone, Debug, Default)]
pub struct Allowance {
    /// Show the person's token in this file, so that what is protected or locked may change; - reads it from standard input, or
    /// asks for it on a terminal; $TELOS_TOKEN_FILE unless given
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Token")]
    token_file: Option<PathBuf>,
}

impl Allowance {
    /// The token, if one was named.
    pub fn token(&self) -> anyhow::Result<Option<Token>> {
        let variable = || std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        let Some(path) = self.token_file.clone().or_else(variable) else { return Ok(None) };
        // Commands of the image run as the same user, and must not read what this process has.
        let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
        match path == Path::new("-") {
            true => read_input().map(Some),
            false => Token::read_file(&path).map(Some).map_err(not_allowed),
        }
    }

    /// The token, without which the command does nothing.
    pub fn needed_token(&self) -> anyhow::Result<Token> {
        self.token()?.ok_or_else(|| {
            let message = "this needs the person's token: name its file with --token-file FILE, or - to type it in";
            Refusal::for_person(message)
        })
    }

    /// Whether one was named here, and not only for all commands.
    pub fn is_named(&self) -> bool {
        self.token_file.is_some()
    }

    /// Whether standard input is for the token.
    pub fn takes_input(&self) -> bool {
        self.token_file.as_deref() == Some(Path::new("-"))
    }

    /// Shows the token to the keeper, if one was named: from then on what the client sends may change what is locked.
    pub fn show_to(&self, client: &mut Client) -> anyhow::Result<()> {
        self.token()?.map_or(Ok(()), |token| show(&token, client))
    }

    /// For what has no keeper: whether a person allows it, by the token of the image in a directory.
    pub fn is_shown_for(&self, directory: &Path) -> anyhow::Result<bool> {
        match self.token()? {
            Some(token) => token::check(directory, &token).map(|()| true).map_err(not_allowed),
            None => Ok(false),
        }
    }
}

/// Shows a token that was read before.
pub fn show(token: &Token, client: &mut Client) -> anyhow::Result<()> {
    client.show_token(token).map_err(not_allowed)
}

/// From standard input; of a terminal without showing what is typed.
fn read_input() -> anyhow::Result<Token> {
    let stdin = std::io::stdin();
    let mut bytes = Vec::new();
    if stdin.is_terminal() {
        eprint!("token: ");
        let shown = tcgetattr(&stdin).context("cannot ask for the token")?;
        let mut hidden = shown.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&stdin, OptionalActions::Flush, &hidden).context("cannot ask for the token")?;
        let read = stdin.lock().take(INPUT_BYTES_MAX).read_until(b'\n', &mut bytes);
        let restored = tcsetattr(&stdin, OptionalActions::Flush, &shown);
        eprintln!();
        read.and_then(|_| Ok(restored?)).context("cannot read the token")?;
    } else {
        stdin.lock().take(INPUT_BYTES_MAX).read_to_end(&mut bytes).context("cannot read the token")?;
    }
    Token::read(&bytes).ok_or_else(|| Refusal::for_person("standard input has no token: telos- and 64 digits"))
}

fn not_allowed(error: KeeperError) -> anyhow::Error {
    match error {
        KeeperError::NotAllowed(_)
        | KeeperError::NoToken(_)
        | KeeperError::WrongToken(_)
        | KeeperError::Token { .. } => Refusal::for_person(error.to_string()),
        error => error.into(),
    }
}
