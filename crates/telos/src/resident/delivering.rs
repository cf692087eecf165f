//! What is done to the world outside after merges: each entry of `Telos outbox` is handed to the broker when the commit that holds
//! it is durable, and what came of it is written down in a commit of its own. Whatever is not written down as done is done again,
//! after a crash too: at least once, and always under the same key.
//!
//! Of one dream one thing is done at a time, in order; of several dreams, several at once. Nothing here waits.

use super::Resident;
use super::attempt::{self, Attempt};
use crate::handover;
use crate::host::{outside, told};
use crate::report;
use broker::{Call, Value as Told};
use image::{Cause, Delivery, DeliveryStatus, Settlement};
use keeper::protocol::{
    Answer, Durability, FRAME_BYTES_MAX, Failure, FailureKind, FilesReport, MergeReport, Outcome, Shown,
};
use keeper::{Conclusion, Posted, Wait};
use object::change::ObjectId;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use store::{Store, Ticket};

/// So many at once; the keeper lets the image have a few more.
const UNDER_WAY_MAX: usize = 4;
/// What could not be written down is looked at again then.
const PAUSE: Duration = Duration::from_secs(1);
/// Around a call there is a little more in a frame.
const CALL_BYTES_MAX: usize = FRAME_BYTES_MAX - 1024;

#[derive(Default)]
pub struct Deliveries {
    /// By the number under which they come back.
    under_way: BTreeMap<u64, Delivery>,
    /// Those that failed, and when they are tried again.
    due: BTreeMap<ObjectId, Instant>,
    /// When to look again by itself.
    next: Option<Instant>,
    posted: Vec<Posted>,
    /// The last commit that holds something to be done: nothing is done before it is durable.
    rests_on: Option<Ticket>,
    waiting: BTreeMap<ObjectId, Waiting>,
    numbers: u64,
}

/// Somebody who is answered when the first attempt is over, whatever came of it.
pub struct Waiting {
    pub number: u64,
    pub durability: Durability,
    pub reply: Reply,
}

pub enum Reply {
    Merge(Box<MergeReport>),
    /// What came of it is put under `files`.
    Told(Value, Option<u64>),
}

impl Deliveries {
    pub fn take_posted(&mut self) -> Vec<Posted> {
        std::mem::take(&mut self.posted)
    }

    pub fn is_under_way(&self, record: ObjectId) -> bool {
        self.under_way.values().any(|delivery| delivery.record == Some(record))
    }

    /// What comes back of these is nobody's business any more. Gives those who wait for that.
    fn forget(&mut self, records: &BTreeSet<ObjectId>) -> Vec<Waiting> {
        self.under_way.retain(|_, delivery| delivery.record.is_none_or(|record| !records.contains(&record)));
        self.due.retain(|record, _| !records.contains(record));
        records.iter().filter_map(|record| self.waiting.remove(record)).collect()
    }

    pub fn rest_on(&mut self, ticket: Option<Ticket>) {
        self.rests_on = ticket.or(self.rests_on);
    }

    pub fn await_first(&mut self, record: ObjectId, waiting: Waiting) {
        self.waiting.insert(record, waiting);
    }
}

impl Resident {
    /// A merge was committed: what it left to be done is begun. Gives the report back, unless it is told when the files are there.
    pub(super) fn deliver_merged(
        &mut self,
        number: u64,
        report: MergeReport,
        ticket: Option<Ticket>,
        durability: Durability,
    ) -> Option<MergeReport> {
        if ticket.is_none() {
            return Some(report);
        }
        self.deliveries.rest_on(ticket);
        let outbox = self.image.outbox().unwrap_or_else(|error| {
            report::say(&format!("warning: whether files wait is not known: {error}"));
            Vec::new()
        });
        let files = outbox.iter().find(|each| each.dream == report.dream && each.name == handover::call::APPLY);
        let report = match files.and_then(|files| files.record) {
            Some(record) => {
                let reply = Reply::Merge(Box::new(report));
                self.deliveries.await_first(record, Waiting { number, durability, reply });
                None
            }
            None => Some(report),
        };
        self.deliver();
        report
    }

