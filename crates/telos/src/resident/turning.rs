//! The scheduler's turns between requests: each a transaction of its own, within limits, for nobody waits for it.

use super::dreaming::say;
use super::{Attempted, Resident};
use crate::alarm::Alarm;
use crate::cambrian;
use crate::chronicle;
use crate::report;
use crate::turns;
use image::{Cause, ImageError};
use keeper::Watch;
use keeper::protocol::FailureKind;
use language::{Limits, Value};
use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::StoreError;

/// What one turn of the scheduler may use; nobody waits for it, and requests wait behind it.
const TURN_FUEL: u64 = 10_000_000;

impl Resident {
    /// Lets the scheduler have its turn, if one is due.
    pub(super) fn take_turn(&mut self) -> Option<Duration> {
        // A coroutine of a locked image could write nothing.
        if self.is_asleep || self.image.guard().is_whole() || self.watch.stalled().is_some() {
            return None;
        }
        let due = self.next_turn()?;
        if due > Duration::ZERO {
            return Some(due);
        }
        self.watch.turns.fetch_add(1, Ordering::Relaxed);
        self.image.vm_mut().set_limits(Limits { fuel: Some(TURN_FUEL), ..self.limits.clone() });
        let (ended, is_late) = self.run_turn();
        // Nobody waits for what a turn prints: whoever looks after the keeper reads it.
        say(&self.session.output.take_captured());
        match ended {
            Ok(Ok((_, ticket))) => self.leave_unsettled(ticket),
            Ok(Err(failure)) if failure.kind == FailureKind::Interrupted && is_late => {
                let seconds = self.turn_time.as_secs_f64();
                self.set_aside(&format!("it took longer than {seconds} s, and requests wait behind a turn"));
            }
            // Whoever stopped it did not mean this coroutine: it goes on when there is a next turn.
            Ok(Err(failure)) if failure.kind == FailureKind::Interrupted => return None,
            Ok(Err(failure)) => self.set_aside(&failure.message),
            Err(ImageError::Store(error)) if !is_its_own(&error) => self.stall(error.to_string()),
            Err(error) => {
                let failure = self.fail(error);
                self.set_aside(&failure.message);
            }
        }
        if self.watch.stalled().is_some() { None } else { self.next_turn() }
    }

    /// In a copy: coroutines that were under way go on in the image that it is a copy of. Here they would do the same once more, and
    /// a merge would set back what they did there meanwhile.
    pub(super) fn let_coroutines_rest(&mut self) {
        if !turns::is_any(self.image.vm_mut()) {
            return;
        }
        let cause = turn_cause("coroutines rest in a dream".into());
        let rested = self.image.attempt(&cause, |vm| {
            turns::rest(vm);
            Ok::<_, Infallible>(())
        });
        if let Err(error) = rested {
            let error = self.fail(error).message;
            self.stall(error);
        }
    }

    fn next_turn(&mut self) -> Option<Duration> {
        let next = turns::next(self.image.vm_mut());
        // The next request is not to blame for what could not be loaded here.
        if let Some(damage) = self.image.vm_mut().take_load_failure() {
            self.stall(format!("its queue is damaged: {damage}"));
            return None;
        }
        next
    }

    /// Lets the scheduler go on, within the time of a turn; says whether that was up.
    fn run_turn(&mut self) -> (Attempted<Value>, bool) {
        let watch = self.watch.clone();
        // The machine may be another one when it rings.
        let alarm = self.turn_alarm.take().unwrap_or_else(|| Alarm::new(move || watch.interrupt()));
        alarm.set(self.turn_time);
        let ended = self.attempt(&turn_cause("turn".into()), |session| session.evaluate("Scheduler turn", "turn"));
        let is_late = alarm.stop();
        if is_late {
            // It may have come too late for this turn, and is not meant for what follows.
            self.watch.calm();
        }
        self.turn_alarm = Some(alarm);
        (ended, is_late)
    }

    /// A turn that failed was taken back, so the same coroutine would be the next one for ever, and the others would never
    /// be: it loses its place in the queue.
    fn set_aside(&mut self, failure: &str) {
        let what = format!("a coroutine could not have its turn: {failure}");
        self.image.vm_mut().set_limits(Limits::default());
        let set_aside = self.image.attempt(&turn_cause(what.clone()), |vm| {
            turns::set_aside(vm);
            Ok::<_, Infallible>(cambrian::keep(vm, &what))
        });
        match set_aside {
            Ok(Ok((place, ticket))) => {
                self.leave_unsettled(ticket);
                report::say(&format!("warning: {what}; it waits no longer, and this is kept in {place}"));
            }
            Err(error) => {
                let error = self.fail(error).message;
                self.stall(format!("{what}; and it could not be taken out of the queue: {error}"));
            }
        }
    }

    /// No turn is taken until a request has shown that there can be commits.
    pub(super) fn stall(&self, reason: String) {
        report::say(&format!("warning: the scheduler takes no turns: {reason}"));
        self.watch.set_stalled(Some(reason));
    }
}

fn turn_cause(cause: String) -> Cause {
    Cause { author: "scheduler".into(), cause: chronicle::shortened(&cause), ..Cause::default() }
}

/// Whether the commit is to blame: another one may well be taken.
fn is_its_own(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::TooLarge { .. } | StoreError::Unfit { .. } | StoreError::Unknown { .. } | StoreError::Change(_)
    )
}
