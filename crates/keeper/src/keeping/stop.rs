//! How a keeper ends. Told to stop, it refuses what has not begun and lets the rest come to its end; then it
//! interrupts; then the image process closes its files; then the last answers are read. Each step has a bound, and
//! whoever asks a second time shortens the one under way. If the image process ends by itself, all who wait are told.

use super::requests::Stage;
use super::{Keeper, Notice, child};
use crate::error::KeeperError;
use crate::protocol::{Answer, FailureKind, Kind, Reason};
use rustix::event::epoll;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// How long clients may take to read their last answers.
const FAREWELL: Duration = Duration::from_secs(2);

/// What ends an image process so soon may well be what the image does when it wakes up.
const EARLY: Duration = Duration::from_secs(5);

/// What the keeper is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// The image is being opened.
    Starting,
    Running,
    /// Requests under way come to their end.
    Draining(Instant),
    /// They were told to.
    Interrupting(Instant),
    /// The image process was told to end.
    Closing(Instant),
    /// It has; clients read what they were sent.
    Farewell(Instant),
}

impl Phase {
    pub fn until(self) -> Option<Instant> {
        match self {
            Phase::Starting | Phase::Running => None,
            Phase::Draining(at) | Phase::Interrupting(at) | Phase::Closing(at) | Phase::Farewell(at) => Some(at),
        }
    }

    pub fn is_ending(self) -> bool {
        self.until().is_some()
    }

    pub fn word(self) -> &'static str {
        match self {
            Phase::Starting => "starting",
            Phase::Running => "running",
            _ => "stopping",
        }
    }
}

