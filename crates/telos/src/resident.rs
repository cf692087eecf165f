//! What lives in the image process: the image, and how a request of the protocol becomes a transaction and its end an
//! answer.

mod admission;
mod archive;
mod attempt;
mod candidate;
mod cause;
mod delivering;
mod dreaming;
mod dreams;
mod evidence;
mod farewell;
mod glance;
mod judgement;
mod judges;
mod judging;
mod known;
pub mod locks;
mod merging;
mod names;
mod nested;
mod persons;
mod places;
mod promises;
mod protection;
mod records;
mod rejecting;
mod resting;
mod settling;
mod telling;
mod turning;
mod undoing;
mod unit;

pub use admission::check_mandate;
pub use delivering::check_delivered;
pub use merging::policy_of;
pub use names::Roots;
pub use settling::CONFLICTS_MAX;
pub use telling::page_of;

use crate::alarm::Alarm;
use crate::answer::{failure_of, render};
use crate::cambrian::{self, Conditions, Woken};
use crate::chronicle;
use crate::command::{Snapshot, described, help_text};
use crate::host::dream::Desk;
use crate::host::outside::Line;
use crate::host::{Sink, StandardOutput};
use crate::options::MachineOptions;
use crate::report;
use crate::session::{self, Session};
use cause::cause_of;
use glance::{Glance, waking_facts};
use image::{Cause, Image, ImageError};
use keeper::protocol::{Answer, Command, Durability, Failure, FailureKind, Form, Nest, Outcome, Request, Shown};
use keeper::{Begun, Birth, Conclusion, Living, Posted, Wait, Watch};
use language::{Limits, Value, Vm};
use names::LiveNames;
use std::convert::Infallible;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::Ticket;

/// Without a limit fuel is still counted: nothing ever uses so much.
const ENDLESS: u64 = 1 << 62;
/// How long one may take. Fuel does not bound it: a program that waits for the host uses none.
const TURN_TIME: Duration = Duration::from_secs(1);

pub struct Resident {
    image: Image,
    /// Runs programs on the image's machine, which is lent to it; its own is idle.
    session: Session,
    /// What no request may exceed.
    limits: Limits,
    watch: Arc<Glance>,
    /// No turn is taken.
    is_asleep: bool,
    turn_time: Duration,
    /// Made with the first turn.
    turn_alarm: Option<Alarm>,
    /// The last commit that may not be durable, whoever made it: whoever sees what it did is told when it is, and not at
    /// all if it never will be.
    unsettled: Option<Ticket>,
    dreams: dreams::UnderWay,
    /// Lines to those that the keeper does not know of yet.
    births: Vec<Birth>,
    /// Where programs of the image ask for dreams.
    desk: Desk,
    /// Where their calls to the world outside go.
    outside: Option<Line>,
    /// It is itself one.
    is_dream: bool,
    /// What is to become part of live, and is not decided yet.
    merges: merging::Merges,
    /// What is done to the world outside after merges.
    deliveries: delivering::Deliveries,
    /// What the next copy is made for, if that is to be judged.
    candidate: Option<candidate::Candidate>,
    /// What changes only with a person's token.
    locks: locks::Locks,
}

/// What came of a transaction, and what its durability can be waited for by; the outer error is of the image itself.
type Attempted<T> = Result<Result<(T, Option<Ticket>), Failure>, ImageError>;

