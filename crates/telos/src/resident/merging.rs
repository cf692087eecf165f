//! How a dream becomes a part of live: a candidate is begun and judges itself by live's own rules; when it is over, live reads
//! what came of it, looks at what it did itself meanwhile, and commits, begins another candidate, or archives.
//!
//! Live goes on all the time. Only if it keeps changing what the verdict rests on, it stands still for the last candidate.

use super::candidate::{Candidate, verification_of};
use super::evidence;
use super::judgement::Judgement;
use super::known::Kept;
use super::protection::Genesis;
use super::rejecting::Rejected;
use super::telling::damaged;
use super::unit::Allotment;
use super::{Resident, cause_of, promises};
use dream::{DreamId, KeptDream};
use image::{Arrival, ImageError, MergePlan};
use keeper::protocol::{
    Answer, Command, DreamOrder, FailureKind, MergeOrder, MergeReport, MergeStatus, Outcome, Request, Shown, Verdict,
};
use keeper::{Begun, Conclusion};
use merge::{Effect, Policy};
use object::change::{ActorId, ObjectId, Time};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use store::Ticket;

/// So many candidates are judged while live goes on; for one more it stands still.
const CANDIDATES_MAX: u32 = 5;
/// What one may take, all of its tests together.
const CANDIDATE_TIME: Duration = Duration::from_secs(300);

/// Merges that are not decided yet, by the name of the candidate that is being judged.
#[derive(Default)]
pub struct Merges {
    under_way: BTreeMap<String, UnderWay>,
    /// Dreams that are to be merged when they are over, because the image asked for it, and how long judging may take.
    wanted: BTreeMap<String, (MergeOrder, Option<u64>)>,
    concluded: Vec<Conclusion>,
    numbers: u64,
    genesis: OnceCell<Genesis>,
    /// What earlier ones found, for those to come.
    kept: Option<Kept>,
    /// The candidate that live stands still for.
    awaited: Option<String>,
}

impl Merges {
    pub fn take_concluded(&mut self) -> Vec<Conclusion> {
        std::mem::take(&mut self.concluded)
    }

    pub fn conclude(&mut self, conclusion: Conclusion) {
        self.concluded.push(conclusion);
    }

    /// For a request that is answered later.
    pub fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }
}

struct UnderWay {
    number: u64,
    order: MergeOrder,
    request: Request,
    arrival: Arrival,
    /// What was laid on the last candidate; none before the first.
    plan: Option<MergePlan>,
    /// Live's own at that time, which judged: what it found counts for nobody else.
    verification: Option<ObjectId>,
    candidates: u32,
    repeated: u64,
    /// By which all candidates hide where objects lie, so that each is told the same of them.
    places: u64,
    /// The commit by which the last part of it was merged; then this is about the rest.
    merged_in_part: Option<u64>,
    start: Instant,
    /// The image asked for it, and nobody waits for the answer.
    is_unattended: bool,
}

/// What comes of wanting to judge.
enum Next {
    /// A candidate of this name judges.
    Candidate(String),
    /// There is nothing to judge.
    Nothing(Box<MergeReport>),
}

impl Resident {
    /// Begins to judge a dream. The answer comes when it is decided.
    pub(super) fn merge(&mut self, order: &MergeOrder, request: &Request) -> Begun {
        self.begin_merge(order, request, false)
    }

    fn begin_merge(&mut self, order: &MergeOrder, request: &Request, is_unattended: bool) -> Begun {
        if let Err(failure) = self.check_merge(order, request) {
            return Begun::Done { answer: Answer::new(Outcome::Failure(failure)), wait: None };
        }
        let number = self.merges.next_number();
        let begun = self.arrival_of(order).and_then(|(arrival, against)| {
            let (order, request) = (order.clone(), request.clone());
            let start = Instant::now();
            let (plan, verification, candidates, repeated) = (None, None, 0, 0);
            let places = system::random::number().unwrap_or(1);
            let under_way = UnderWay {
                number,
                order,
                request,
                arrival,
                plan,
                verification,
                candidates,
                repeated,
                places,
                merged_in_part: None,
                start,
                is_unattended,
            };
            match against {
                Some(why) => self.reject_unjudged(under_way, why),
                None => self.judge_anew(under_way, Judgement::default()),
            }
        });
        match begun {
            Ok(Next::Candidate(_)) => Begun::Later(number),
            Ok(Next::Nothing(report)) => {
                Begun::Done { answer: answer_of(&report), wait: self.wait(None, request.durability) }
            }
            Err(message) => Begun::Done { answer: Answer::failed(FailureKind::Refused, message), wait: None },
        }
    }

