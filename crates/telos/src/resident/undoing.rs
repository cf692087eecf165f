//! Files after their merge: taking one back brings back what was there before, and a file that was left alone can still be taken.

use super::delivering::{Reply, Waiting, delivery_cause};
use super::names::slot_of;
use super::settling::word;
use super::{Resident, cause_of};
use crate::handover::{Place, call};
use dream::DreamId;
use image::{Delivery, DeliveryStatus, Settlement};
use keeper::Begun;
use keeper::protocol::{Answer, ConflictChoice, Failure, FailureKind, Outcome, Request, Shown};
use object::change::{Creation, Datum, ObjectId, Operation};
use serde::Deserialize;
use serde_json::{Value, json};
use store::Ticket;

type Settled = Result<(Shown, Option<Ticket>), Failure>;

/// What the record of a conflict says of a file.
#[derive(Deserialize)]
struct FileOf {
    digest: String,
    place: Place,
}

impl Resident {
    /// A commit was taken back. If it was a merge, what it left to be done is not done any more, and what was done to files is
    /// taken back too; that is told later.
    pub(super) fn undo_deliveries(&mut self, settled: Settled, request: &Request) -> Result<Settled, Box<Begun>> {
        let Ok((shown, Some(ticket))) = &settled else { return Ok(settled) };
        let (mut told, ticket): (Value, Ticket) = (serde_json::from_str(&shown.text).unwrap_or_default(), *ticket);
        let Some(dream) = told["reverted"].as_u64().and_then(|number| self.dream_of(number)) else {
            return Ok(settled);
        };
        let outbox = Resident::of_dream(self.image.outbox().unwrap_or_default(), &dream);
        let delivered = Resident::of_dream(self.image.delivered().unwrap_or_default(), &dream);
        let is_files = |delivery: &&Delivery| delivery.name == call::APPLY;
        let had_files = outbox.iter().chain(&delivered).any(|each| is_files(&each));
        let mut cancelled = 0;
        for delivery in outbox.iter().filter(|each| each.status != DeliveryStatus::Delivered) {
            let is_under_way = delivery.record.is_some_and(|record| self.deliveries.is_under_way(record));
            if !is_under_way && self.cancel(delivery) {
                cancelled += u64::from(!is_files(&delivery));
            }
        }
        let calls = |deliveries: &[Delivery]| deliveries.iter().filter(|each| !is_files(each)).count() as u64;
        let made = calls(&delivered) + calls(&outbox).saturating_sub(cancelled);
        told["calls"] = json!({ "cancelled": cancelled, "made": made });
        if !had_files {
            let text = told.to_string();
            return Ok(Ok((Shown { text, kind: "Map".into() }, Some(ticket))));
        }
        let marks = self.open_files_of(&dream).into_iter().map(|id| (id, Operation::set_slot("status", "undone")));
        let added = self.image.add_delivery(
            call::RESTORE,
            &[Datum::text(&dream)],
            &dream,
            None,
            marks.collect(),
            &delivery_cause(&format!("bring back the files of before {dream}")),
        );
        match added {
            Ok(added) => Err(Box::new(self.reply_when_done(added, Reply::Told(told, Some(ticket.number)), request))),
            Err(error) => Ok(Err(self.fail(error))),
        }
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

    fn cancel(&mut self, delivery: &Delivery) -> bool {
        let settlement = Settlement {
            status: DeliveryStatus::Undone,
            answer: "its merge was taken back".into(),
            conflicts: Vec::new(),
            marks: Vec::new(),
        };
        let cause = delivery_cause(&format!("{} of {}: undone", delivery.name, delivery.dream));
        let settled = self.image.settle_delivery(delivery, &settlement, &cause);
        let is_settled = settled.is_ok();
        self.leave_unsettled(settled.ok().flatten());
        is_settled
    }

    fn open_files_of(&self, dream: &str) -> Vec<ObjectId> {
        let is_its = |record: &Creation| {
            let is = |name: &str, value: &str| word(record, name).as_deref() == Some(value);
            is("part", "file") && is("dream", dream) && is("status", "open")
        };
        let records = self.records_of_telos("conflicts").unwrap_or_default();
        records.into_iter().filter(|(_, record)| is_its(record)).map(|(id, _)| id).collect()
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