    /// Begins what is due, and says when there will be more to do.
    pub(super) fn deliver_as_due(&mut self) -> Option<Duration> {
        if self.deliveries.next? <= Instant::now() {
            self.deliver();
        }
        self.deliveries.next.map(|next| next.saturating_duration_since(Instant::now()))
    }

    pub(super) fn deliver(&mut self) {
        self.deliveries.next = None;
        // Where nothing can be written down, nothing is done either: it would be done for ever.
        if self.outside.is_none() || self.is_dream || self.image.store().check_open().is_err() {
            return;
        }
        let outbox = match self.image.outbox() {
            Ok(outbox) => outbox,
            Err(error) => return report::say(&format!("warning: what is in the outbox is not known: {error}")),
        };
        let count = |status| outbox.iter().filter(|delivery| delivery.status == status).count() as u64;
        self.watch.waiting_deliveries.store(count(DeliveryStatus::Waiting), Ordering::Relaxed);
        self.watch.failed_deliveries.store(count(DeliveryStatus::Failed), Ordering::Relaxed);
        let (now, mut refused) = (Instant::now(), Vec::new());
        let mut busy: BTreeSet<String> = self.deliveries.under_way.values().map(|each| each.dream.clone()).collect();
        for delivery in outbox.into_iter().filter(|delivery| delivery.status == DeliveryStatus::Waiting) {
            // The first of a dream comes before the others, also if it has to wait.
            if !busy.insert(delivery.dream.clone()) {
                continue;
            }
            let due = delivery.record.and_then(|record| self.deliveries.due.get(&record)).copied();
            match due.filter(|due| *due > now) {
                Some(due) => self.look_again(due),
                None if self.deliveries.under_way.len() >= UNDER_WAY_MAX => break,
                None => refused.extend(self.post(delivery)),
            }
        }
        if !refused.is_empty() {
            refused.into_iter().for_each(|(delivery, why)| self.settle(delivery, Attempt::failed(why)));
            self.deliver();
        }
    }

    fn look_again(&mut self, when: Instant) {
        let next = &mut self.deliveries.next;
        *next = Some(next.map_or(when, |next| next.min(when)));
    }

    /// Gives back what cannot be made, and why.
    fn post(&mut self, delivery: Delivery) -> Option<(Delivery, String)> {
        let body = self.call_of(&delivery).and_then(|call| match serde_json::to_vec(&call) {
            Ok(body) if body.len() <= CALL_BYTES_MAX => Ok(body),
            Ok(body) => Err(format!("it is too long to be made: {} bytes", body.len())),
            Err(error) => Err(error.to_string()),
        });
        let body = match body {
            Ok(body) => body,
            Err(why) => return Some((delivery, why)),
        };
        self.deliveries.numbers += 1;
        let number = self.deliveries.numbers;
        let wait = self.until_durable();
        self.deliveries.under_way.insert(number, delivery);
        self.deliveries.posted.push(Posted { number, call: body, wait });
        None
    }

    fn until_durable(&self) -> Option<Wait> {
        let store = self.image.store().clone();
        let tickets: Vec<Ticket> = [self.deliveries.rests_on, self.unsettled]
            .into_iter()
            .flatten()
            .filter(|ticket| !store.is_settled(*ticket))
            .collect();
        let wait = move || tickets.into_iter().try_for_each(|ticket| store.wait(ticket));
        Some(Box::new(move || wait().map_err(|error| Failure::new(FailureKind::Storage, error.to_string()))))
    }

    /// As the broker reads it. What the image itself is not given, it does not do for a dream either.
    fn call_of(&self, delivery: &Delivery) -> Result<Call, String> {
        let granted = self.session.capabilities();
        let arguments: Vec<Told> = delivery.arguments.iter().filter_map(told::told_of).collect();
        let (is_granted, what, arguments) = if handover::call::ALL.contains(&delivery.name.as_str()) {
            let store = Told::text(format!("{:032x}", u128::from_be_bytes(self.image.store().id())));
            (granted.files, "files", [vec![store], arguments].concat())
        } else if delivery.name.starts_with("Http.") {
            (granted.network, "network", arguments)
        } else {
            let command = arguments.into_iter().take(1);
            (granted.processes, "processes", command.chain(outside::surroundings(None)).collect())
        };
        match is_granted {
            true => Ok(Call { key: Some(delivery.key.clone()), ..Call::new(&delivery.name, arguments) }),
            false => Err(format!("the image is given no {what}: start it without --deny {what}, and resend it")),
        }
    }