    /// The image itself asked for it. Nobody waits for the answer: what came of it is in the image.
    pub(super) fn merge_when_over(&mut self, order: MergeOrder, timeout_ms: Option<u64>) {
        if self.dreams.is_going_on(&order.dream) {
            self.merges.wanted.insert(order.dream.clone(), (order, timeout_ms));
            return;
        }
        let command = Command::Merge(Box::new(order.clone()));
        let request = Request { author: Some("Telos".into()), timeout_ms, ..Request::new(command) };
        if let Begun::Done { answer: Answer { outcome: Outcome::Failure(failure), .. }, .. } =
            self.begin_merge(&order, &request, true)
        {
            let ticket = self.note_failure(&order.dream, &request, &failure.message);
            self.leave_unsettled(ticket);
        }
    }

    /// A dream is over: it may be one that is to be merged, or a candidate.
    pub(super) fn merge_as_wanted(&mut self, name: &str) {
        self.candidate_is_over(name);
        if let Some((order, timeout_ms)) = self.merges.wanted.remove(name) {
            self.merge_when_over(order, timeout_ms);
        }
    }

    /// What a dream brings, and why that is refused whatever judges it, if it is. It must be over.
    fn arrival_of(&self, order: &MergeOrder) -> Result<(Arrival, Option<String>), String> {
        let id: DreamId = order.dream.parse().map_err(|error: dream::DreamError| error.to_string())?;
        if self.dreams.is_going_on(&order.dream) {
            return Err(format!("dream {id} is going on; `telos dream end {id}` ends it"));
        }
        let dreams = self.kept()?;
        let KeptDream { header, journal, end, .. } = dreams.read(id).map_err(|error| error.to_string())?;
        let policy = match &order.policy {
            Some(name) => policy_of(name)?,
            None => header.policy,
        };
        let outbox = match self.image.check_outbox(journal.changes()) {
            Ok(()) => None,
            Err(ImageError::NotMerged(why)) => Some(why),
            Err(error) => return Err(error.to_string()),
        };
        let against = promises::check(&header, &journal).err().or(outbox);
        let mut parents: Vec<(ActorId, u64)> = Vec::new();
        let mut around = header.parent;
        while let Some((parent, changes)) = around {
            parents.push((parent.0, changes));
            around = dreams.header(parent).map_err(|error| error.to_string())?.parent;
        }
        parents.reverse();
        // Without its end nobody knows how much of the journal is missing.
        let end = end.ok_or_else(|| damaged(&order.dream))?;
        let receipt = Time::from_ms(end.ended_ms).max(header.forked);
        let only = match order.only.is_empty() {
            true => None,
            false => {
                let place = |path: &String| self.place_at(path).map(|place| (place.object, Some(place.slot)));
                Some(order.only.iter().map(place).collect::<Result<_, _>>()?)
            }
        };
        let arrival = Arrival {
            actor: header.actor,
            name: id.to_string(),
            mandate: header.mandate.clone(),
            agent: header.agent.clone(),
            fork_commit: header.fork_commit,
            forked: header.forked,
            receipt,
            policy,
            parents,
            changes: journal.changes().cloned().collect(),
            only,
            files: promises::brought_files(&dreams, id)?,
        };
        let strange = arrival.only_unchanged().map(|at| format!("\"{}\"", order.only[at]));
        match strange.collect::<Vec<_>>().join(", ") {
            strange if strange.is_empty() => Ok((arrival, against)),
            strange => Err(format!("dream {id} did not change {strange}; `telos dream show {id}` has what it did")),
        }
    }

