//! `telos fmt`: tidy source.

use crate::host::{Sink, write_out};
use crate::options::{Color, MachineOptions};
use crate::report::{self, CANNOT_WRITE};
use crate::session::{Failure, Session};
use crate::source;
use anyhow::Context;
use clap::Args;
use language::Error;
use language::syntax::{OperatorTable, format};
use std::process::ExitCode;

/// Lay out Io source tidily
///
/// Prints the tidied source. Line breaks, comments and literals stay as they are; only indentation, spaces, blank
/// lines and idle semicolons change.
#[derive(Args, Debug)]
pub struct Fmt {
    /// The files; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,

    /// Print nothing but the names of files that are not tidy, and exit with 1 if there are any
    #[arg(long, conflicts_with = "write")]
    check: bool,

    /// Change the files instead of printing them
    #[arg(long, short)]
    write: bool,
}

impl Fmt {
    pub fn run(self, color: Color) -> anyhow::Result<ExitCode> {
        let table = OperatorTable::default();
        let mut is_success = true;
        for file in &self.files {
            let Some(source) = source::read(file, None)? else { continue };
            match format(&source, &table) {
                Ok(tidied) => is_success &= self.deliver(file, &source, &tidied)?,
                Err(error) => {
                    is_success = false;
                    show(file, &source, error, color);
                }
            }
        }
        Ok(if is_success { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Whether the file was as it should be, or is now.
    fn deliver(&self, file: &str, source: &str, tidied: &str) -> anyhow::Result<bool> {
        if self.check {
            if source != tidied {
                write_out(format!("{file}\n").as_bytes()).context(CANNOT_WRITE)?;
            }
            return Ok(source == tidied);
        }
        if self.write && file != "-" {
            if source != tidied {
                std::fs::write(file, tidied).with_context(|| format!("cannot write \"{file}\""))?;
            }
            return Ok(true);
        }
        match write_out(tidied.as_bytes()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error).context(CANNOT_WRITE),
            _ => Ok(true),
        }
    }
}

fn show(file: &str, source: &str, error: language::syntax::SyntaxError, color: Color) {
    let options = MachineOptions { no_host: true, ..MachineOptions::default() };
    let mut session = Session::new(&options, Sink::Standard);
    session.remember(file, source);
    let failure = Failure::Program(Error::Syntax { label: file.to_string(), error });
    report::show(&mut session, &failure, color);
}
