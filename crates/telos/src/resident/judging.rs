//! The judging of a candidate, inside of it: live's own `Verification` is sent one message after the other, each in a level that is
//! taken back, with fuel and time of its own. Owns what counts: nothing that Io does, whether it catches, exits or rewrites
//! what asserts, makes a pass of a failure here.
//!
//! - a *unit* is what is judged by itself: a test, or a check; what each read is kept, so that live knows which of them must be
//!   judged again when it has moved on
//! - a unit that asks for what no object of the image decides, such as the time, is done again and again; one that does not come
//!   to the same each time is unsure, and what is unsure is refused. Any other comes to the same as long as what it read is the same
//! - so a test is run with the dream only if what it read without it is other with it
//! - a unit that writes to what is protected has failed, also if it puts everything back

use super::candidate::Refused;
use super::dreaming::Dreaming;
use super::judgement::{Checked, Judgement, Listing, SAFETY, Tested, VERDICT};
use super::known::{Kept, Known};
use super::lend;
use super::protection::Protected;
use super::resting::Resting;
use super::unit::{Allotment, Allowance, CHECK, Fault, TEST};
use crate::alarm::Alarm;
use crate::answer::failure_of;
use crate::command::described;
use crate::host::Surroundings;
use crate::session::{self, Session};
use dream::{Answered, Call};
use image::{Imagined, MergePlan, ReadSet};
use keeper::protocol::CheckOutcome;
use language::syntax::quote;
use language::{Limits, Value as IoValue};
use object::change::{Datum, ObjectId};
use serde_json::{Map, Value, json};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// How often a unit is done again that asked the host for something, be it only the time.
const CHANCES: usize = 20;
const ASKED_MACHINE: &str =
    "it looks at the machine or the process that it runs in, which is another while it is judged";
/// So many tests are run.
const TESTS_MAX: usize = 10_000;

/// What a candidate is to judge.
pub struct Case {
    pub plan: MergePlan,
    /// What is known of the dream, as `Verification` is told it.
    pub facts: Map<String, Value>,
    /// Objects that it touches, by name.
    pub touched: BTreeMap<String, ObjectId>,
    /// Live's own.
    pub verification: ObjectId,
    /// What earlier candidates found, which still holds; all else is judged.
    pub held: Judgement,
    /// What earlier merges found, of which some may hold.
    pub known: Option<Kept>,
    pub refused: Refused,
    pub protected: Protected,
    /// By which it hides where objects lie.
    pub places: u64,
    pub resting: Resting,
    pub allotment: Allotment,
}

/// The image at one moment, as far as checks compare it with another.
struct Moment {
    listing: Listing,
    tests: BTreeMap<String, Tested>,
    survey: Value,
    /// What was read for the survey.
    reads: ReadSet,
}

/// One candidate, while it is judged.
struct Judge<'j, 'r> {
    dreaming: &'j mut Dreaming<'r>,
    alarm: Alarm,
    protected: &'j Protected,
    resting: &'j Resting,
    /// As they were before the first unit.
    surroundings: Surroundings,
    verification: ObjectId,
    touched: &'j BTreeMap<String, ObjectId>,
    places: u64,
    allotment: Allotment,
    /// Names of the tests that it ran.
    ran: BTreeSet<String>,
}

impl Dreaming<'_> {
    /// Judges, and tells the journal what was found; gives the exit code.
    pub fn judge(&mut self, case: Case) -> i32 {
        let Case { plan, facts, touched, verification, held, known, refused, protected, places, resting, allotment } =
            case;
        let watch = self.resident.watch.clone();
        let alarm = Alarm::new(move || keeper::Watch::interrupt(&*watch));
        let surroundings = Surroundings::of(self.resident.image.vm_mut());
        let (protected, resting, touched, ran) = (&protected, &resting, &touched, BTreeSet::new());
        let mut judge = Judge {
            dreaming: self,
            alarm,
            protected,
            resting,
            surroundings,
            verification,
            touched,
            places,
            allotment,
            ran,
        };
        let judgement = judge.judgement(plan, facts, held, known, &refused);
        let told = judgement.and_then(|judgement| {
            let told = judgement.encode();
            // This process ends here: to take it apart would be work for nobody.
            std::mem::forget(judgement);
            told
        });
        match told {
            Ok(told) => self.tell_calls(vec![Call::operation(VERDICT, &[], Answered::Simulated, Datum::bytes(&told))]),
            Err(message) => self.give_up(&message),
        }
    }
}