    pub(super) fn delivery_returned(&mut self, number: u64, answer: &[u8]) {
        let Some(delivery) = self.deliveries.under_way.remove(&number) else { return };
        let attempt = attempt::judged(&delivery, answer);
        self.settle(delivery, attempt);
        self.deliver();
    }

    /// Writes down what came of an attempt, and tells whoever waits for it.
    fn settle(&mut self, delivery: Delivery, attempt: Attempt) {
        let Some(record) = delivery.record else { return };
        let Attempt { status, answer, files, conflicts, marks } = attempt;
        let settlement = Settlement { status, answer, conflicts, marks };
        let cause = delivery_cause(&format!("{} of {}: {}", delivery.name, delivery.dream, status.name()));
        let settled = self.image.settle_delivery(&delivery, &settlement, &cause);
        let pause = match &settled {
            Err(_) => Some(PAUSE),
            Ok(_) if status == DeliveryStatus::Waiting => attempt::pause_after(delivery.attempts + 1),
            Ok(_) => None,
        };
        let ticket = settled.unwrap_or_else(|error| {
            let why = self.fail(error).message;
            report::say(&format!("warning: what came of {} is not written down: {why}", delivery.key));
            None
        });
        self.leave_unsettled(ticket);
        match pause {
            Some(pause) => self.put_off(record, pause),
            None => drop(self.deliveries.due.remove(&record)),
        }
        if status == DeliveryStatus::Failed {
            report::say(&format!("warning: {} is not delivered: {}", delivery.key, settlement.answer));
        }
        if let Some(waiting) = self.deliveries.waiting.remove(&record) {
            self.reply(waiting, files, ticket);
        }
    }

    /// These are not tried any more, since their merge was taken back: whoever waits for them is told that.
    pub(super) fn forget_deliveries(&mut self, records: &BTreeSet<ObjectId>, why: &str, ticket: Option<Ticket>) {
        for waiting in self.deliveries.forget(records) {
            let status = DeliveryStatus::Undone.name().into();
            let files = FilesReport { status, reason: Some(why.into()), ..FilesReport::default() };
            self.reply(waiting, files, ticket);
        }
    }

    fn put_off(&mut self, record: ObjectId, pause: Duration) {
        let when = Instant::now() + pause;
        self.deliveries.due.insert(record, when);
        self.look_again(when);
    }

    /// Whoever waits for files does not any more: what they belong to is done all the same.
    pub(super) fn reply_before_files(&mut self, number: u64) {
        let waiting = self.deliveries.waiting.iter().find(|(_, waiting)| waiting.number == number);
        let Some(waiting) =
            waiting.map(|(record, _)| *record).and_then(|record| self.deliveries.waiting.remove(&record))
        else {
            return;
        };
        let (status, reason) =
            (DeliveryStatus::Waiting.name().into(), "not yet applied; `telos outbox` tells when they are");
        self.reply(waiting, FilesReport { status, reason: Some(reason.into()), ..FilesReport::default() }, None);
    }

    fn reply(&mut self, Waiting { number, durability, reply }: Waiting, files: FilesReport, ticket: Option<Ticket>) {
        let left = files.left.len() as u64 + files.more_left;
        let (text, commit) = match reply {
            Reply::Merge(mut report) => {
                report.conflicts += left;
                report.open_conflicts += left;
                report.files = Some(files);
                (serde_json::to_string(&report).unwrap_or_default(), report.commit)
            }
            Reply::Told(mut told, commit) => {
                told["files"] = json!(files);
                (told.to_string(), commit)
            }
        };
        let answer = Answer { commit, ..Answer::new(Outcome::Value(Shown { text, kind: "Map".into() })) };
        let wait = self.wait(ticket, durability);
        self.merges.conclude(Conclusion { number, answer, wait });
    }