impl Keeper<'_> {
    /// Somebody wants this process to stop, perhaps for the second time.
    pub fn signalled(&mut self) {
        let mut bytes = [0; 16];
        let count = rustix::io::read(&self.signals, &mut bytes).unwrap_or(0);
        for _ in 0..count {
            match self.phase {
                Phase::Starting => self.close_image(),
                Phase::Running => self.begin_to_stop(),
                Phase::Draining(_) => self.interrupt_all(),
                Phase::Interrupting(_) => self.close_image(),
                // Nobody waits for it much longer: what is acknowledged is in the log. A signal often comes twice.
                Phase::Closing(at) => self.phase = Phase::Closing(at.min(Instant::now() + self.plan.bounds.grace)),
                Phase::Farewell(_) => self.phase = Phase::Farewell(Instant::now()),
            }
        }
    }

    fn begin_to_stop(&mut self) {
        self.phase = Phase::Draining(Instant::now() + self.plan.bounds.stop);
        for token in self.tokens(Stage::Waiting) {
            self.stop_request(token, None, Reason::Stopping);
        }
        self.runs.those_waiting().into_iter().for_each(|token| self.stop_run(token, None));
        // Those who wait for nothing, or have not even greeted, are told.
        self.touched.extend(self.connections.keys());
        let under_way = self.under_way();
        (self.notify)(Notice::Stopping { under_way });
    }

    fn interrupt_all(&mut self) {
        let under_way = self.under_way();
        (self.notify)(Notice::Interrupting { under_way });
        self.runs.all().into_iter().for_each(|token| self.stop_run(token, None));
        for token in self.tokens(Stage::Ahead) {
            self.stop_request(token, None, Reason::Stopping);
        }
        self.phase = Phase::Interrupting(Instant::now() + self.plan.bounds.grace);
    }

    fn close_image(&mut self) {
        for token in self.tokens(Stage::Waiting) {
            self.stop_request(token, None, Reason::Stopping);
        }
        self.touched.extend(self.connections.keys());
        self.end_all_dreams();
        self.outbox.push(Kind::Stop, 0, &[]);
        self.part_from_runs("the image is stopping");
        self.phase = Phase::Closing(Instant::now() + self.plan.bounds.close);
    }

    fn under_way(&self) -> usize {
        self.requests.ahead() + self.requests.in_dreams() + self.runs.under_way()
    }

    fn tokens(&self, stage: Stage) -> Vec<u64> {
        self.requests.entries.iter().filter(|(_, entry)| entry.stage == stage).map(|(token, _)| *token).collect()
    }

    /// Goes on to the next step when the present one is done or has taken too long; says how it ended after the last.
    pub fn advance(&mut self, now: Instant) -> Option<Result<(), KeeperError>> {
        let is_time_up = self.phase.until().is_some_and(|until| now >= until);
        match self.phase {
            Phase::Draining(_) if self.under_way() == 0 => self.close_image(),
            Phase::Draining(_) if is_time_up => self.interrupt_all(),
            Phase::Interrupting(_) if is_time_up || self.under_way() == 0 => self.close_image(),
            Phase::Closing(_) if is_time_up => {
                self.child.kill();
                let pid = self.child.pid();
                self.part(Err(KeeperError::ImageStuck { pid }));
            }
            Phase::Farewell(_) => {
                let is_read = self.connections.values().all(|connection| connection.outbox.is_empty());
                return if is_read || is_time_up { self.end.take() } else { None };
            }
            _ => return None,
        }
        // What was just decided is to be written.
        self.flush();
        None
    }

    /// The image process has closed its end and may still run; it has as long as for any request to end.
    pub fn pair_closed(&mut self) {
        let _ = epoll::delete(&self.poll, &self.child.pair);
        if !matches!(self.phase, Phase::Closing(_) | Phase::Farewell(_)) {
            self.failure.get_or_insert_with(|| "the image process has closed its connection".to_string());
            self.phase = Phase::Closing(Instant::now() + self.plan.bounds.grace);
        }
    }

    pub fn image_ended(&mut self) {
        // Its last words may still be in the pair.
        self.hear_image();
        let Some(status) = self.child.ended() else { return };
        let _ = epoll::delete(&self.poll, &self.child.end);
        // It was we who killed it.
        if self.end.is_some() {
            return;
        }
        let end = self.ending(status);
        self.part(end);
    }

    fn ending(&mut self, status: ExitStatus) -> Result<(), KeeperError> {
        let pid = self.child.pid();
        match (self.phase, self.failure.take()) {
            (Phase::Closing(_), None) if status.success() => Ok(()),
            (_, Some(message)) if status.code().is_some() => Err(KeeperError::ImageFailed { message }),
            _ if self.phase == Phase::Starting || self.started.elapsed() < EARLY => {
                let cause = child::cause(status);
                let hint = "it was just waking up: if that ends it each time, `telos up --asleep` opens it as it lies";
                Err(KeeperError::ImageLost { pid, cause: format!("{cause}; {hint}") })
            }
            _ => Err(KeeperError::ImageLost { pid, cause: child::cause(status) }),
        }
    }

    /// Tells all that still wait that no answer will come, and lets them read that.
    fn part(&mut self, end: Result<(), KeeperError>) {
        let why = match &end {
            Ok(()) => "the image has stopped".to_string(),
            Err(error) => error.to_string(),
        };
        self.end_all_dreams();
        let tokens: Vec<u64> = self.requests.entries.keys().copied().collect();
        for token in tokens {
            let Some(entry) = self.requests.remove(token) else { continue };
            let answer = match entry.stage {
                Stage::Waiting => Answer::failed(FailureKind::Refused, format!("{why}; nothing was done")),
                Stage::Ahead | Stage::Stopped => {
                    let message = format!("{why}; whether the request was committed is not known");
                    Answer::failed(FailureKind::Lost, message)
                }
                Stage::Abandoned | Stage::Inquiry => continue,
            };
            self.answer(&entry, None, &answer);
        }
        self.part_from_runs(&why);
        self.part_from_broker();
        self.outbox.clear();
        self.touched.extend(self.connections.keys());
        self.end = Some(end);
        self.phase = Phase::Farewell(Instant::now() + FAREWELL);
    }
}