impl Judge<'_, '_> {
    fn judgement(
        &mut self,
        plan: MergePlan,
        facts: Map<String, Value>,
        held: Judgement,
        known: Option<Kept>,
        refused: &Refused,
    ) -> Result<Judgement, String> {
        let mut done = 0;
        let safety = held.checks.get(SAFETY).filter(|_| refused.is_empty()).cloned().unwrap_or_else(|| {
            done += 1;
            self.safety(&facts, refused)
        });
        if safety.outcome != CheckOutcome::Passed {
            let (methods, names) = (held.methods, held.names);
            let checks = [(SAFETY.to_string(), safety)].into();
            return Ok(Judgement { checks, done, methods, names, ..Judgement::default() });
        }
        let known = known.map(|kept| kept.still_known(&self.dreaming.resident.image, self.verification));
        let before = self.moment(&held, known.unwrap_or_default(), 0)?;
        let same = self.unconcerned(&plan, &before)?;
        let unconcerned: BTreeSet<String> = same.tests.keys().cloned().collect();
        let image = &mut self.dreaming.resident.image;
        image.try_merge(&plan).map_err(|error| error.to_string())?;
        let after = self.moment(&held, same, CHANCES)?;
        let tests = both_tested(&before, &after, &unconcerned);
        let case_reads = [&after.reads, &before.listing.reads, &after.listing.reads];
        let case_reads = case_reads.into_iter().fold(before.reads.clone(), ReadSet::with);
        let mut judgement = Judgement { done: done + self.ran.len() as u64, case_reads, ..held };
        judgement.verification = Some(self.verification.to_bytes());
        judgement.belonging = self.protected.belonging().collect();
        judgement.tests.extend(tests);
        let is_there = |name: &String| [&before, &after].iter().any(|moment| moment.listing.names.contains(name));
        judgement.tests.retain(|name, _| is_there(name));
        let case = case_of(facts, &judgement.tests, &before, &after).to_string();
        judgement.listing = Some(before.listing);
        std::mem::forget((before.tests, after.tests));
        let checksum = store::checksum(0, case.as_bytes());
        if checksum != judgement.case {
            judgement.checks.clear();
        }
        judgement.case = checksum;
        judgement.checks.insert(SAFETY.into(), safety);
        for name in self.names("checkNames")? {
            if let Entry::Vacant(place) = judgement.checks.entry(name) {
                let checked = self.checked(place.key(), &case);
                place.insert(checked);
                judgement.done += 1;
            }
        }
        Ok(judgement)
    }

    /// Whether the journal breaks a rule: found out before anything of it is laid on, so that no code of it has run. What is
    /// refused in any case is refused also if the rules have nothing against it.
    fn safety(&mut self, facts: &Map<String, Value>, refused: &Refused) -> Checked {
        if let Some(why) = &refused.unseen {
            let (reasons, reads, rests_on) = (vec![why.clone()], ReadSet::default(), Vec::new());
            return Checked { outcome: CheckOutcome::Failed, reasons, time_us: 0, reads, read_count: 0, rests_on };
        }
        let checked = self.checked(SAFETY, &Value::Object(facts.clone()).to_string());
        if checked.outcome != CheckOutcome::Passed || refused.is_empty() {
            return checked;
        }
        let reasons = refused.protected.iter().cloned().collect();
        Checked { outcome: CheckOutcome::Failed, reasons, ..checked }
    }

