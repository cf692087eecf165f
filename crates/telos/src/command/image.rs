//! `telos image`: care for the files of an image.

use super::status::table;
use super::{ask, print};
use crate::options::ImageDirectory;
use crate::session::exit_code;
use anyhow::Context;
use clap::{Args, Subcommand};
use keeper::protocol::{Command, Request};
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  telos image info --image garden
  telos image check --image garden
  telos image backup --image garden garden-monday";

/// Look after the files of an image
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
        #[arg(value_name = "INTO")]
        into: PathBuf,
    },
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
                let faults: Vec<String> = serde_json::from_value(ask(&directory, &Request::new(Command::Check))?)?;
                if faults.is_empty() {
                    return print("nothing is wrong\n");
                }
                print(&(faults.join("\n") + "\n"))?;
                Ok(ExitCode::from(exit_code::EXCEPTION))
            }
            Care::Backup { directory, into } => {
                anyhow::ensure!(!into.exists(), "{} exists already; a backup needs a new name", into.display());
                let into = std::path::absolute(&into).context("cannot find this directory")?;
                let name = into.to_str().context("the name of a backup must be UTF-8")?.to_string();
                ask(&directory, &Request::new(Command::Backup(name.clone())))?;
                print(&format!("the image is copied to {name}\n"))
            }
        }
    }
}
