//! Whoever holds the files of an image. An image process whose keeper was killed ends by itself, which takes a moment if it
//! has much memory or a flush under way: it is waited for. Anybody else is named at once.

use crate::command::IMAGE_PROCESS;
use crate::report;
use std::time::{Duration, Instant};
use store::StoreError;
use system::SystemError;

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
