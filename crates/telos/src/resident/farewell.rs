//! Takes leave of dreams that are over, on a thread of its own: their processes, the pages that were kept for them, and now and then
//! what is kept of them all. Live does not stand still for any of it.

use crate::report;
use dream::{Dreams, Retention};
use rustix::process::{Pid, WaitOptions, waitpid};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::time::{SystemTime, UNIX_EPOCH};
use store::Pin;

/// How many dreams come to their end between two looks at what is kept of them.
const TIDIED_AFTER: u64 = 512;

/// What is kept for a dream: the pages that it reads, and the number of its attendant, a child of ours.
pub struct Attended {
    pub attendant: i32,
    pub pin: Pin,
}

impl Attended {
    fn take_leave(self) {
        // It closed its line as the last thing that it did, or is about to.
        if let Some(pid) = Pid::from_raw(self.attendant) {
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
        drop(self.pin);
    }
}

/// Where the dreams of an image are written down.
pub struct Place {
    pub image: PathBuf,
    pub store: [u8; 16],
}

impl Place {
    pub fn open(&self) -> Result<Dreams, String> {
        Dreams::open(&self.image, self.store).map_err(|error| error.to_string())
    }

    /// Before the first dream: those that a process which was killed left without an end get one.
    pub fn recover(&self) {
        self.tidy(|dreams| dreams.recover(now_ms()).map(drop));
        self.expire();
    }

    /// Those go that nobody wants to keep. Beside dreams that are going on, and may be about to get a name.
    fn expire(&self) {
        sandbox::process::sweep();
        self.tidy(|dreams| dreams.expire(&Retention::default(), now_ms()).map(drop));
    }

    fn tidy(&self, tidy: impl FnOnce(&Dreams) -> Result<(), dream::DreamError>) {
        // An image that never dreamt has no directory of them.
        if !self.image.join("dreams").exists() {
            return;
        }
        let problem = self.open().and_then(|dreams| tidy(&dreams).map_err(|error| error.to_string())).err();
        problem.iter().for_each(|problem| report::say(&format!("warning: {problem}")));
    }
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// The way to that thread, which ends with it.
pub struct Farewell(Option<Sender<Attended>>);

impl Farewell {
    pub fn new(place: Place) -> Farewell {
        let (sender, receiver) = channel::<Attended>();
        let thread = std::thread::Builder::new().name("farewell".into()).spawn(move || {
            for (count, attended) in (1_u64..).zip(receiver) {
                attended.take_leave();
                if count.is_multiple_of(TIDIED_AFTER) {
                    place.expire();
                }
            }
        });
        Farewell(thread.is_ok().then_some(sender))
    }

    pub fn take(&self, attended: Attended) {
        match &self.0 {
            // It ends after we do.
            Some(sender) => drop(sender.send(attended)),
            None => attended.take_leave(),
        }
    }
}