    /// What comes to the same with what is planned, because that concerns nothing of what was read for it.
    fn unconcerned(&mut self, plan: &MergePlan, before: &Moment) -> Result<Known, String> {
        let Moment { listing, tests, .. } = before;
        let reads: Vec<&ReadSet> = tests.values().map(|tested| &tested.reads).chain([&listing.reads]).collect();
        let image = &mut self.dreaming.resident.image;
        let concerned = image.would_concern(plan, &reads).map_err(|error| error.to_string())?;
        let mut is_same = reads.iter().zip(concerned).map(|(reads, is_concerned)| !is_concerned && !reads.asked_host());
        // It took its time already.
        let again = |(name, tested): (&String, &Tested)| (name.clone(), Tested { time_us: 0, ..tested.clone() });
        let same = tests.iter().filter(|_| is_same.next() == Some(true)).map(again).collect();
        Ok(Known { tests: same, listing: Some(listing.clone()).filter(|_| is_same.next() == Some(true)) })
    }

    /// The image as it is now; of its tests those whose results are not known, each run once more so many times if it may come to
    /// something else.
    fn moment(&mut self, held: &Judgement, known: Known, chances: usize) -> Result<Moment, String> {
        let listing = known.listing.map_or_else(|| self.listing(), Ok)?;
        self.record()?;
        let survey = self.survey()?;
        let reads = self.dreaming.resident.image.take_reads();
        let count = listing.names.len();
        if count > TESTS_MAX {
            return Err(format!("there are {count} tests, and {TESTS_MAX} are run at most"));
        }
        let mut tests = known.tests;
        tests.retain(|name, _| listing.names.contains(name) && !held.tests.contains_key(name));
        for name in listing.names.iter().filter(|name| !held.tests.contains_key(*name)) {
            if let Entry::Vacant(place) = tests.entry(name.clone()) {
                place.insert(self.tested(name, chances));
            }
        }
        Ok(Moment { listing, tests, survey, reads })
    }

    fn listing(&mut self) -> Result<Listing, String> {
        self.record()?;
        let names = self.names("testNames")?.into_iter().collect();
        let sources = self.told("testSources")?;
        Ok(Listing { names, sources, reads: self.dreaming.resident.image.take_reads() })
    }

    fn record(&mut self) -> Result<(), String> {
        self.dreaming.resident.image.record_reads().map_err(|error| error.to_string())
    }

    fn tested(&mut self, name: &str, chances: usize) -> Tested {
        self.ran.insert(name.to_string());
        let start = Instant::now();
        let (mut runs, mut reads) = (Vec::new(), ReadSet::default());
        // What hangs on chance or on the clock may come to the same twice and be something else all the same.
        while runs.is_empty() || (reads.asked_host() && runs.len() <= chances) {
            let (outcome, read) = self.recorded(TEST, |session, judge| run_test(session, judge, name).map(drop));
            let outcome = match read.asked_machine() {
                true => Err(Fault::Unsure(ASKED_MACHINE.into())),
                false => outcome,
            };
            runs.push(outcome.map_or_else(|fault| fault.text(), |_| "passed".into()));
            reads = reads.with(&read);
        }
        let rests_on = self.resting.on(&reads, self.protected);
        let (time_us, read_count) = (start.elapsed().as_micros() as u64, reads.object_count() as u64);
        Tested { before: Vec::new(), after: runs, time_us, reads, read_count, rests_on, is_unconcerned: false }
    }

    fn checked(&mut self, name: &str, case: &str) -> Checked {
        let start = Instant::now();
        let (first, mut reads) = self.recorded(CHECK, |session, judge| judge_one(session, judge, name, case));
        let (mut outcome, mut reasons) = match &first {
            Ok(result) => read_result(result),
            Err(fault) => (CheckOutcome::Unsure, vec![fault.text()]),
        };
        let mut chances = if reads.asked_host() { CHANCES } else { 0 };
        while chances > 0 && outcome == CheckOutcome::Passed {
            let (again, read) = self.recorded(CHECK, |session, judge| judge_one(session, judge, name, case));
            reads = reads.with(&read);
            chances -= 1;
            if !matches!((&first, &again), (Ok(first), Ok(again)) if first == again) {
                (outcome, reasons) = (CheckOutcome::Unsure, vec!["it does not come to the same twice".into()]);
            }
        }
        let rests_on = self.resting.on(&reads, self.protected);
        let (time_us, read_count) = (start.elapsed().as_micros() as u64, reads.object_count() as u64);
        Checked { outcome, reasons, time_us, reads, read_count, rests_on }
    }

