//! Dreams of a resident: how one is begun, what live keeps for it meanwhile, and what its copy does.

use super::admission::check_mandate;
use super::dreaming::{Dreaming, words_of};
use super::farewell::{Attended, Farewell};
use super::glance::{Glance, waking_facts};
use super::judging::Case;
use super::nested::Parents;
use super::{Resident, hide_places, lend, shown};
use crate::answer::failure_of;
use crate::host::dream::{Asked, GoingOn};
use crate::images::check_apart;
use crate::report;
use crate::turns;
use dream::{Alone, Bounds, DreamId, End, Forked, Header, Limits, Lineage, Record, Sealed, SeenDirectory, Status};
use image::{Guard, Imagined, now_ms};
use keeper::protocol::{Answer, DreamBegun, DreamOrder, Failure, FailureKind, Outcome, Request, Rung, Shown};
use keeper::{Begun, Birth, Outside};
use merge::Policy;
use object::change::ActorId;
use sandbox::{Access, Grant, Order, View};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{Branched, Commit, ForkPoint};

/// What a dream may use, if nobody says more or less.
pub const TIME: Duration = Duration::from_secs(60);
const MEMORY_BYTES: u64 = 1 << 30;
/// Surely enough to begin with; with much less its processes do not come to life, and nobody can say why.
const MEMORY_BYTES_LEAST: u64 = 8 << 20;
const DISK_BYTES: u64 = 64 << 20;
/// It and what it forks.
const PROCESSES: u64 = 64;
/// So many at once.
const DREAMS_MAX: usize = 2048;

#[derive(Default)]
pub struct UnderWay {
    dreams: BTreeMap<String, Attended>,
    pub parents: Parents,
    /// Those that the keeper is to end.
    pub unwanted: Vec<String>,
    /// Made with the first one.
    farewell: Option<Farewell>,
}

impl UnderWay {
    pub fn is_going_on(&self, name: &str) -> bool {
        self.dreams.contains_key(name)
    }
}

impl Resident {
    /// Begins a dream: copies this process, and lets the keeper have the line to the copy.
    pub(super) fn dream(&mut self, order: &DreamOrder, request: &Request) -> Begun {
        let start = Instant::now();
        if let Some(Err(failure)) = order.again.as_ref().map(|name| self.check_dream(name, request)) {
            return Begun::Done { answer: Answer::new(Outcome::Failure(failure)), wait: None };
        }
        let begun = match order.rung {
            Rung::Process => {
                let begun = self.fork(order, None);
                self.watch.pauses.note(start.elapsed());
                begun.map(|point| (point, None, String::new()))
            }
            Rung::World => self.dream_in_world(order, request),
        };
        match begun {
            Ok((point, outcome, output)) => {
                let begun = DreamBegun { dream: name_of(&point), commit: point.commit, outcome };
                let text = serde_json::to_string(&begun).unwrap_or_default();
                let answer = Answer { output, ..Answer::new(Outcome::Value(Shown { text, kind: "Map".into() })) };
                // A dream of something that is not durable must not be known before it is.
                let wait = self.wait(None, request.durability);
                Begun::Done { answer, wait }
            }
            Err(failure) => Begun::Done { answer: Answer::new(Outcome::Failure(failure)), wait: None },
        }
    }

