//! `telos image`: care for the files of an image.

mod restore;
mod watch;

use super::status::table;
use super::{ask, print};
use crate::examination::Examination;
use crate::options::{ImageDirectory, has_files};
use crate::progress::Bar;
use crate::report;
use crate::session::exit_code;
use anyhow::Context;
use clap::{Args, Subcommand};
use keeper::protocol::{Command, Request};
use keeper::token::Imprint;
use keeper::{Client, KeeperError};
use restore::Restore;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::{Options, Store};

const EXAMPLES: &str = "\
Examples:
  telos image info --image garden
  telos image check --image garden
  telos image backup --image garden garden-monday
  telos image restore garden-monday garden-again";

/// Look after the files of an image
///
/// Info is for an image that is up; check and backup do not mind whether it is.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Image {
    #[command(subcommand)]
    care: Care,
}

#[derive(Subcommand, Debug)]
enum Care {
    /// Show how large it is and how far the log has been applied
    Info {
        #[command(flatten)]
        directory: ImageDirectory,
        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
    /// Walk the whole image and say what is wrong with it; the exit code is 1 if anything is
    Check {
        #[command(flatten)]
        directory: ImageDirectory,
    },
    /// Copy it, as it is now, while it runs, into a directory that does not exist yet
    Backup {
        #[command(flatten)]
        directory: ImageDirectory,
        /// The directory to make; a backup needs a new one
        #[arg(value_name = "INTO")]
        into: PathBuf,
    },
    Restore(Restore),
}

impl Image {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.care {
            Care::Info { directory, json } => {
                let facts = ask(&directory, &Request::new(Command::Info))?;
                if json {
                    return print(&format!("{facts}\n"));
                }
                print(&table(facts.as_object().context("the image told no facts")?.iter()))
            }
            Care::Check { directory } => {
                let faults = check(&directory)?;
                if faults.is_empty() {
                    return print("nothing is wrong\n");
                }
                print(&(faults.join("\n") + "\n"))?;
                report::say("error: the image is damaged; restore it from a backup with `telos image restore`");
                Ok(ExitCode::from(exit_code::EXCEPTION))
            }
            Care::Backup { directory, into } => backup(&directory, &into),
            Care::Restore(restore) => restore.run(),
        }
    }
}

/// Whether somebody keeps the image up; an error if there is none.
fn is_up(directory: &Path) -> anyhow::Result<bool> {
    match Client::connect(directory, "telos image") {
        Ok(_) => Ok(true),
        Err(KeeperError::NotUp(_)) if has_files(directory) => Ok(false),
        Err(KeeperError::NotUp(_)) => anyhow::bail!("there is no image in {}", directory.display()),
        Err(error) => Err(error.into()),
    }
}

fn check(directory: &ImageDirectory) -> anyhow::Result<Vec<String>> {
    let path = directory.to_find()?;
    if is_up(&path)? {
        let answer = watch::checking(&path, || ask(directory, &Request::new(Command::Check)))?;
        return Ok(serde_json::from_value(answer)?);
    }
    Ok(examined(&path)?.findings)
}

/// What a child process finds in an image that is not up.
fn examined(directory: &Path) -> anyhow::Result<store::Report> {
    let bar = Bar::counting();
    let examination = Examination::start(directory, None).map_err(anyhow::Error::msg)?;
    let report = examination.finish(directory, &mut |progress| bar.tell(progress.stage, progress.done, progress.total));
    bar.end();
    report.map_err(anyhow::Error::msg)
}

fn backup(directory: &ImageDirectory, into: &Path) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(!into.exists(), "{} exists already; a backup needs a new name", into.display());
    let into = std::path::absolute(into).context("cannot find this directory")?;
    let name = into.to_str().context("the name of a backup must be UTF-8")?.to_string();
    let path = directory.to_find()?;
    if is_up(&path)? {
        watch::copying(&path, &into, || ask(directory, &Request::new(Command::Backup(name.clone()))))?;
    } else {
        system::fault::name_on_fault(&path.join(store::IMAGE));
        let copy = || Store::open_read_only(&path, Options::default())?.backup(&into);
        watch::copying(&path, &into, copy)?;
    }
    // What was locked is locked in the copy, for the same person.
    if let Some(imprint) = Imprint::of(&path)? {
        imprint.copy_to(&into)?;
    }
    print(&format!("the image is copied to {name}\n"))
}