impl Resident {
    /// Wakes the image of a directory up, or makes one where there is none. Asleep, it does nothing that it is not asked for.
    pub fn open(
        directory: &Path,
        options: &MachineOptions,
        cache_bytes: Option<u64>,
        is_asleep: bool,
        outside: Option<Line>,
    ) -> Result<Resident, String> {
        system::fault::name_on_fault(&directory.join(store::IMAGE));
        let output = StandardOutput::new(Sink::Captured);
        let conditions = Conditions {
            directory,
            machine: options,
            cache_bytes,
            output: &output,
            outside: outside.clone(),
            is_asleep,
        };
        let Woken { mut image, midwife, steps, failure, unsettled } = cambrian::wake(&conditions)?;
        // Nobody asked for what `awake` prints; standard output begins with the line that says that it is up.
        let _ = std::io::stderr().write_all(output.take_captured().as_bytes());
        if let Some(failure) = &failure {
            report::say(&format!(
                "warning: the image is up, but Telos could not wake up: {failure}; mend `Telos awake` with `telos send`, which \
                 the next start sends again; `telos up --asleep` does not send it"
            ));
        }
        // A request that waits behind a turn has half of its time left.
        let turn_time = options.timeout.map_or(TURN_TIME, |timeout| TURN_TIME.min(timeout / 2));
        // The keeper looks at the clock.
        let options = MachineOptions { timeout: None, ..options.clone() };
        let mut session = Session::around(midwife, &options, output.clone());
        output.stops(image.vm().interrupt());
        session.keep_stops();
        let watch = Arc::new(Glance::of(&image, waking_facts(&steps, failure.as_deref(), is_asleep)));
        let limits = options.limits();
        let (lobby, core) = (image.id_of(image.vm().lobby()), image.id_of(image.vm().core()));
        let desk = Desk::of(image.store(), Roots { lobby, core });
        desk.hand_to(image.vm_mut());
        let mut resident = Resident {
            image,
            session,
            limits,
            watch,
            is_asleep,
            turn_time,
            turn_alarm: None,
            unsettled,
            dreams: dreams::UnderWay::default(),
            births: Vec::new(),
            desk,
            outside,
            is_dream: false,
            merges: merging::Merges::default(),
            deliveries: delivering::Deliveries::default(),
            candidate: None,
            locks: locks::Locks::default(),
        };
        resident.renew_guard();
        resident.place_of_dreams().recover();
        if !is_asleep {
            resident.deliver();
        }
        Ok(resident)
    }

    /// Runs something as one transaction.
    fn transact<T>(
        &mut self,
        cause: &Cause,
        run: impl FnOnce(&mut Session) -> Result<T, session::Failure>,
    ) -> Result<(T, Option<Ticket>), Failure> {
        self.attempt(cause, run).unwrap_or_else(|error| Err(self.fail(error)))
    }

    fn attempt<T>(
        &mut self,
        cause: &Cause,
        run: impl FnOnce(&mut Session) -> Result<T, session::Failure>,
    ) -> Attempted<T> {
        let (session, mut unhandled) = (&mut self.session, Vec::new());
        let ended = self.image.attempt(cause, |vm| {
            lend(session, vm, |session| {
                let value = run(session).map_err(|failure| failure_of(session, &failure))?;
                unhandled = unhandled_in(session);
                Ok(value)
            })
        });
        match ended {
            Ok(Ok(_)) => self.dream_as_asked(),
            // It asked for nothing that counts.
            _ => self.desk.forget(),
        }
        // No program that could report them ends here: whoever looks after the keeper reads them.
        if matches!(ended, Ok(Ok(_))) {
            let title = |failure| format!("in a coroutine that nobody waits for: {}", render(failure, ("", ""), false));
            unhandled.iter().for_each(|failure| report::say(&title(failure)));
        }
        self.renew_guard_after(cause);
        let memory_bytes = self.image.vm().heap().usage().bytes as u64;
        self.watch.memory_bytes.store(memory_bytes, Ordering::Relaxed);
        ended
    }

    /// Something went wrong that is not the program's doing. Whatever it was, nothing stays of what was done: only a commit
    /// that cannot be made durable is a failure of storage.
    fn fail(&mut self, error: ImageError) -> Failure {
        if matches!(error, ImageError::Panicked(_)) {
            // Another machine goes on, which is stopped in another way.
            let interrupt = self.image.vm().interrupt();
            self.session.output.stops(interrupt.clone());
            self.watch.set_interrupt(interrupt);
            self.desk.hand_to(self.image.vm_mut());
        }
        let kind = match error {
            ImageError::Interrupted => FailureKind::Interrupted,
            ImageError::Locked(_) => return persons::locked(error.to_string()),
            _ => FailureKind::Refused,
        };
        Failure::new(kind, error.to_string())
    }

    fn evaluate(&mut self, source: &str, request: &Request) -> Result<(Shown, Option<Ticket>), Failure> {
        let cause = cause_of(request, source);
        self.transact(&cause, |session| {
            let value = session.evaluate(source, &request.label)?;
            session.vm.retain(value);
            let shown = shown(session, value, request.form);
            session.vm.release(value);
            shown
        })
    }

