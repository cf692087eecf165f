//! Files after their merge: taking one back brings back what was there before, and a file that was left alone can still be taken.

use super::delivering::{Reply, Waiting};
use super::names::{LiveNames, slot_of};
use super::settling::word;
use super::{Resident, cause_of};
use crate::chronicle::object_text;
use crate::handover::{Place, call};
use dream::DreamId;
use image::{Delivery, DeliveryStatus, ImageError, Withdrawal};
use keeper::Begun;
use keeper::protocol::{Answer, ConflictChoice, Failure, FailureKind, Outcome, Request, Shown};
use object::change::{Creation, Datum, ObjectId, Operation};
use serde::Deserialize;
use serde_json::{Value, json};
use store::Ticket;

const TAKEN_BACK: &str = "its merge was taken back";
const TAKEN_BACK_MEANWHILE: &str = "its merge was taken back while it was made; nobody knows what came of it";

type Settled = Result<(Shown, Option<Ticket>), Failure>;

/// What the record of a conflict says of a file.
#[derive(Deserialize)]
struct FileOf {
    digest: String,
    place: Place,
}

impl Resident {
    /// Takes back a commit. Of a merge, what it left to be done is not done any more, in the same commit, and what was done to files
    /// is taken back too; that is told later.
    pub(super) fn revert(&mut self, number: u64, request: &Request) -> Result<Settled, Box<Begun>> {
        let (withdrawal, calls) = match self.withdrawal_of(number) {
            Ok(withdrawal) => withdrawal,
            Err(error) => return Ok(Err(self.fail(error))),
        };
        let cause = cause_of(request, &format!("revert {number}"));
        let reverted = match self.image.revert_with(number, &withdrawal, &cause) {
            Ok(reverted) => reverted,
            Err(error) => return Ok(Err(self.fail(error))),
        };
        self.renew_guard_after(&cause);
        if reverted.ticket.is_some() {
            let cancelled = withdrawal.cancelled.iter().filter_map(|(delivery, _)| delivery.record);
            self.deliveries.forget(&cancelled.collect());
        }
        let names = LiveNames::of(self.image.store(), &self.desk.roots());
        let place = |(object, place): &(ObjectId, String)| format!("{place} of {}", object_text(*object, &names));
        let left: Vec<String> = reverted.contended.iter().map(place).collect();
        let commit = reverted.ticket.map(|ticket| ticket.number);
        let mut told = json!({ "commit": commit, "reverted": number, "left_alone": left });
        if let Some(calls) = calls.filter(|_| reverted.ticket.is_some()) {
            told["calls"] = calls;
        }
        match reverted.added {
            Some(record) => {
                Err(Box::new(self.reply_when_done((record, reverted.ticket), Reply::Told(told, commit), request)))
            }
            None => Ok(Ok((Shown { text: told.to_string(), kind: "Map".into() }, reverted.ticket))),
        }
    }

    /// What becomes of a merge's deliveries if this commit, which may be one, is taken back, and how many calls that concerns.
    fn withdrawal_of(&self, number: u64) -> Result<(Withdrawal, Option<Value>), ImageError> {
        let mut withdrawal = Withdrawal::default();
        let Some(dream) = self.dream_of(number) else { return Ok((withdrawal, None)) };
        let outbox = Resident::of_dream(self.image.outbox()?, &dream);
        let delivered = Resident::of_dream(self.image.delivered()?, &dream);
        let is_files = |delivery: &Delivery| delivery.name == call::APPLY;
        let is_under_way = |delivery: &Delivery| delivery.record.is_some_and(|id| self.deliveries.is_under_way(id));
        let (mut cancelled, mut made) = (0, delivered.iter().filter(|each| !is_files(each)).count());
        for delivery in outbox.iter().filter(|each| each.status != DeliveryStatus::Delivered) {
            match (is_files(delivery), is_under_way(delivery)) {
                // What is done to files is brought to its end, and then taken back.
                (true, true) => continue,
                (true, false) => withdrawal.cancelled.push((delivery.clone(), TAKEN_BACK.into())),
                (false, false) => {
                    cancelled += 1;
                    withdrawal.cancelled.push((delivery.clone(), TAKEN_BACK.into()));
                }
                (false, true) => {
                    made += 1;
                    withdrawal.cancelled.push((delivery.clone(), TAKEN_BACK_MEANWHILE.into()));
                }
            }
        }
        if outbox.iter().chain(&delivered).any(is_files) {
            let undone = |id| (id, Operation::set_slot("status", "undone"));
            withdrawal.marks =
                self.open_files_of(&dream).map_err(ImageError::Damaged)?.into_iter().map(undone).collect();
            withdrawal.added = Some((call::RESTORE.into(), dream));
        }
        Ok((withdrawal, Some(json!({ "cancelled": cancelled, "made": made }))))
    }