    /// Of a dream that was merged before: goes on with the rest, if that was a part. What was taken back is no rest: it is in the
    /// image's history, and comes back from there.
    fn turn_to_rest(&self, under_way: &mut UnderWay) -> Result<bool, String> {
        let Arrival { name, fork_commit, .. } = &under_way.arrival;
        let parts = self.image.merges_of(name, *fork_commit).map_err(|error| error.to_string())?;
        if let Some((part, undo)) = parts.iter().find_map(|part| Some((part.commit, part.taken_back_by?))) {
            return Err(format!(
                "commit {part}, which merged {name}, was taken back by commit {undo}: `telos revert {undo}` does it again, \
                 to objects, without judging"
            ));
        }
        let Some(last) = parts.last().filter(|last| last.is_partial()) else { return Ok(false) };
        let actor = self.image.store().mint_actor().map_err(|error| error.to_string())?;
        under_way.arrival = under_way.arrival.clone().rest(actor, &parts);
        under_way.merged_in_part = Some(last.commit);
        Ok(true)
    }

    /// The rest is one only as long as nobody else merges it, or takes back the part that it stands on.
    fn check_rest(&self, under_way: &UnderWay) -> Result<(), String> {
        let (Some(last), name) = (under_way.merged_in_part, &under_way.arrival.name) else { return Ok(()) };
        let parts = self.image.merges_of(name, last - 1).map_err(|error| error.to_string())?;
        match &parts[..] {
            [part] if part.taken_back_by.is_none() => Ok(()),
            _ => Err(format!("another part of {name} was merged or taken back meanwhile: merge it again")),
        }
    }

    /// Begins a candidate that judges what `held` does not say; or reports, where there is nothing to judge.
    fn judge_anew(&mut self, mut under_way: UnderWay, held: Judgement) -> Result<Next, String> {
        let mut plan = self.plan_anew(&mut under_way)?;
        if plan.merged_before.is_some() && self.turn_to_rest(&mut under_way)? {
            plan = self.plan_anew(&mut under_way)?;
        }
        let nothing_left = under_way.merged_in_part.filter(|_| plan.is_empty() && plan.is_planned());
        if let Some(commit) = plan.merged_before.or(nothing_left) {
            // It was found good then.
            let verdict = Verdict { is_accepted: true, ..Verdict::default() };
            let report = under_way.report(MergeStatus::Known, &plan, verdict, Some(commit));
            return Ok(Next::Nothing(Box::new(report)));
        }
        under_way.candidates += 1;
        under_way.verification = self.verification();
        let time_ms = CANDIDATE_TIME.as_millis() as u64;
        let order = DreamOrder {
            mandate: format!("judge {}", under_way.order.dream),
            agent: "Verification".into(),
            // Nobody looks at the clock for what the image asked for itself.
            time_ms: Some(under_way.request.timeout_ms.unwrap_or(time_ms).min(time_ms)),
            ..DreamOrder::default()
        };
        let (genesis, is_allowed) = (self.genesis(), under_way.request.is_allowed);
        let tests = under_way.order.tests.clone();
        let allotment = Allotment::of(&under_way.request);
        // A second one has what the first found, unless that does not count; nor does what others found that were given more or less.
        let kept = self.merges.kept.clone().filter(|_| under_way.candidates == 1 && allotment.is_usual());
        let places = under_way.places;
        self.candidate = Some(Candidate { plan, held, kept, genesis, tests, is_allowed, places, allotment });
        let forked = self.fork(&order, None);
        under_way.plan = self.candidate.take().map(|candidate| candidate.plan);
        let point = forked.map_err(|failure| failure.message)?;
        let name = DreamId(point.actor).to_string();
        self.merges.under_way.insert(name.clone(), under_way);
        Ok(Next::Candidate(name))
    }

    /// Refuses what needs no judge to be refused; it is noted like any other rejection.
    fn reject_unjudged(&mut self, mut under_way: UnderWay, why: String) -> Result<Next, String> {
        let (plan, judgement) = (self.plan_anew(&mut under_way)?, Judgement::refused(why));
        let verdict = judgement.verdict(&under_way.order.tests);
        let (report, ticket) = self.reject(&under_way, &plan, &judgement, verdict);
        self.leave_unsettled(ticket);
        Ok(Next::Nothing(Box::new(report)))
    }

    fn reject(
        &mut self,
        under_way: &UnderWay,
        plan: &MergePlan,
        judgement: &Judgement,
        verdict: Verdict,
    ) -> (MergeReport, Option<Ticket>) {
        let ticket = match under_way.order.is_trial {
            true => None,
            false => self.archive(&under_way.request, &Rejected { plan, verdict: &verdict, judgement }),
        };
        (under_way.report(MergeStatus::Rejected, plan, verdict, None), ticket)
    }