    /// The lower of what is asked for and what is allowed.
    fn set_limits(&mut self, request: &Request) -> u64 {
        let lower = |asked: Option<u64>, allowed: Option<u64>| [asked, allowed].into_iter().flatten().min();
        let fuel = lower(request.fuel, self.limits.fuel).unwrap_or(ENDLESS);
        let memory_bytes = lower(request.memory_bytes, self.limits.memory_bytes);
        self.image.vm_mut().set_limits(Limits { fuel: Some(fuel), memory_bytes, depth: self.limits.depth });
        fuel
    }

    /// Only looks at the machine: whatever was touched for it is taken back, and what could not be loaded is told.
    fn look(&mut self, look: impl FnOnce(&mut Vm) -> String) -> Result<(Shown, Option<Ticket>), Failure> {
        match self.image.attempt(&Cause::default(), |vm| Err::<Infallible, String>(look(vm))) {
            Ok(Err(text)) => Ok((Shown { text, kind: "Sequence".into() }, None)),
            Err(error) => Err(self.fail(error)),
        }
    }

    fn leave_unsettled(&mut self, ticket: Option<Ticket>) {
        self.unsettled = ticket.or(self.unsettled);
    }

    /// What an answer has to wait for: the request's own commit, and those before it.
    fn wait(&mut self, own: Option<Ticket>, durability: Durability) -> Option<Wait> {
        let store = self.image.store().clone();
        self.unsettled = self.unsettled.filter(|ticket| !store.is_settled(*ticket));
        // A flush that reaches this commit reaches those before it.
        let is_enough = own.is_some() && durability == Durability::Flush;
        let earlier = if is_enough { None } else { self.unsettled };
        self.leave_unsettled(own);
        if own.is_none() && earlier.is_none() {
            return None;
        }
        let wait = move || earlier.into_iter().chain(own).try_for_each(|ticket| store.wait(ticket));
        Some(Box::new(move || wait().map_err(|error| Failure::new(FailureKind::Storage, error.to_string()))))
    }
}

/// What looks at nothing in memory, and may help where there is no room for commits any more.
fn is_about_files(command: &Command) -> bool {
    matches!(command, Command::Info | Command::Check | Command::Backup(_) | Command::Dreams | Command::DiscardDream(_))
}

/// In a dream: where objects lie tells whether their memory is that of live, or was made anew to be judged. So in none it is told.
fn hide_places(vm: &mut Vm) {
    // Without randomness they are hidden all the same, from whoever does not know of this.
    vm.hide_places(system::random::number().unwrap_or(1));
}

/// Lets a session use a machine that is not its own.
fn lend<R>(session: &mut Session, vm: &mut Vm, run: impl FnOnce(&mut Session) -> R) -> R {
    std::mem::swap(&mut session.vm, vm);
    let result = run(session);
    std::mem::swap(&mut session.vm, vm);
    result
}

/// What went wrong in coroutines since this was last asked. The list is the image's own, and is touched only if it holds
/// something.
fn unhandled_in(session: &mut Session) -> Vec<Failure> {
    let vm = &mut session.vm;
    let scheduler = vm.get_slot(vm.core(), "Scheduler");
    let list = scheduler.and_then(|scheduler| vm.get_slot(scheduler, "unhandledExceptions"));
    if list.and_then(|list| vm.list_of(list)).is_none_or(<[Value]>::is_empty) {
        return Vec::new();
    }
    session.take_unhandled().iter().map(|failure| failure_of(session, failure)).collect()
}

fn shown(session: &mut Session, value: Value, form: Form) -> Result<Shown, session::Failure> {
    let text = match form {
        Form::Text => session.text_of(value)?,
        Form::Shown => session.shown(value)?,
        Form::Json => described(session, value)?.to_string(),
    };
    Ok(Shown { text, kind: session.vm.type_name(value) })
}

