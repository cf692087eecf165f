//! The process that looks at an image for `telos image check` and `restore`, which nobody starts by hand.

use crate::examination;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// The process that looks at an image; `telos image check` starts it
#[derive(Args, Debug)]
#[command(hide = true)]
pub struct ImageCheck {
    /// Up to where a writer beside has written the log
    #[arg(long)]
    until: Option<u64>,

    directory: PathBuf,
}

impl ImageCheck {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        examination::examine(&self.directory, self.until).map_err(anyhow::Error::msg)?;
        Ok(ExitCode::SUCCESS)
    }
}
