//! Takes leave of dreams that are over, on a thread of its own: their processes, the pages that were kept for them, and now and then
//! what is kept of them all. Live does not stand still for any of it.

use crate::report;
use dream::{DreamError, DreamId, Dreams, Retention};
use image::now_ms;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, kill_process, pidfd_open, waitpid};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use store::Pin;

/// How many dreams come to their end between two looks at what is kept of them,
const TIDIED_AFTER: u64 = 512;
/// or how long it takes, if they are fewer.
const TIDIED_AFTER_TIME: Duration = Duration::from_secs(600);
/// How long an attendant may take to write down the end of a dream whose line is closed.
const LEAVING: Duration = Duration::from_secs(20);
/// How long nobody who waits for a dream looks up.
const GLANCE: Duration = Duration::from_millis(20);

/// What is kept for a dream: the pages that it reads, and the number of its attendant, a child of ours.
pub struct Attended {
    pub dream: DreamId,
    pub attendant: i32,
    pub pin: Pin,
    /// Nobody wants to know what came of it.
    pub is_unwanted: bool,
}

impl Attended {
    /// Waits until its process has ended, which somebody else takes leave of, or until this wait `is_over`.
    pub fn await_end(&self, is_over: &dyn Fn() -> bool) {
        let end = Pid::from_raw(self.attendant).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        end.into_iter().for_each(|end| while !is_over() && !has_ended(&end, Some(GLANCE)) {});
    }

    fn take_leave(self, place: &Place) {
        // It closed its line as the last thing that it did, or is about to.
        let ended = Pid::from_raw(self.attendant).and_then(await_end);
        drop(self.pin);
        // Then it wrote no end, and the dream would seem to go on for ever.
        if ended.is_some_and(|status| status.exit_status() != Some(0)) {
            sandbox::process::sweep();
            let reason = "the process that attended to it was killed";
            place.tidy(|dreams| match dreams.end_lost(self.dream, reason, now_ms()) {
                Err(DreamError::Missing(_)) => Ok(()),
                ended => ended,
            });
        }
        if self.is_unwanted {
            place.tidy(|dreams| match dreams.put_aside(self.dream) {
                Err(DreamError::Missing(_)) => Ok(()),
                removed => removed,
            });
        }
    }
}

/// How a child of ours ended. One that does not is killed, and its dreamer with it: others wait behind it here.
fn await_end(pid: Pid) -> Option<WaitStatus> {
    if let Ok(end) = pidfd_open(pid, PidfdFlags::empty())
        && !has_ended(&end, Some(LEAVING))
    {
        let _ = kill_process(pid, Signal::KILL);
    }
    waitpid(Some(pid), WaitOptions::empty()).ok().flatten().map(|(_, status)| status)
}

/// Whether a process ends within this time, or at all. A signal to us is no end of it.
fn has_ended(process: &OwnedFd, time: Option<Duration>) -> bool {
    let deadline = time.map(|time| Instant::now() + time);
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut [PollFd::new(process, PollFlags::IN)], left.as_ref()) {
            Err(Errno::INTR) => {}
            ended => return matches!(ended, Ok(1..)),
        }
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
        problem.iter().for_each(|problem| report::say(&report::harmless(&format!("warning: {problem}"))));
    }
}

/// The way to that thread, which ends with it.
pub struct Farewell(Option<Sender<Attended>>);

impl Farewell {
    pub fn new(place: Place) -> Farewell {
        let (sender, receiver) = channel::<Attended>();
        let thread = std::thread::Builder::new().name("farewell".into()).spawn(move || {
            let mut count = 0_u64;
            loop {
                match receiver.recv_timeout(TIDIED_AFTER_TIME) {
                    Ok(attended) => attended.take_leave(&place),
                    Err(RecvTimeoutError::Timeout) => count = TIDIED_AFTER - 1,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
                count += 1;
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
            None => drop(attended),
        }
    }
}
