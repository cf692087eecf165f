//! What lives in the image process until the store is wired in: one machine that forgets everything when it ends, and
//! rolls nothing back. Owns how a request of the protocol becomes a program and its end an answer.

use crate::answer::failure_of;
use crate::command::{Snapshot, described, help_text};
use crate::host::Sink;
use crate::options::MachineOptions;
use crate::session::{Failure, Session};
use keeper::protocol::{Answer, Command, FailureKind, Form, Outcome, Request, Shown};
use keeper::{Begun, Living, Watch};
use language::{Interrupt, Limits, Value};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Without a limit fuel is still counted: nothing ever uses so much.
const ENDLESS: u64 = 1 << 62;
/// What one turn of the scheduler may use; nobody waits for it, and requests wait behind it.
const TURN_FUEL: u64 = 10_000_000;

pub struct Resident {
    session: Session,
    /// What no request may exceed.
    limits: Limits,
    watch: Arc<Glance>,
}

/// What other threads see of it.
struct Glance {
    interrupt: Interrupt,
    requests: AtomicU64,
    turns: AtomicU64,
}

impl Watch for Glance {
    fn interrupt(&self) {
        self.interrupt.set();
    }

    fn calm(&self) {
        self.interrupt.take();
    }

    fn status(&self) -> BTreeMap<String, serde_json::Value> {
        let count = |counter: &AtomicU64| json!(counter.load(Ordering::Relaxed));
        let rows = [("is_durable", json!(false)), ("requests", count(&self.requests)), ("turns", count(&self.turns))];
        rows.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
    }
}

impl Resident {
    pub fn new(options: &MachineOptions) -> Resident {
        // The keeper looks at the clock.
        let options = MachineOptions { timeout: None, ..options.clone() };
        let mut session = Session::new(&options, Sink::Captured);
        session.keep_stops();
        let interrupt = session.vm.interrupt();
        let watch = Glance { interrupt, requests: AtomicU64::new(0), turns: AtomicU64::new(0) };
        Resident { limits: options.limits(), session, watch: Arc::new(watch) }
    }

    fn evaluate(&mut self, source: &str, request: &Request) -> Result<Shown, Failure> {
        let value = self.session.evaluate(source, &request.label)?;
        self.session.vm.retain(value);
        let shown = self.shown(value, request.form);
        self.session.vm.release(value);
        shown
    }

    fn shown(&mut self, value: Value, form: Form) -> Result<Shown, Failure> {
        let text = match form {
            Form::Text => self.session.text_of(value)?,
            Form::Shown => self.session.shown(value)?,
            Form::Json => described(&mut self.session, value)?.to_string(),
        };
        Ok(Shown { text, kind: self.session.vm.type_name(value) })
    }

    /// The lower of what is asked for and what is allowed.
    fn set_limits(&mut self, request: &Request) -> u64 {
        let lower = |asked: Option<u64>, allowed: Option<u64>| [asked, allowed].into_iter().flatten().min();
        let fuel = lower(request.fuel, self.limits.fuel).unwrap_or(ENDLESS);
        let memory_bytes = lower(request.memory_bytes, self.limits.memory_bytes);
        self.session.vm.set_limits(Limits { fuel: Some(fuel), memory_bytes, depth: self.limits.depth });
        fuel
    }

    /// When the scheduler has something to do: at once, when the first timer is due, or not at all.
    fn next_turn(&mut self) -> Option<Duration> {
        let lobby = self.session.vm.lobby();
        let scheduler = self.session.vm.get_slot(lobby, "Scheduler")?;
        let vm = &mut self.session.vm;
        let ready = vm.get_slot(scheduler, "yieldingCoros")?;
        if vm.list_of(ready).is_some_and(|ready| !ready.is_empty()) {
            return Some(Duration::ZERO);
        }
        let timers = vm.get_slot(scheduler, "timers")?;
        let first = vm.list_of(timers)?.first().copied()?;
        let due = vm.number_of(vm.list_of(first)?.first().copied()?)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        Duration::try_from_secs_f64((due - now).max(0.0)).ok()
    }
}

fn refused(what: &str) -> Begun {
    let message = format!("what lives here has {what}: it is forgotten when it ends");
    Begun::Done { answer: Answer::failed(FailureKind::Refused, message), wait: None }
}

impl Living for Resident {
    fn begin(&mut self, request: &Request) -> Begun {
        self.watch.requests.fetch_add(1, Ordering::Relaxed);
        let fuel = self.set_limits(request);
        let text = |text: String| Ok(Shown { text, kind: "Sequence".into() });
        let result = match &request.command {
            Command::Evaluate(source) => self.evaluate(source, request),
            Command::Names => text(Snapshot::of(&mut self.session.vm).to_json()),
            Command::Help(words) => text(help_text(&mut self.session.vm, words)),
            Command::Log { .. } | Command::Show(_) | Command::Revert(_) => return refused("no history"),
            Command::Info | Command::Check | Command::Backup(_) => return refused("no files"),
        };
        let fuel_used = self.session.vm.fuel_left().map(|left| fuel.saturating_sub(left));
        let outcome = match result {
            Ok(shown) => Outcome::Value(shown),
            Err(failure) => Outcome::Failure(failure_of(&mut self.session, &failure)),
        };
        self.session.forget(&request.label);
        let output = self.session.output.take_captured();
        Begun::Done { answer: Answer { output, fuel_used, ..Answer::new(outcome) }, wait: None }
    }

    fn turn(&mut self) -> Option<Duration> {
        if self.next_turn()? > Duration::ZERO {
            return self.next_turn();
        }
        self.watch.turns.fetch_add(1, Ordering::Relaxed);
        self.session.vm.set_limits(Limits { fuel: Some(TURN_FUEL), ..self.limits.clone() });
        // What an actor's coroutine could not do is told in its future; there is nobody else to tell.
        let _ = self.session.vm.evaluate("Scheduler wakeExpiredTimers; Coroutine currentCoroutine yield", "turn");
        // Nobody waits for what a turn prints: whoever looks after the keeper reads it.
        let output = self.session.output.take_captured();
        let _ = std::io::Write::write_all(&mut std::io::stdout(), output.as_bytes());
        self.next_turn()
    }

    fn watch(&self) -> Arc<dyn Watch> {
        self.watch.clone()
    }

    fn close(mut self) -> Result<(), String> {
        self.session.finish().map_err(|_| "what programs wrote to files could not be written".to_string())?;
        // The process ends here: taking a large heap apart piece by piece would only delay it.
        std::mem::forget(self.session);
        Ok(())
    }
}