    /// The dream that became this commit.
    fn dream_of(&self, commit: u64) -> Option<String> {
        let store = self.image.store();
        let last = store.commit_at(commit).ok()??.changes.last()?.id.actor;
        (last != store.actor()).then(|| DreamId(last).to_string())
    }

    fn of_dream(deliveries: Vec<Delivery>, dream: &str) -> Vec<Delivery> {
        // What somebody decided afterwards, and what took something back, is not of the merge.
        let is_its =
            |each: &&Delivery| each.dream == dream && ![call::TAKE, call::RESTORE].contains(&each.name.as_str());
        deliveries.into_iter().filter(|each| is_its(&each)).collect()
    }

    fn open_files_of(&self, dream: &str) -> Result<Vec<ObjectId>, String> {
        let is_its = |record: &Creation| {
            let is = |name: &str, value: &str| word(record, name).as_deref() == Some(value);
            is("part", "file") && is("dream", dream) && is("status", "open")
        };
        let records = self.records_of_telos("conflicts")?;
        Ok(records.into_iter().filter(|(_, record)| is_its(record)).map(|(id, _)| id).collect())
    }

    /// Begins what was added, and answers when it was tried.
    fn reply_when_done(&mut self, added: (ObjectId, Option<Ticket>), reply: Reply, request: &Request) -> Begun {
        let (record, ticket) = added;
        self.leave_unsettled(ticket);
        self.deliveries.rest_on(ticket);
        let number = self.merges.next_number();
        self.deliveries.await_first(record, Waiting { number, durability: request.durability, reply });
        self.deliver();
        Begun::Later(number)
    }

    /// Decides a conflict about a file. None if it is about anything else.
    pub(super) fn resolve_file(&mut self, number: u64, choice: &ConflictChoice, request: &Request) -> Option<Begun> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        let (id, record) = self.records_of_telos("conflicts").ok()?.into_iter().nth(at)?;
        if word(&record, "part").as_deref() != Some("file") {
            return None;
        }
        let refused = |message: String| {
            let answer = Answer::failed(FailureKind::Refused, message);
            Some(Begun::Done { answer, wait: None })
        };
        let status = word(&record, "status").unwrap_or_default();
        let sides = slot_of(&record, "siblings").map_or(0, |list| self.items_of(list).len() as u64);
        match choice {
            _ if status != "open" => refused(format!("it is {status}")),
            ConflictChoice::Side(side) if *side >= sides => refused(format!("it has no side {side}")),
            ConflictChoice::Side(0) => Some(self.take_file(number, (id, &record), request)),
            ConflictChoice::Side(_) | ConflictChoice::Keep => Some(self.keep_file(number, id, request)),
        }
    }

    fn keep_file(&mut self, number: u64, conflict: ObjectId, request: &Request) -> Begun {
        let cause = cause_of(request, &format!("resolve conflict {number}"));
        let set = |name: &str, value: &str| (conflict, Operation::set_slot(name, value));
        let kept = self.image.adopt(&cause, vec![set("status", "resolved"), set("resolution", "host")]);
        match kept {
            Ok(ticket) => {
                let commit = ticket.map(|ticket| ticket.number);
                let text = json!({ "conflict": number, "commit": commit }).to_string();
                let answer = Answer { commit, ..Answer::new(Outcome::Value(Shown { text, kind: "Map".into() })) };
                Begun::Done { answer, wait: self.wait(ticket, request.durability) }
            }
            Err(error) => Begun::Done { answer: Answer::new(Outcome::Failure(self.fail(error))), wait: None },
        }
    }

    fn take_file(&mut self, number: u64, (conflict, record): (ObjectId, &Creation), request: &Request) -> Begun {
        let file: Option<FileOf> = word(record, "place").and_then(|text| serde_json::from_str(&text).ok());
        let (Some(FileOf { digest, place }), Some(dream)) = (file, word(record, "dream")) else {
            let answer = Answer::failed(FailureKind::Refused, "it does not say which file it is");
            return Begun::Done { answer, wait: None };
        };
        let place = serde_json::to_string(&place).unwrap_or_default();
        let arguments = [Datum::text(&dream), Datum::text(&digest), Datum::text(&place)];
        let marks = vec![(conflict, Operation::set_slot("status", "taking"))];
        let cause = cause_of(request, &format!("resolve conflict {number}"));
        match self.image.add_delivery(call::TAKE, &arguments, &dream, Some(conflict), marks, &cause) {
            Ok(added) => {
                let commit = added.1.map(|ticket| ticket.number);
                let told = json!({ "conflict": number, "commit": commit });
                self.reply_when_done(added, Reply::Told(told, commit), request)
            }
            Err(error) => Begun::Done { answer: Answer::new(Outcome::Failure(self.fail(error))), wait: None },
        }
    }
}
