//! Showing how far work is that somebody else does: asks, or looks at the files, a few times a second, and only if there
//! is a terminal to show it on.

use crate::progress::Bar;
use keeper::Client;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use system::file::Unnamed;

const EVERY: Duration = Duration::from_millis(200);

/// Does the work, and meanwhile calls `look` again and again.
fn beside<T>(bar: Bar, mut look: impl FnMut(&Bar) + Send, work: impl FnOnce() -> T) -> T {
    if !Bar::is_seen() {
        return work();
    }
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while waiting.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                look(&bar);
            }
            bar.end();
        });
        let result = work();
        drop(done);
        result
    })
}

/// The check of an image that is up, which says in its status how far it is.
pub fn checking<T>(directory: &Path, work: impl FnOnce() -> T) -> T {
    let mut client = None;
    let look = move |bar: &Bar| {
        if client.is_none() {
            client = Client::connect(directory, "telos image check").ok();
        }
        let status = client.as_mut().and_then(|client| client.status().ok());
        let Some(checking) = status.and_then(|status| status.image.get("checking").cloned()) else { return };
        if let (Some(stage), Some(done), Some(total)) =
            (checking["stage"].as_str(), checking["done"].as_u64(), checking["total"].as_u64())
        {
            bar.tell(stage, done, total);
        }
    };
    beside(Bar::counting(), look, work)
}

/// A backup, by whomever.
pub fn copying<T>(directory: &Path, into: &Path, work: impl FnOnce() -> T) -> T {
    let place = Unnamed::place_for(into).unwrap_or_default();
    let (from, to) = (directory.join(store::IMAGE), place.join(store::IMAGE));
    // It grows until it is as long as what it is a copy of.
    let length = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    beside(Bar::of_bytes(), |bar| bar.tell("copying", length(&to), length(&from)), work)
}