    /// What is in the outbox, and what is done, the oldest first.
    pub(super) fn tell_outbox(&self) -> Result<String, String> {
        let failed = |error: image::ImageError| error.to_string();
        let all = [self.image.delivered().map_err(failed)?, self.image.outbox().map_err(failed)?].concat();
        let told = all.iter().map(|delivery| {
            let is_under_way = delivery.record.is_some_and(|record| self.deliveries.is_under_way(record));
            json!({
                "key": delivery.key,
                "dream": delivery.dream,
                "call": delivery.name,
                "arguments": delivery.arguments.iter().map(told::text_of).collect::<Vec<_>>(),
                "status": delivery.status.name(),
                "is_under_way": is_under_way,
                "attempts": delivery.attempts,
                "answer": delivery.answer,
            })
        });
        Ok(Value::Array(told.collect()).to_string())
    }

    /// Whether it is of a merge that does not stand any more. What takes that back is not.
    fn is_taken_back(&self, delivery: &Delivery) -> Result<bool, image::ImageError> {
        if delivery.name == handover::call::RESTORE {
            return Ok(false);
        }
        let parts = self.image.merges_of(&delivery.dream, 0)?;
        Ok(parts.last().is_some_and(|part| part.taken_back_by.is_some()))
    }

    /// Lets what failed for good be tried again, but nothing of a merge that was taken back.
    pub(super) fn resend(&mut self, key: Option<&str>) -> Result<(Shown, Option<Ticket>), Failure> {
        let refused = |message: String| Failure::new(FailureKind::Refused, message);
        let is_meant = |delivery: &Delivery| key.is_none_or(|key| delivery.key == key);
        let outbox = self.image.outbox().map_err(|error| refused(error.to_string()))?;
        let meant = outbox.iter().filter(|delivery| delivery.status == DeliveryStatus::Failed && is_meant(delivery));
        let (mut failed, mut undone) = (Vec::new(), None);
        for delivery in meant {
            match self.is_taken_back(delivery).map_err(|error| refused(error.to_string()))? {
                true => undone = Some(&delivery.dream),
                false => failed.extend(delivery.record),
            }
        }
        match (key, &failed[..], undone) {
            (Some(_), [], Some(dream)) => {
                return Err(refused(format!(
                    "the merge of {dream} was taken back, and nothing of it is done any more"
                )));
            }
            (Some(key), [], None) => {
                return Err(refused(format!("nothing that failed has the key {key}; `telos outbox` has them")));
            }
            _ => {}
        }
        let set = |record: &ObjectId| {
            [("status", "waiting".into()), ("attempts", object::change::Datum::number(0.0))]
                .map(|(name, value)| (*record, object::change::Operation::set_slot(name, value)))
        };
        let changes = failed.iter().flat_map(set).collect();
        let ticket = self.image.adopt(&delivery_cause("resend"), changes).map_err(|error| self.fail(error))?;
        self.deliveries.rest_on(ticket);
        self.deliver();
        Ok((Shown { text: failed.len().to_string(), kind: "Number".into() }, ticket))
    }
}

/// A dream whose files are still to be applied is needed.
pub fn check_delivered(store: &Store, dream: &str) -> Result<(), String> {
    let is_needed = |each: &Delivery| {
        each.dream == dream
            && each.status == DeliveryStatus::Waiting
            && handover::call::ALL.contains(&each.name.as_str())
    };
    let outbox =
        Delivery::waiting_in(store).map_err(|error| format!("whether {dream} is needed is not known: {error}"))?;
    match outbox.iter().any(is_needed) {
        true => Err(format!("what {dream} wrote to files is still to be applied: telos outbox")),
        false => Ok(()),
    }
}

/// What was merged is delivered, also if somebody locked the image meanwhile.
pub fn delivery_cause(what: &str) -> Cause {
    let is_allowed = true;
    Cause { author: "outbox".into(), cause: crate::chronicle::shortened(what), is_allowed, ..Cause::default() }
}