    fn names(&mut self, message: &str) -> Result<Vec<String>, String> {
        serde_json::from_value(self.told(message)?).map_err(|_| format!("Verification {message} is no list of names"))
    }

    /// What `Verification` says, which must say something.
    fn told(&mut self, message: &str) -> Result<Value, String> {
        let told = self.imagined(CHECK, |session, judge| {
            let answer = session.send(judge, message, &[])?;
            described(session, answer)
        });
        told.map_err(|fault| format!("Verification {message} {}", fault.text()))
    }

    fn survey(&mut self) -> Result<Value, String> {
        let image = &mut self.dreaming.resident.image;
        let named: Vec<(String, IoValue)> = self
            .touched
            .iter()
            .filter(|(_, id)| image.store().read(**id).is_ok_and(|record| record.is_some()))
            .map(|(name, id)| (name.clone(), *id))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|(name, id)| (name, image.value_of(id)))
            .collect();
        let told = self.imagined(CHECK, |session, judge| {
            let map = session.vm.map();
            named.iter().for_each(|(name, value)| session.vm.map_put(map, name, *value));
            let answer = session.send(judge, "survey", &[map])?;
            described(session, answer)
        });
        told.map_err(|fault| format!("Verification survey {}", fault.text()))
    }

    /// What a program that is given live's Verification comes to, and what was read for it.
    fn recorded<T>(
        &mut self,
        allowance: Allowance,
        run: impl FnOnce(&mut Session, IoValue) -> Result<T, session::Failure>,
    ) -> (Result<T, Fault>, ReadSet) {
        if let Err(error) = self.record() {
            return (Err(Fault::Unsure(error)), ReadSet::unknown());
        }
        let imagined = self.imagined(allowance, run);
        (imagined, self.dreaming.resident.image.take_reads())
    }

    /// Runs a program in a level that is taken back.
    fn imagined<T>(
        &mut self,
        allowance: Allowance,
        run: impl FnOnce(&mut Session, IoValue) -> Result<T, session::Failure>,
    ) -> Result<T, Fault> {
        let resident = &mut *self.dreaming.resident;
        self.surroundings.put_back(resident.image.vm_mut());
        resident.image.vm_mut().hide_places(self.places);
        let verification = resident.image.value_of(self.verification);
        let allowance = self.allotment.of_unit(allowance);
        let Allowance { fuel, memory_bytes, time } = allowance;
        let limits = Limits { fuel: Some(fuel), memory_bytes: Some(memory_bytes), ..resident.limits.clone() };
        resident.image.vm_mut().set_limits(limits);
        let (session, actor) = (&mut resident.session, resident.image.store().actor());
        self.alarm.set(time);
        let imagined = resident.image.imagine(actor, |vm| {
            lend(session, vm, |session| {
                let answer = run(session, verification);
                answer.map_err(|failure| failure_of(session, &failure))
            })
        });
        let is_late = self.alarm.stop();
        if is_late {
            keeper::Watch::calm(&*resident.watch);
        }
        resident.session.output.take_captured();
        match imagined {
            Ok(Ok(Imagined { value, written, .. })) => {
                match written.iter().find(|object| self.protected.holds(**object)) {
                    Some(object) => Err(Fault::Failed(format!(
                        "it writes to {}, which is protected: {}",
                        self.resting.name(*object),
                        self.protected.why(*object)
                    ))),
                    None => Ok(value),
                }
            }
            Ok(Err(failure)) => Err(Fault::of(&failure, is_late, allowance)),
            Err(error) => Err(Fault::Unsure(error.to_string())),
        }
    }
}

