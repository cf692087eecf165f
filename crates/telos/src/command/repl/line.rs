//! The two ways from a dialogue to an image: through its keeper, or straight to it, if it is not up.

use super::attached::Line;
use crate::alarm::Alarm;
use crate::options::MachineOptions;
use crate::resident::Resident;
use anyhow::Context;
use keeper::protocol::{Answer, Failure, FailureKind, Outcome, Request};
use keeper::{Begun, Client, KeeperError, Living, Watch};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// No request has this id.
const NONE: u64 = 0;
/// How long the scheduler may take between two inputs.
const TURNS: Duration = Duration::from_millis(200);

/// Through the keeper.
pub struct Remote {
    pub client: Client,
    /// The request that is under way, for Ctrl-C.
    current: Arc<AtomicU64>,
}

impl Remote {
    pub fn connect(directory: &Path) -> Result<Remote, KeeperError> {
        let client = Client::connect(directory, concat!("telos repl ", env!("CARGO_PKG_VERSION")))?;
        let current = Arc::new(AtomicU64::new(NONE));
        let (canceller, under_way) = (client.canceller()?, current.clone());
        // Without a handler Ctrl-C leaves the dialogue, which stops the request as well.
        let _ = ctrlc::set_handler(move || {
            let id = under_way.load(Ordering::SeqCst);
            if id != NONE {
                let _ = canceller.cancel(id);
            }
        });
        Ok(Remote { client, current })
    }
}

impl Line for Remote {
    fn ask(&mut self, request: &Request) -> Result<Answer, KeeperError> {
        let id = self.client.post(request)?;
        self.current.store(id, Ordering::SeqCst);
        let answer = self.client.flush().and_then(|()| self.client.wait(id));
        self.current.store(NONE, Ordering::SeqCst);
        answer
    }

    fn greeting(&self) -> (String, String) {
        let welcome = self.client.welcome();
        (welcome.telos.clone(), welcome.directory.clone())
    }

    fn close(self: Box<Self>) -> Result<(), String> {
        Ok(())
    }
}

/// An image that was opened for the dialogue, and is held like one that is up.
pub struct Opened {
    resident: Resident,
    watch: Arc<dyn Watch>,
    directory: PathBuf,
    /// A person's token was shown.
    is_allowed: bool,
}

impl Opened {
    pub fn open(directory: &Path, machine: &MachineOptions, is_allowed: bool) -> anyhow::Result<Opened> {
        let directory = directory.canonicalize().with_context(|| format!("cannot find {}", directory.display()))?;
        // Programs in an image find their files in its directory, whoever woke it up.
        std::env::set_current_dir(&directory).with_context(|| format!("cannot enter {}", directory.display()))?;
        let resident = Resident::open(&directory, machine, None, false, None).map_err(anyhow::Error::msg)?;
        let watch = resident.watch();
        let stopped = watch.clone();
        // Without a handler Ctrl-C ends the process, and what was not answered is not committed.
        let _ = ctrlc::set_handler(move || stopped.interrupt());
        Ok(Opened { resident, watch, directory, is_allowed })
    }

    /// Actors have their turn between two inputs; those that go on for ever have the next one later.
    fn take_turns(&mut self) {
        let begun = Instant::now();
        while begun.elapsed() < TURNS && self.resident.turn() == Some(Duration::ZERO) {}
    }
}

impl Line for Opened {
    fn ask(&mut self, request: &Request) -> Result<Answer, KeeperError> {
        // A stop that came too late for the last input is not meant for this one.
        self.watch.calm();
        let timeout = request.timeout_ms.map(Duration::from_millis);
        let watch = self.watch.clone();
        let alarm = timeout.map(|_| Alarm::new(move || watch.interrupt()));
        alarm.iter().zip(timeout).for_each(|(alarm, timeout)| alarm.set(timeout));
        // Nobody else keeps this image.
        let request = &Request { is_allowed: self.is_allowed, ..request.clone() };
        let mut answer = match self.resident.begin(request) {
            Begun::Done { mut answer, wait } => {
                if let Some(Err(failure)) = wait.map(|wait| wait()) {
                    answer.outcome = Outcome::Failure(failure);
                }
                answer
            }
            Begun::Apart(job) | Begun::Aside(job) => job(),
            // Only a dream says the one, and only an image with a keeper the other.
            Begun::Last(_) | Begun::Later(_) => Answer::failed(FailureKind::Refused, "no dream begins here"),
        };
        let is_late = alarm.is_some_and(|alarm| alarm.stop());
        if let (true, Outcome::Failure(Failure { kind: kind @ FailureKind::Interrupted, message, .. })) =
            (is_late, &mut answer.outcome)
        {
            *kind = FailureKind::Timeout;
            *message = format!("timed out after {} s", timeout.unwrap_or_default().as_secs_f64());
        }
        self.watch.calm();
        self.take_turns();
        Ok(answer)
    }

    fn greeting(&self) -> (String, String) {
        (env!("CARGO_PKG_VERSION").to_string(), format!("{}, opened for this dialogue", self.directory.display()))
    }

    fn close(self: Box<Self>) -> Result<(), String> {
        self.resident.close()
    }
}