    /// Lets a program run on the live machine, writes down what it would have changed, and takes all of it back. It is given nothing
    /// of the host meanwhile.
    fn dream_in_world(
        &mut self,
        order: &DreamOrder,
        request: &Request,
    ) -> Result<(ForkPoint, Option<Outcome>, String), Failure> {
        let refused = |message: String| Failure::new(FailureKind::Refused, message);
        let Some(source) = &order.source else {
            return Err(refused("a world dream is for a source, which is evaluated at once".into()));
        };
        if let Some(what) = needs_process(order) {
            return Err(refused(format!("a world dream has no {what}: take a higher rung")));
        }
        check_mandate(&order.mandate).map_err(refused)?;
        let store = self.image.store().clone();
        let actor = store.mint_actor().map_err(|error| refused(error.to_string()))?;
        let point = ForkPoint { commit: store.last_commit(), time: store.time(), actor };
        let header = header_of(order, &point, store.id());
        let (session, label) = (&mut self.session, request.label.as_str());
        let capabilities = session.capabilities();
        self.image.vm_mut().withhold_host();
        let imagined = self.image.imagine(actor, |vm| {
            turns::rest(vm);
            lend(session, vm, |session| {
                let value = session.evaluate(source, label).map_err(|failure| failure_of(session, &failure))?;
                shown(session, value, request.form).map_err(|failure| failure_of(session, &failure))
            })
        });
        capabilities.install(self.image.vm_mut());
        let imagined = imagined.map_err(|error| self.fail(error))?;
        let said = self.session.output.take_captured();
        let (changes, outcome, end) = match imagined {
            Ok(Imagined { value, changes, .. }) => {
                let end = End { output: said.clone(), ..dream::ended(Status::Ended, String::new()) };
                (changes, Outcome::Value(value), end)
            }
            Err(failure) => {
                let output = format!("{said}{}\n", words_of(&failure));
                let end = End { output, ..dream::ended(Status::Failed, words_of(&failure)) };
                (Vec::new(), Outcome::Failure(failure), end)
            }
        };
        let written = self
            .kept()
            .and_then(|dreams| dream::write_down(&dreams, &header, changes, &end).map_err(|error| error.to_string()));
        written.map(|()| (point, Some(outcome), said)).map_err(refused)
    }

    /// Begins what programs of this image have asked for, now that it is committed that they did.
    pub(super) fn dream_as_asked(&mut self) {
        // Those inside of a dream begin when its journal says what was done before.
        if self.is_dream {
            return;
        }
        for Asked { actor, mandate, source, budget } in self.desk.take() {
            let order = DreamOrder {
                mandate,
                agent: "Telos".into(),
                source: Some(source),
                time_ms: budget.time_ms,
                source_fuel: budget.fuel,
                source_memory_bytes: budget.memory_bytes,
                ..DreamOrder::default()
            };
            if let Err(failure) = self.fork(&order, Some(actor)) {
                report::say(&format!("warning: dream {} did not begin: {}", DreamId(actor), failure.message));
            }
        }
        for (order, timeout_ms) in self.desk.take_to_merge() {
            self.merge_when_over(order, timeout_ms);
        }
    }

    pub(super) fn fork(&mut self, order: &DreamOrder, minted: Option<ActorId>) -> Result<ForkPoint, Failure> {
        let refused = |message: String| Failure::new(FailureKind::Refused, message);
        if self.is_dream {
            return Err(refused(
                "only the live image begins dreams: `telos dream new --within` begins one in here".into(),
            ));
        }
        if order.again.is_some() && !order.grants.is_empty() {
            return Err(refused(
                "a dream that goes on sees the directories that it saw; give others to a new one".into(),
            ));
        }
        check_mandate(&order.mandate).map_err(refused)?;
        check_apart(Some(self.image.store().directory()), self.directories_of(order).map_err(refused)?)
            .map_err(refused)?;
        if order.memory_bytes.is_some_and(|bytes| bytes < MEMORY_BYTES_LEAST) {
            let least = MEMORY_BYTES_LEAST >> 20;
            return Err(refused(format!("a dream needs room of at least {least} MiB to begin: --room {least}M")));
        }
        if self.dreams.dreams.len() >= DREAMS_MAX {
            return Err(refused(format!("{DREAMS_MAX} dreams are going on, and no more may be; discard some")));
        }
        if let Some(parent) = &order.within {
            self.check_parent(parent).map_err(refused)?;
        }
        let (line, theirs) =
            UnixStream::pair().map_err(|error| refused(format!("cannot make a line to it: {error}")))?;
        sandbox::process::get_ready();
        system::memory::make_room_for_copies();
        let actor = match (&order.again, minted) {
            (Some(name), _) => self.kept_actor(name).map_err(refused)?,
            (None, Some(actor)) => actor,
            (None, None) => self.image.store().mint_actor().map_err(|error| refused(error.to_string()))?,
        };
        settle_memory();
        let (branched, point) = self.image.fork(actor).map_err(|error| refused(error.to_string()))?;
        match branched {
            Branched::Live { child, pin } => {
                let name = name_of(&point);
                self.dreams.parents.begun(&name, order);
                let (since_ms, time) = (now_ms(), order.time_ms.unwrap_or(TIME.as_millis() as u64));
                self.desk.begun(&name, GoingOn { since_ms, ends_by_ms: since_ms.saturating_add(time) });
                self.dreams.dreams.insert(
                    name.clone(),
                    Attended { dream: DreamId(point.actor), attendant: child, pin, is_unwanted: false },
                );
                self.births.push(Birth { dream: name, policies: order.policies.clone(), line: line.into() });
                Ok(point)
            }
            Branched::Copy => {
                // This copy must drop nothing of what it has a copy of, and leaves by the shortest way.
                std::mem::forget(line);
                system::clone::leave(self.attend(order, &point, theirs.into()))
            }
        }
    }