/// As any dream would run it that is given the source: a test that looks who called it finds nothing else.
fn run_test(session: &mut Session, judge: IoValue, name: &str) -> Result<IoValue, session::Failure> {
    let vm = &mut session.vm;
    let telos = vm.get_slot(vm.lobby(), "Telos");
    let of_telos = telos.and_then(|telos| vm.get_slot(telos, "verification"));
    let of_core = vm.get_slot(vm.core(), "Verification");
    let path = match judge {
        judge if of_telos == Some(judge) => "Telos verification",
        judge if of_core == Some(judge) => "Verification",
        // Nobody can name it.
        _ => {
            let name = vm.symbol(name);
            return session.send(judge, "runTest", &[name]);
        }
    };
    session.evaluate(&format!("{path} runTest({})", quote(name)), "dream")
}

fn judge_one(session: &mut Session, judge: IoValue, name: &str, case: &str) -> Result<Value, session::Failure> {
    let text = session.vm.symbol(case);
    let case = session.send(text, "parseJson", &[])?;
    let name = session.vm.symbol(name);
    let answer = session.send(judge, "judgeOne", &[name, case])?;
    described(session, answer)
}

/// What a check said, as `Verification judgeOne` gives it.
fn read_result(result: &Value) -> (CheckOutcome, Vec<String>) {
    let outcome = match result["outcome"].as_str() {
        Some("passed") => CheckOutcome::Passed,
        Some("failed") => CheckOutcome::Failed,
        _ => CheckOutcome::Unsure,
    };
    let word = |finding: &Value, name: &str| finding[name].as_str().unwrap_or_default().to_string();
    let reasons = result["findings"].as_array().into_iter().flatten().map(|finding| {
        match (word(finding, "place"), word(finding, "reason")) {
            (place, reason) if place.is_empty() => reason,
            (place, reason) => format!("{place}: {reason}"),
        }
    });
    let reasons: Vec<String> = reasons.collect();
    // A check that passes and finds something is not to be believed.
    if outcome == CheckOutcome::Passed && !reasons.is_empty() {
        (CheckOutcome::Unsure, reasons)
    } else {
        (outcome, reasons)
    }
}

/// How tests ended in two moments.
fn both_tested(before: &Moment, after: &Moment, unconcerned: &BTreeSet<String>) -> BTreeMap<String, Tested> {
    let names: BTreeSet<&String> = before.tests.keys().chain(after.tests.keys()).collect();
    let runs = |tested: Option<&Tested>| tested.map(|tested| tested.after.clone()).unwrap_or_default();
    let both = names.into_iter().map(|name| {
        let (then, now) = (before.tests.get(name), after.tests.get(name));
        let is_unconcerned = unconcerned.contains(name);
        // If it was not run with the dream, both are one.
        let reads = match (then, now) {
            (Some(then), Some(now)) if !is_unconcerned => then.reads.clone().with(&now.reads),
            _ => now.or(then).map(|tested| tested.reads.clone()).unwrap_or_default(),
        };
        let tested = Tested {
            before: runs(then),
            after: runs(now),
            time_us: [then, now].into_iter().flatten().map(|tested| tested.time_us).sum(),
            read_count: reads.object_count() as u64,
            reads,
            rests_on: now.or(then).map(|tested| tested.rests_on.clone()).unwrap_or_default(),
            is_unconcerned,
        };
        (name.clone(), tested)
    });
    both.collect()
}

/// All that a check is told.
fn case_of(mut facts: Map<String, Value>, tests: &BTreeMap<String, Tested>, before: &Moment, after: &Moment) -> Value {
    let runs = |of: fn(&Tested) -> &Vec<String>| -> Value {
        let of_all = tests.iter().filter(|(_, tested)| !of(tested).is_empty());
        Value::Object(of_all.map(|(name, tested)| (name.clone(), json!(of(tested)))).collect())
    };
    facts.insert("testsBefore".into(), runs(|tested| &tested.before));
    facts.insert("testsAfter".into(), runs(|tested| &tested.after));
    facts.insert("testSources".into(), json!({ "before": before.listing.sources, "after": after.listing.sources }));
    facts.insert("before".into(), before.survey.clone());
    facts.insert("after".into(), after.survey.clone());
    Value::Object(facts)
}