    /// What this image was born with.
    pub(super) fn genesis(&self) -> Genesis {
        let find = || Genesis::of(self.image.store(), &self.desk.roots());
        self.merges.genesis.get_or_init(find).clone()
    }

    /// What merging would do now: as it was planned for the last candidate, if nothing was committed since.
    fn plan_anew(&self, under_way: &mut UnderWay) -> Result<MergePlan, String> {
        match under_way.plan.take() {
            Some(plan) if plan.at == self.image.store().last_commit() => Ok(plan),
            _ => self.image.plan_merge(&under_way.arrival).map_err(|error| error.to_string()),
        }
    }

    /// If this dream was a candidate: decides, and tells whoever waits for it.
    fn candidate_is_over(&mut self, name: &str) {
        let Some(under_way) = self.merges.under_way.remove(name) else { return };
        let (number, durability) = (under_way.number, under_way.request.durability);
        let unattended = under_way.is_unattended.then(|| (under_way.order.dream.clone(), under_way.request.clone()));
        let (judgement, told) = self.take_judgement(name).unwrap_or_else(|why| (Judgement::unsure(why), Vec::new()));
        let (answer, ticket) = match self.decide(under_way, judgement, told) {
            Ok(None) => return,
            Ok(Some((report, ticket))) => match self.deliver_merged(number, report, ticket, durability) {
                Some(report) => (answer_of(&report), ticket),
                None => return,
            },
            Err(message) => {
                let ticket = unattended.and_then(|(dream, request)| self.note_failure(&dream, &request, &message));
                (Answer::failed(FailureKind::Refused, message), ticket)
            }
        };
        let wait = self.wait(ticket, durability);
        self.merges.concluded.push(Conclusion { number, answer, wait });
    }

    /// If live has to stand still for a candidate: waits until that is over, and decides. The keeper knows of the candidate by then,
    /// so that it is answered what it asks for. False if there is nothing to wait for.
    pub(super) fn await_candidate(&mut self, is_called: &dyn Fn() -> bool) -> bool {
        let Some(name) = self.merges.awaited.clone() else { return false };
        self.await_end(&name, is_called);
        if is_called() {
            // Whoever calls may not want it any more; else it is waited for again.
            return false;
        }
        self.merges.awaited = None;
        self.candidate_is_over(&name);
        true
    }

    /// Whoever asked for it does not want it any more: its candidate ends, and nothing is merged. What is committed is merged, and
    /// nobody waits until its files are there.
    pub(super) fn cancel_merge(&mut self, number: u64) {
        let is_it = |(_, under_way): &(&String, &UnderWay)| under_way.number == number;
        let Some(name) = self.merges.under_way.iter().find(is_it).map(|(name, _)| name.clone()) else {
            return self.reply_before_files(number);
        };
        let Some(under_way) = self.merges.under_way.remove(&name) else { return };
        self.merges.awaited = self.merges.awaited.take().filter(|awaited| *awaited != name);
        self.is_unwanted(&name);
        let what = if under_way.order.is_trial { "it was not judged to its end" } else { "nothing was merged" };
        let answer = Answer::failed(FailureKind::Interrupted, format!("interrupted; {what}"));
        self.merges.concluded.push(Conclusion { number, answer, wait: None });
    }

    /// Live's own, as it is now.
    fn verification(&self) -> Option<ObjectId> {
        let roots = self.desk.roots();
        verification_of(self.image.store(), roots.lobby, roots.core).ok()
    }

    /// What a candidate found, and how it told that. Nobody needs its file any more.
    fn take_judgement(&self, name: &str) -> Result<(Judgement, Vec<u8>), String> {
        let id: DreamId = name.parse().map_err(|error: dream::DreamError| error.to_string())?;
        let dreams = self.kept()?;
        let kept = dreams.read(id).map_err(|error| error.to_string())?;
        // It went when it could not be read, too: retention takes it.
        let _ = dreams.put_aside(id);
        Judgement::of(&kept)
    }