impl Living for Resident {
    fn begin(&mut self, request: &Request) -> Begun {
        self.watch.requests.fetch_add(1, Ordering::Relaxed);
        let fuel = self.set_limits(request);
        let store = self.image.store().clone();
        // Memory holds what may never be durable: nobody is to see it.
        if let Err(error) = store.check_open()
            && !is_about_files(&request.command)
        {
            let answer = Answer::failed(FailureKind::Refused, error.to_string());
            return Begun::Done { answer, wait: None };
        }
        let told = |text: Result<String, String>| match text {
            Ok(text) => Ok((Shown { text, kind: "Sequence".into() }, None)),
            Err(message) => Err(Failure::new(FailureKind::Refused, message)),
        };
        let result = match &request.command {
            Command::Evaluate(source) => self.evaluate(source, request),
            Command::Names => self.look(|vm| Snapshot::of(vm).to_json()),
            Command::Help(words) => self.look(|vm| help_text(vm, words)),
            Command::Log { count, before } => told(chronicle::log(&store, *count, *before)),
            Command::Show(number) => told(chronicle::show(&store, *number, &LiveNames::of(&store, &self.desk.roots()))),
            Command::Revert(number) => match self.revert(*number, request) {
                Ok(settled) => settled,
                Err(later) => return *later,
            },
            Command::Info => told(Ok(chronicle::info(&store))),
            Command::Dream(order) => return self.dream(order, request),
            Command::Merge(order) => return self.merge(order, request),
            Command::Conflicts { after, count, is_all } => self.conflicts(*after, *count, *is_all),
            Command::Resolve { conflict, choice, is_forced } => match self.resolve_file(*conflict, choice, request) {
                Some(begun) => return begun,
                None => self.resolve(*conflict, choice, *is_forced, request),
            },
            Command::History { path, count } => self.history_of(path, *count),
            Command::Undo(merge) => match self.undo(merge, request) {
                Ok(settled) => settled,
                Err(later) => return *later,
            },
            Command::Outbox => told(self.tell_outbox()),
            Command::Resend(key) => self.resend(key.as_deref()),
            Command::Lock(target) => self.lock(target, request),
            Command::Unlock(target) => self.unlock(target, request),
            Command::Locks => told(self.list_locks()),
            Command::Dreams => told(self.list_dreams()),
            Command::ShowDream(name) => return self.show_dream(name),
            Command::DreamChanges { dream, from } => return self.show_changes(dream, *from),
            Command::Nested { within, nest: Nest::Page(name) } => return self.nested_page(within, name),
            Command::Nested { within, nest } => told(self.nested(within, nest)),
            Command::DiscardDream(name) => self.discard_dream(name, request),
            Command::Wake => told(Err("the live image is awake; name a dream".into())),
            Command::Check => {
                let watch = self.watch.clone();
                return Begun::Apart(Box::new(move || chronicle::answer(watch.check(&store))));
            }
            Command::Backup(into) => {
                let into = into.clone();
                return Begun::Apart(Box::new(move || chronicle::answer(chronicle::backup(&store, &into))));
            }
        };
        let fuel_used = self.image.vm().fuel_left().map(|left| fuel.saturating_sub(left));
        let (outcome, ticket) = match result {
            Ok((shown, ticket)) => (Outcome::Value(shown), ticket),
            Err(failure) => (Outcome::Failure(failure), None),
        };
        self.session.forget(&request.label);
        let output = self.session.output.take_captured();
        let commit = ticket.map(|ticket| ticket.number);
        if commit.is_some() {
            self.watch.set_stalled(None);
        }
        let wait = self.wait(ticket, request.durability);
        Begun::Done { answer: Answer { output, fuel_used, commit, ..Answer::new(outcome) }, wait }
    }

    fn turn(&mut self) -> Option<Duration> {
        let next_delivery = self.deliver_as_due();
        [next_delivery, self.take_turn()].into_iter().flatten().min()
    }

    fn born(&mut self) -> Vec<Birth> {
        std::mem::take(&mut self.births)
    }

    fn over(&mut self, dream: &str) {
        self.dream_is_over(dream);
        self.merge_as_wanted(dream);
    }

    fn stand_still(&mut self, is_called: &dyn Fn() -> bool) -> bool {
        self.await_candidate(is_called)
    }

    fn cancel(&mut self, number: u64) {
        self.cancel_merge(number);
    }

    fn unwanted(&mut self) -> Vec<String> {
        std::mem::take(&mut self.dreams.unwanted)
    }

    fn concluded(&mut self) -> Vec<Conclusion> {
        self.merges.take_concluded()
    }

    fn posted(&mut self) -> Vec<Posted> {
        self.deliveries.take_posted()
    }

    fn returned(&mut self, number: u64, answer: &[u8]) {
        self.delivery_returned(number, answer);
    }

    fn watch(&self) -> Arc<dyn Watch> {
        self.watch.clone()
    }

    fn close(self) -> Result<(), String> {
        let Resident { mut image, mut session, watch, .. } = self;
        lend(&mut session, image.vm_mut(), Session::finish)
            .map_err(|_| "what programs wrote to files could not be written".to_string())?;
        drop(watch);
        image.close().map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests;
