//! What a candidate is made of, in the copy of the image process that becomes one: the plan of the merge, which live made at the
//! moment of the fork, and all that the judge is told of the dream.

use super::Resident;
use super::archive::{archived, sources};
use super::judgement::Judgement;
use super::judging::Case;
use super::known::Kept;
use super::names::LiveNames;
use super::names::slot_of;
use super::protection::{Belonging, Genesis, Protected};
use super::resting::Resting;
use dream::{Alone, Answered, DreamId, KeptDream, Status};
use image::MergePlan;
use object::change::{Change, ObjectId, Operation};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use store::Store;

/// So many objects are surveyed.
const TOUCHED_MAX: usize = 5_000;
/// So many changes are told one by one; a larger journal breaks the rule about sizes.
const CHANGES_MAX: usize = 20_000;

/// So many names are told of what was changed.
const NAMES_MAX: usize = 1_000;

/// A candidate that is to be made.
pub struct Candidate {
    pub plan: MergePlan,
    /// What earlier ones found, which still holds.
    pub held: Judgement,
    /// What earlier merges found.
    pub kept: Option<Kept>,
    pub genesis: Genesis,
    /// Names of tests that the mandate asks for, as whoever gave it says.
    pub tests: Vec<String>,
    /// A person's token came with the order: nothing is protected from it.
    pub is_allowed: bool,
    /// By which it hides where objects lie.
    pub places: u64,
}

impl Resident {
    pub(super) fn case(&self, alone: &Alone, candidate: Candidate) -> Result<Case, String> {
        let Candidate { plan, held, kept: known, genesis, tests, is_allowed, places } = candidate;
        let id: DreamId = plan.arrival.name.parse().map_err(|error: dream::DreamError| error.to_string())?;
        let dreams = alone.dreams().map_err(|error| error.to_string())?;
        let kept = dreams.read(id).map_err(|error| error.to_string())?;
        let (store, roots) = (self.image.store(), self.desk.roots());
        let names = LiveNames::of(store, &roots);
        let verification = verification_of(store, roots.lobby, roots.core)?;
        let belonging = known.as_ref().and_then(|kept| kept.belonging(store, verification));
        let belonging = belonging.map_or(Belonging::Unknown(Some(verification)), Belonging::Known);
        let protected = Protected::of(store, &roots, genesis, belonging, self.image.guard());
        let keeps = |change: &Change| !is_allowed && protected.keeps(store, change);
        let told = told_changes(&kept, &names, &keeps);
        let touched = touched(&told, &plan, store);
        let mut names = names.into_names();
        names.extend(touched.iter().map(|(name, id)| (*id, name.clone())));
        let held = Judgement { methods: sources(&told, &touched), names: told_names(&told), ..held };
        let mut facts = facts_of(&kept, told);
        facts.insert("archive".into(), json!(archived(store, &roots)));
        facts.insert("mandateTests".into(), json!(tests));
        let resting = Resting { names };
        Ok(Case { facts, plan, touched, verification, held, known, protected, places, resting })
    }
}

/// Live's own: that of Telos, or the one that the image was born with.
pub fn verification_of(store: &Store, lobby: Option<ObjectId>, core: Option<ObjectId>) -> Result<ObjectId, String> {
    let record = |id: Option<ObjectId>| store.read(id?).ok().flatten();
    let telos = record(lobby).and_then(|lobby| slot_of(&lobby, "Telos"));
    let own = record(telos).and_then(|telos| slot_of(&telos, "verification"));
    let of_core = || record(core).and_then(|core| slot_of(&core, "Verification"));
    own.or_else(of_core).ok_or_else(|| {
        "the image has no Verification, so nothing can be judged: it was born before there was one; \
         put one into Telos verification"
            .to_string()
    })
}

