//! `telos image restore`: a backup becomes an image again. It is copied beside its place, looked at, flushed, and only then
//! gets its name: whatever happens meanwhile, there is a whole image under that name or none.

use super::{examined, print};
use crate::command::allowance::Allowance;
use crate::command::refusal::Refusal;
use crate::options::is_image;
use crate::progress::Bar;
use crate::resident::locks::Locks;
use crate::session::exit_code;
use anyhow::{Context, ensure};
use clap::Args;
use keeper::token::Imprint;
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::{Held, Options, Store, StoreError};
use system::SystemError;
use system::file::Unnamed;
use system::shell::quoted;

const PIECE_BYTES: usize = 1 << 20;
/// What an image is made of. The log comes last, as without one there is no image.
const FILES: [&str; 2] = [store::IMAGE, store::LOG];

/// Make an image of a backup, in a directory that has none
///
/// The backup is copied and the copy is checked before it gets its name. The backup stays as it is. One of a locked image is restored
/// only with the person's token.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  telos image restore garden-monday garden\n  telos up garden")]
pub struct Restore {
    #[command(flatten)]
    allowance: Allowance,

    /// Print a JSON object
    #[arg(long)]
    json: bool,

    /// What `telos image backup` has made
    #[arg(value_name = "BACKUP", value_hint = clap::ValueHint::DirPath)]
    backup: PathBuf,

    /// Where the image is to be: a directory that does not exist yet, or is empty
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    directory: PathBuf,
}

impl Restore {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let target = std::path::absolute(&self.directory).context("cannot find this directory")?;
        check_target(&target)?;
        check_backup(&self.backup)?;
        let copy = Unnamed::beside(&target)?;
        let bytes = copy_files(&self.backup, copy.path())?;
        let report = examined(copy.path())?;
        if !report.is_clean() {
            print(&(report.findings.join("\n") + "\n"))?;
            let words = format!("error: {} is damaged; nothing was restored", self.backup.display());
            crate::report::say(&crate::report::harmless(&words));
            return Ok(ExitCode::from(exit_code::EXCEPTION));
        }
        self.check_locks(copy.path())?;
        copy.give_name()?;
        let (directory, objects) = (self.directory.display(), report.objects);
        let commits = report.commits + report.frames;
        print(&match self.json {
            true => {
                json!({ "directory": target, "objects": objects, "commits": commits, "bytes": bytes }).to_string()
                    + "\n"
            }
            false => format!(
                "{directory} has the image again: {commits} commits, {bytes} bytes, and nothing is wrong; \
                 `telos up {}` wakes it up\n",
                quoted(&self.directory)
            ),
        })
    }
}

impl Restore {
    /// A backup of a locked image is restored by a person only. It keeps its token.
    fn check_locks(&self, copy: &Path) -> anyhow::Result<()> {
        let store = Store::open_read_only(copy, Options::default())?;
        let locks = Locks::of(&store);
        drop(store);
        if locks.guard().is_whole() && !self.allowance.is_shown_for(&self.backup)? {
            let shown = self.backup.display();
            let words = format!("{shown} is of a locked image, and restored only with its token: --token-file FILE");
            return Err(Refusal::for_person(words));
        }
        if let Some(imprint) = Imprint::of(&self.backup)? {
            imprint.copy_to(copy)?;
        }
        Ok(())
    }
}

fn check_target(target: &Path) -> anyhow::Result<()> {
    let shown = target.display();
    ensure!(!is_image(target), "{shown} has an image already; restore into another directory, or move that one away");
    match std::fs::read_dir(target) {
        Ok(mut entries) => ensure!(entries.next().is_none(), "{shown} is not empty; restore into a new directory"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("cannot restore into {shown}")),
    }
    Ok(())
}

fn check_backup(backup: &Path) -> anyhow::Result<()> {
    for name in FILES {
        ensure!(backup.join(name).is_file(), "{} is no backup: it has no {name}", backup.display());
    }
    Ok(())
}

/// Copies and flushes; says how many bytes that were.
fn copy_files(from: &Path, to: &Path) -> anyhow::Result<u64> {
    // Nobody shall write it meanwhile.
    let held = Held::to_read(from);
    if let Err(error @ StoreError::System(SystemError::Locked { .. })) = held {
        return Err(error).context("the backup is in use; `telos image backup` copies an image that is up");
    }
    let length = |name: &&str| std::fs::metadata(from.join(name)).map_or(0, |metadata| metadata.len());
    let total: u64 = FILES.iter().map(length).sum();
    let (bar, mut done) = (Bar::of_bytes(), 0);
    for name in FILES {
        let copied = copy_file(&from.join(name), &to.join(name), |bytes| {
            done += bytes;
            bar.tell("copying", done, total);
        });
        copied.with_context(|| format!("cannot copy {} to {}", from.join(name).display(), to.display()))?;
    }
    bar.end();
    Ok(done)
}

fn copy_file(from: &Path, to: &Path, mut tell: impl FnMut(u64)) -> std::io::Result<()> {
    let mut source = File::open(from)?;
    let mut target = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = source.read(&mut piece)?;
        if read == 0 {
            return target.sync_all();
        }
        target.write_all(&piece[..read])?;
        tell(read as u64);
    }
}