    fn decide(
        &mut self,
        mut under_way: UnderWay,
        mut judgement: Judgement,
        told: Vec<u8>,
    ) -> Result<Option<(MergeReport, Option<Ticket>)>, String> {
        let failed = |error: ImageError| error.to_string();
        if under_way.candidates > 1 {
            under_way.repeated += judgement.done;
        }
        let mut verdict = judgement.verdict(&under_way.order.tests);
        if !verdict.is_accepted {
            let plan = self.plan_anew(&mut under_way)?;
            return Ok(Some(self.reject(&under_way, &plan, &judgement, verdict)));
        }
        let Some(MergePlan { at: since_commit, .. }) = under_way.plan else {
            return Err("nothing was planned that could be judged".into());
        };
        let is_stale = judgement.forget_stale(&self.image, since_commit).map_err(failed)?;
        let judged = under_way.plan.as_ref().filter(|plan| plan.at != self.image.store().last_commit());
        let judged: Option<Vec<Effect>> = judged.map(|plan| plan.effects.clone());
        let mut plan = self.plan_anew(&mut under_way)?;
        // What would be done now is not what was judged, or another judges now: then nothing that was found counts.
        let is_other =
            judged.is_some_and(|effects| plan.effects != effects) || self.verification() != under_way.verification;
        if is_other {
            judgement = Judgement::default();
        }
        if is_stale || is_other {
            let is_last = under_way.candidates >= CANDIDATES_MAX;
            under_way.plan = Some(plan);
            return match self.judge_anew(under_way, judgement)? {
                Next::Nothing(report) => Ok(Some((*report, None))),
                Next::Candidate(name) => {
                    if is_last {
                        // Before anything else: requests that came meanwhile would be done before anybody says that it is over.
                        self.merges.awaited = Some(name);
                    }
                    Ok(None)
                }
            };
        }
        verdict.allowed = self.allowed_places(&plan, &under_way.request);
        if under_way.order.is_trial {
            return Ok(Some((under_way.report(MergeStatus::Accepted, &plan, verdict, None), None)));
        }
        (plan.verdict, plan.methods) = (evidence::description(&verdict), judgement.methods);
        let mut cause = cause_of(&under_way.request, &format!("merge {}", under_way.order.dream));
        if !plan.outbox.is_empty() {
            // What is done to the world outside cannot be lost again.
            cause.durability = store::Durability::Flush;
            self.keep_files(&plan.arrival)?;
        }
        self.check_rest(&under_way)?;
        let merged = self.image.merge(&cause, &plan).map_err(failed)?;
        // Before this merge: what it does, and writes down, is something to be looked at like all that comes.
        if Allotment::of(&under_way.request).is_usual() {
            self.merges.kept = Kept::of(told, plan.at);
        }
        self.renew_guard_after(&cause);
        let status = match (merged.ticket, merged.commit) {
            (Some(_), _) => MergeStatus::Merged,
            (None, Some(_)) => MergeStatus::Known,
            (None, None) => MergeStatus::Unchanged,
        };
        Ok(Some((under_way.report(status, &plan, verdict, merged.commit), merged.ticket)))
    }
}

impl UnderWay {
    fn report(&self, status: MergeStatus, plan: &MergePlan, verdict: Verdict, commit: Option<u64>) -> MergeReport {
        MergeReport {
            dream: self.order.dream.clone(),
            status,
            commit,
            verdict,
            open_conflicts: plan.open_conflicts() as u64,
            conflicts: plan.conflicts.len() as u64,
            violations: plan.violations.len() as u64,
            candidates: self.candidates,
            repeated: self.repeated,
            left_out: plan.left_out.len() as u64,
            files: None,
            calls: plan.outbox.iter().filter(|(_, name, _)| name.as_bytes() != image::APPLY_FILES.as_bytes()).count()
                as u64,
            time_us: self.start.elapsed().as_micros() as u64,
        }
    }
}

pub fn policy_of(name: &str) -> Result<Policy, String> {
    let found = Policy::ALL.into_iter().find(|policy| image::policy_name(*policy) == name);
    found.ok_or_else(|| {
        let names = Policy::ALL.map(image::policy_name).join(", ");
        format!("there is no policy \"{name}\": take one of {names}")
    })
}

fn answer_of(report: &MergeReport) -> Answer {
    let text = serde_json::to_string(report).unwrap_or_default();
    Answer { commit: report.commit, ..Answer::new(Outcome::Value(Shown { text, kind: "Map".into() })) }
}