    /// In live: waits until this dream is over, or the wait is.
    pub(super) fn await_end(&self, name: &str, is_over: &dyn Fn() -> bool) {
        self.dreams.dreams.get(name).into_iter().for_each(|attended| attended.await_end(is_over));
    }

    /// Nobody needs this dream any more, nor what is kept of it.
    pub(super) fn is_unwanted(&mut self, name: &str) {
        if let Some(attended) = self.dreams.dreams.get_mut(name) {
            attended.is_unwanted = true;
            self.dreams.unwanted.push(name.into());
        }
    }

    fn check_parent(&self, name: &str) -> Result<(), String> {
        let id: DreamId = name.parse().map_err(|error: dream::DreamError| error.to_string())?;
        self.kept()?.check_depth(id).map(drop).map_err(|error| error.to_string())
    }

    /// Of a dream that is kept and not going on.
    fn kept_actor(&self, name: &str) -> Result<ActorId, String> {
        if self.dreams.dreams.contains_key(name) {
            return Err(format!("dream {name} is going on"));
        }
        let id: DreamId = name.parse().map_err(|error: dream::DreamError| error.to_string())?;
        self.kept()?.check(id).map_err(|error| error.to_string())?;
        Ok(id.0)
    }

    /// Of the host, that it would see.
    fn directories_of(&self, order: &DreamOrder) -> Result<Vec<PathBuf>, String> {
        let Some(name) = &order.again else {
            return Ok(order.grants.iter().map(|grant| PathBuf::from(&grant.host)).collect());
        };
        let id: DreamId = name.parse().map_err(|error: dream::DreamError| error.to_string())?;
        let header = self.kept()?.header(id).map_err(|error| error.to_string())?;
        Ok(header.directories.into_iter().map(|seen| seen.host).collect())
    }

