//! Whoever holds the files of an image. An image process whose keeper was killed ends by itself, which takes a moment if it
//! has much memory or a flush under way: it is waited for. Anybody else is named at once.

use crate::command::IMAGE_PROCESS;
use crate::report;
use std::time::{Duration, Instant};
use store::StoreError;
use system::SystemError;

const PATIENCE: Duration = Duration::from_secs(10);
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
        if !is_ending(holder) || begun.elapsed() > PATIENCE {
            return Err(error.into());
        }
        if !is_told && begun.elapsed() > NOTICEABLE {
            is_told = true;
            report::say(&format!("process {holder} still holds the image and is ending; waiting for it"));
        }
        std::thread::sleep(GLANCE);
    }
}

/// Whoever asks has the keeper's seat, or found it empty: an image process without a keeper is on its way out. One that has
/// given its memory back has no command line any more.
fn is_ending(holder: &str) -> bool {
    let Ok(arguments) = std::fs::read(format!("/proc/{holder}/cmdline")) else { return holder != "unknown" };
    arguments.is_empty() || arguments.split(|&byte| byte == 0).any(|argument| argument == IMAGE_PROCESS.as_bytes())
}
