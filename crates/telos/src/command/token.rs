//! `telos token`: the secret of a person, without which nothing that is protected or locked changes. Needs no image that is up: the
//! digest lies beside its files, and whoever keeps it looks there.

use super::allowance::Allowance;
use super::history::time_text;
use super::print;
use super::refusal::Refusal;
use crate::options::{ImageDirectory, is_image};
use anyhow::ensure;
use clap::{Args, Subcommand};
use keeper::token::{Imprint, Token as Secret, check};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  telos token new --image garden --into ~/garden.token
  telos lock --image garden Account
  telos send --image garden --token-file ~/garden.token 'Account rate = 2'
  telos dream merge --image garden --token-file - d65    asks for it
  export TELOS_TOKEN_FILE=~/garden.token                 for many commands
  telos token revoke --image garden --token-file ~/garden.token

The token is shown once. What stays with the image is a digest, from which
nobody finds it. Keep it where the image cannot read it: programs of the image
with files or processes are you, so start an image that you do not trust with
telos up --deny files,processes. An agent is never given it: --command refuses
it. Who has lost it removes telos.token from the image's directory.";

/// Make, show or revoke the token with which a person changes what is protected or locked
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Token {
    #[command(subcommand)]
    act: Act,
}

#[derive(Subcommand, Debug)]
enum Act {
    /// Make the image's token, and show it this once; one that there is must be shown, and is replaced
    New {
        #[command(flatten)]
        directory: ImageDirectory,

        #[command(flatten)]
        allowance: Allowance,

        /// Write it to this file, which must not be there, and do not print it
        #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
        into: Option<PathBuf>,

        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
    /// Take the token away, which must be shown; what is locked stays locked
    Revoke {
        #[command(flatten)]
        directory: ImageDirectory,

        #[command(flatten)]
        allowance: Allowance,
    },
    /// Say whether there is one, and since when; never which it is
    Show {
        #[command(flatten)]
        directory: ImageDirectory,

        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
}

impl Token {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.act {
            Act::New { directory, allowance, into, json } => make(&found(&directory)?, &allowance, into, json),
            Act::Revoke { directory, allowance } => {
                let directory = found(&directory)?;
                let has_token = Imprint::of(&directory)?.is_some();
                ensure!(has_token, "the image has no token that could be revoked; `telos token new` makes one");
                shown(&directory, &allowance)?;
                Imprint::remove(&directory)?;
                print("the token is revoked; what is locked stays locked\n")
            }
            Act::Show { directory, json } => show(&found(&directory)?, json),
        }
    }
}

fn found(directory: &ImageDirectory) -> anyhow::Result<PathBuf> {
    let path = directory.to_find()?;
    ensure!(is_image(&path), "there is no image in {}", path.display());
    Ok(path)
}

/// That whoever asks has the token that there is.
fn shown(directory: &std::path::Path, allowance: &Allowance) -> anyhow::Result<()> {
    let token = allowance.needed_token()?;
    check(directory, &token).map_err(|error| Refusal::for_person(error.to_string()))
}

fn make(
    directory: &std::path::Path,
    allowance: &Allowance,
    into: Option<PathBuf>,
    is_json: bool,
) -> anyhow::Result<ExitCode> {
    if Imprint::of(directory)?.is_some() {
        shown(directory, allowance)?;
    }
    let token = Secret::random()?;
    // First where it is kept: a token that nobody has would be worse than none.
    into.iter().try_for_each(|path| token.write_file(path))?;
    Imprint::make(directory, &token)?;
    print(&match (&into, is_json) {
        (Some(path), true) => json!({ "file": path }).to_string() + "\n",
        (None, true) => json!({ "token": token.text() }).to_string() + "\n",
        (Some(path), false) => format!("the token is in {}\n", path.display()),
        (None, false) => format!("{}\n", token.text()),
    })
}

fn show(directory: &std::path::Path, is_json: bool) -> anyhow::Result<ExitCode> {
    let imprint = Imprint::of(directory)?;
    if is_json {
        let made_ms = imprint.as_ref().map(|imprint| imprint.made_ms);
        return print(&format!("{}\n", json!({ "has_token": imprint.is_some(), "made_ms": made_ms })));
    }
    print(&match imprint {
        Some(imprint) => format!("the image has a token, made {}\n", time_text(imprint.made_ms as i64)),
        None => "the image has no token; `telos token new` makes one\n".into(),
    })
}