    /// In the copy: all of the attendant's life.
    fn attend(&mut self, order: &DreamOrder, point: &ForkPoint, line: OwnedFd) -> i32 {
        system::memory::use_room_of_copy();
        let store = self.image.store();
        let forked = Forked { line, directory: store.directory().to_path_buf(), store: store.id() };
        let header = header_of(order, point, store.id());
        let Ok(alone) = forked.give_up_all_else() else { return 1 };
        let case = self.candidate.take().map(|candidate| self.case(&alone, candidate)).transpose();
        let record = match (&order.again, &order.within) {
            (Some(_), _) => self.go_back(&alone, DreamId(point.actor)),
            (None, Some(parent)) => self.go_into(&alone, parent, header),
            (None, None) => Ok(Record::New(Box::new(header))),
        };
        let case = match case {
            Ok(case) => case,
            // Whoever decides reads it in the file.
            Err(why) => {
                let failed = |record| match record {
                    Record::New(header) => alone.dreams()?.begin(&header)?.end(&dream::ended(Status::Failed, why)),
                    Record::Again(..) => Ok(()),
                };
                return i32::from(record.and_then(failed).is_err());
            }
        };
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                keeper::say_failed(alone.line(), &error.to_string());
                return 1;
            }
        };
        let told = |line: BorrowedFd<'_>, error: &dream::DreamError| keeper::say_failed(line, &error.to_string());
        alone.attend(record, &order_of(order), |sealed| self.dream_on(sealed, order, case), told)
    }

    /// Becomes what a kept dream was.
    fn go_back(&mut self, alone: &Alone, id: DreamId) -> Result<Record, dream::DreamError> {
        let (recording, kept) = alone.dreams()?.resume(id)?;
        let Lineage { fork_commit, entries } = alone.dreams()?.lineage(&kept.header)?;
        let commits = entries.iter().chain(kept.journal.entries()).map(commit_of);
        let gone_back = self.image.become_earlier(fork_commit, commits.collect());
        match gone_back {
            Ok(()) => Ok(Record::Again(recording, Box::new(kept))),
            Err(error) => {
                let end = kept.end.unwrap_or_else(|| dream::ended(dream::Status::Failed, error.to_string()));
                recording.end(&dream::End { reason: format!("it could not go on: {error}"), ..end })?;
                Err(dream::DreamError::Unmade { id: id.to_string(), why: error.to_string() })
            }
        }
    }

    /// Becomes what another dream is by now.
    fn go_into(&mut self, alone: &Alone, parent: &str, header: Header) -> Result<Record, dream::DreamError> {
        let parent: DreamId = parent.parse()?;
        let (Lineage { fork_commit, entries }, changes) = alone.dreams()?.inside_of(parent)?;
        let header = Header { fork_commit, parent: Some((parent, changes)), ..header };
        match self.image.become_earlier(fork_commit, entries.iter().map(commit_of).collect()) {
            Ok(()) => Ok(Record::New(Box::new(header))),
            Err(error) => {
                let why = format!("it could not begin inside of {parent}: {error}");
                alone.dreams()?.begin(&header)?.end(&dream::ended(dream::Status::Failed, why.clone()))?;
                Err(dream::DreamError::Unmade { id: header.id().to_string(), why })
            }
        }
    }

    /// In the sealed copy of that: all of the dreamer's life.
    fn dream_on(&mut self, sealed: Sealed, order: &DreamOrder, case: Option<Case>) -> i32 {
        self.become_dreamer(order);
        let Sealed { conversation, journal } = sealed;
        let code = Cell::new(0);
        let mut dreaming = Dreaming { resident: self, journal, is_for_one: order.is_for_one, code: &code };
        if let Some(case) = case {
            system::memory::use_wide_room();
            dreaming.lead_to(Outside::alone(conversation));
            return dreaming.judge(case);
        }
        dreaming.resident.let_coroutines_rest();
        if let Some(source) = &order.source {
            dreaming.lead_to(Outside::alone(conversation));
            let (fuel, memory_bytes) = (order.source_fuel, order.source_memory_bytes);
            return dreaming.do_alone(&Request { fuel, memory_bytes, ..Request::evaluate(source.clone()) });
        }
        let begin = |outside| {
            dreaming.lead_to(outside);
            dreaming
        };
        match keeper::dream(conversation, begin, |code| system::clone::leave(code)) {
            Ok(()) => code.get(),
            Err(_) => 1,
        }
    }

    /// Gives up what belongs to threads and dreams that this copy has not.
    fn become_dreamer(&mut self, order: &DreamOrder) {
        self.is_dream = true;
        if let Some(line) = self.outside.clone() {
            // What nobody can read allows nothing: the broker says the same.
            let policies = order.policies.clone().and_then(|policies| serde_json::from_value(policies).ok());
            let policies = policies.unwrap_or_default();
            let is_bound = !line.differs_from(&policies);
            let given = order.grants.iter().map(|grant| PathBuf::from(&grant.inside));
            line.become_dream(policies, given.chain([std::env::temp_dir()]).collect());
            if !is_bound {
                self.session.capabilities().install(self.image.vm_mut());
            }
        }
        // What it changes is judged when it is merged; until then it is nobody's but its own.
        std::mem::forget(self.image.set_guard(Guard::default()));
        std::mem::forget(std::mem::take(&mut self.locks));
        std::mem::forget(std::mem::take(&mut self.dreams));
        std::mem::forget(std::mem::take(&mut self.births));
        self.desk.become_dream(self.outside.clone());
        // Its thread is not here, and whoever dropped it would wait for that.
        std::mem::forget(self.turn_alarm.take());
        self.unsettled = None;
        hide_places(self.image.vm_mut());
        // What the transaction wrote that asked for this dream is that one's.
        self.session.output.take_captured();
        // Somebody may have held the lock of the old one.
        let watch = Arc::new(Glance::of(&self.image, waking_facts(&[], None, self.is_asleep)));
        std::mem::forget(std::mem::replace(&mut self.watch, watch));
    }

    pub(super) fn dream_is_over(&mut self, name: &str) {
        self.dreams.parents.over(name);
        self.desk.over(name);
        let Some(attended) = self.dreams.dreams.remove(name) else { return };
        let place = self.place_of_dreams();
        self.dreams.farewell.get_or_insert_with(|| Farewell::new(place)).take(attended);
    }
}

