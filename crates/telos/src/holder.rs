//! Whoever holds the files of an image. An image process whose keeper was killed ends by itself, which takes a moment if it
//! has much memory or a flush under way: it is waited for. Anybody else is named at once, also to whom wants to talk to it.

use crate::command::IMAGE_PROCESS;
use crate::report;
use keeper::KeeperError;
use std::time::{Duration, Instant};
use store::StoreError;
use system::SystemError;
use system::file::holder_of;
use system::shell::quoted;

const PATIENCE: Duration = Duration::from_secs(10);
/// Nobody knows who it is.
const PATIENCE_WITH_NOBODY: Duration = Duration::from_secs(1);
const GLANCE: Duration = Duration::from_millis(10);
/// A wait that people notice, and want to know the reason of.
const NOTICEABLE: Duration = Duration::from_millis(300);

/// Opens something, if need be when its dying holder has let go of it.
pub fn patiently<T>(mut open: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
    let (begun, mut is_told) = (Instant::now(), false);
    loop {
        let error = match open() {
            Err(StoreError::System(error @ SystemError::Locked { .. })) => error,
            ended => return ended,
        };
        let SystemError::Locked { holder, .. } = &error else { return Err(error.into()) };
        let patience = match *holder {
            Some(holder) if is_ending(holder) => PATIENCE,
            Some(_) => Duration::ZERO,
            // The kernel forgets the name of a process before it gives back the last of its files.
            None => PATIENCE_WITH_NOBODY,
        };
        if begun.elapsed() >= patience {
            return Err(error.into());
        }
        if let Some(holder) = holder.filter(|_| !is_told && begun.elapsed() > NOTICEABLE) {
            is_told = true;
            report::say(&format!("process {holder} still holds the image and is ending; waiting for it"));
        }
        std::thread::sleep(GLANCE);
    }
}

/// Why an image is not up, if the reason is a process that has it open.
pub fn explained(error: &anyhow::Error) -> Option<String> {
    let Some(KeeperError::NotUp(directory)) = error.downcast_ref() else { return None };
    let holder = holder_of(&directory.join(store::LOG))?;
    let words = command_line(holder);
    let (shown, typed) = (directory.display(), quoted(directory));
    if let Some(keeper) = keeper_of(holder).filter(|_| words.iter().any(|word| word == IMAGE_PROCESS)) {
        return Some(format!(
            "nobody can reach the image in {shown}: its keeper, process {keeper}, is starting or stopping, or its socket \
             was removed; try again in a moment, or end it with `kill {keeper}` and start it with `telos up {typed}`"
        ));
    }
    let what = words.get(1).map(|word| format!(" (telos {word})")).unwrap_or_default();
    Some(format!(
        "no image is up in {shown}: process {holder}{what} has it open; when that has ended, start it with \
         `telos up {typed}`"
    ))
}

/// An image process whose keeper is gone is on its way out. One that has given its memory back has no command line any more.
fn is_ending(process: u32) -> bool {
    let words = command_line(process);
    words.is_empty() || (words.iter().any(|word| word == IMAGE_PROCESS) && keeper_of(process).is_none())
}

/// The words that a process was started with; none if it is no more.
fn command_line(process: u32) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words = line.split(|&byte| byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Who started an image process, if that is still there: it runs the same program. Others adopt it afterwards.
fn keeper_of(process: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
    let program = |process: u32| std::fs::read_link(format!("/proc/{process}/exe")).ok();
    (program(parent)? == program(process)?).then_some(parent)
}