/// The changes as `Dream journal` has them, each with whether it is to something protected, if anything is; without those to what the machine
/// keeps for itself, which are never merged.
fn told_changes(kept: &KeptDream, names: &LiveNames<'_>, keeps: &dyn Fn(&Change) -> bool) -> Vec<Value> {
    let sections = dream::show::diff(&kept.journal, names).sections.into_iter();
    let of_machine: BTreeSet<String> = sections
        .filter(|section| section.is_of_machine)
        .filter_map(|section| Some(section.object?.to_string()))
        .collect();
    let kept_back = kept.journal.changes().filter(|change| keeps(change));
    let is_protected: BTreeSet<String> = kept_back.map(|change| change.id.to_string()).collect();
    let mut told = Vec::new();
    dream::show::to_json(&kept.journal, names, &mut |mut change| {
        let object = change["object_id"].as_str().unwrap_or_default().to_string();
        if !of_machine.contains(&object) && change["operation"] != "FFI_CALL" {
            change["isProtected"] = json!(change["change_id"].as_str().is_some_and(|id| is_protected.contains(id)));
            told.push(change);
        }
        if told.len() < CHANGES_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    told
}

/// What objects of the changes are called, by their numbers.
fn told_names(told: &[Value]) -> BTreeMap<String, String> {
    let named =
        |change: &Value| Some((change["object_id"].as_str()?.to_string(), change["object_name"].as_str()?.to_string()));
    told.iter().filter_map(named).take(NAMES_MAX).collect()
}

/// Plain objects that the dream made or changed, by name.
fn touched(told: &[Value], plan: &MergePlan, store: &Store) -> BTreeMap<String, ObjectId> {
    let named: BTreeMap<&str, &str> = told
        .iter()
        .filter_map(|change| Some((change["object_id"].as_str()?, change["object_name"].as_str()?)))
        .collect();
    let made: BTreeMap<ObjectId, u32> = plan
        .effects
        .iter()
        .filter_map(|effect| match &effect.operation {
            Operation::Create(creation) => Some((effect.object, creation.kind)),
            _ => None,
        })
        .collect();
    let objects: BTreeSet<ObjectId> = plan.effects.iter().map(|effect| effect.object).collect();
    let kind = |id: &ObjectId| made.get(id).copied().or_else(|| Some(store.read(*id).ok()??.kind));
    let plain = objects.into_iter().filter(|id| kind(id) == Some(PLAIN)).take(TOUCHED_MAX);
    plain
        .map(|id| {
            let number = id.to_string();
            let name = named.get(number.as_str()).map_or_else(|| format!("object {number}"), ToString::to_string);
            (name, id)
        })
        .collect()
}

/// The number of the kind of plain objects, in records.
const PLAIN: u32 = 0;

fn facts_of(kept: &KeptDream, told: Vec<Value>) -> Map<String, Value> {
    let KeptDream { header, journal, journal_bytes, end, .. } = kept;
    let call = |call: dream::Call<'_>| json!({ "call": call.name.to_string(), "answered": call.answered.name() });
    let calls: Vec<Value> = journal.calls().map(call).collect();
    // What its policy allowed is what it was answered.
    let granted = |call: &dream::Call<'_>| call.answered != Answered::Blocked;
    let grants: BTreeSet<String> = journal.calls().filter(granted).map(|call| call.name.to_string()).collect();
    let refusals: Vec<String> = end
        .iter()
        .filter(|end| end.status == Status::Killed)
        .map(|end| format!("the dream did not come to its end: {}", end.reason))
        .collect();
    let objects: BTreeSet<&str> = told.iter().filter_map(|change| change["object_id"].as_str()).collect();
    let sizes = json!({ "changes": told.len(), "objects": objects.len(), "bytes": journal_bytes });
    let facts = json!({
        "dream": header.id().to_string(),
        "mandate": header.mandate,
        "agent": header.agent,
        "calls": calls,
        "refusals": refusals,
        "sizes": sizes,
        "rules": { "grants": grants },
        "journal": told,
    });
    match facts {
        Value::Object(facts) => facts,
        _ => Map::new(),
    }
}