/// Has the allocator put together what was freed and it has left as it was: whoever asks it for much at once does. Else the first
/// to ask would be the copy, which copies each page that it touches.
fn settle_memory() {
    const MUCH_BYTES: usize = 16 << 10;
    drop(std::hint::black_box(Vec::<u8>::with_capacity(MUCH_BYTES)));
}

/// What is asked for that only a process of its own can have.
fn needs_process(order: &DreamOrder) -> Option<&'static str> {
    let asked = [
        (!order.grants.is_empty(), "directories"),
        (order.policies.is_some(), "calls to the world outside"),
        (order.within.is_some(), "dream around it"),
        (order.cpu_ms.is_some(), "processor time of its own"),
        (order.memory_bytes.is_some(), "memory of its own"),
    ];
    asked.into_iter().find(|(is_asked, _)| *is_asked).map(|(_, what)| what)
}

/// An entry of a journal as the store takes it.
fn commit_of(entry: &dream::Entry) -> Commit {
    Commit {
        number: 0,
        time: entry.time(),
        author: entry.author().into(),
        cause: entry.cause().into(),
        changes: entry.changes().to_vec(),
        inverse: Vec::new(),
    }
}

fn name_of(point: &ForkPoint) -> String {
    dream::DreamId(point.actor).to_string()
}

fn header_of(order: &DreamOrder, point: &ForkPoint, store: [u8; 16]) -> Header {
    let created_ms = now_ms();
    let mut bounds = Bounds::default();
    bounds.journal_bytes = order.journal_bytes.unwrap_or(bounds.journal_bytes);
    let directories = order.grants.iter().map(|grant| SeenDirectory {
        host: PathBuf::from(&grant.host),
        inside: PathBuf::from(&grant.inside),
        is_layered: grant.is_layered,
    });
    Header {
        store,
        fork_commit: point.commit,
        forked: point.time,
        actor: point.actor,
        parent: None,
        mandate: order.mandate.clone(),
        agent: order.agent.clone(),
        policy: Policy::ForkWins,
        limits: Limits {
            time_ms: order.time_ms,
            cpu_ms: order.cpu_ms,
            memory_bytes: order.memory_bytes,
            ..Limits::default()
        },
        directories: directories.collect(),
        promises: promises_of(order),
        bounds,
        created_ms,
        is_kept: order.is_kept,
    }
}

/// Which calls it may leave to be made when it is merged. What nobody can read allows nothing.
fn promises_of(order: &DreamOrder) -> Option<serde_json::Value> {
    let policies = order.policies.clone().and_then(|policies| serde_json::from_value(policies).ok())?;
    broker::Promises::of(&policies).and_then(|promises| serde_json::to_value(promises).ok())
}

/// The walls of a dream: those of any run, without a program.
fn order_of(order: &DreamOrder) -> Order {
    let time = order.time_ms.map_or(TIME, Duration::from_millis);
    let limits = sandbox::Limits {
        time: Some(time),
        cpu: Some(order.cpu_ms.map_or(time, Duration::from_millis)),
        memory_bytes: Some(order.memory_bytes.unwrap_or(MEMORY_BYTES)),
        processes: Some(PROCESSES),
        disk_bytes: Some(DISK_BYTES),
        ..sandbox::Limits::default()
    };
    let grants = order.grants.iter().map(|grant| Grant {
        host: PathBuf::from(&grant.host),
        inside: PathBuf::from(&grant.inside),
        access: if grant.is_layered { Access::Layered } else { Access::Read },
    });
    Order { view: View { grants: grants.collect(), ..View::default() }, limits, ..Order::default() }
}
