//! What a merge commit says of itself, in its last change: which dream it was, under what terms it came, and the journal as it
//! was admitted. Later merges tell it to the kernel again; what lost is there too. Owns the form of the note, which must last.
//!
//! The note is a call of a name that no program can give, so the store keeps it and does nothing with it.

use super::policies::{policy_name, policy_of};
use super::renaming::renamed;
use crate::error::ImageError;
use merge::Policy;
use object::change::{self, ActorId, Change, Datum, Field, ObjectId, Operation, Time};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use store::Commit;

pub const NAME: &str = "telos.merge";
const FORM: f64 = 1.0;

#[derive(Clone, PartialEq, Debug)]
pub struct Note {
    pub actor: ActorId,
    pub name: String,
    pub fork_commit: u64,
    pub forked: Time,
    pub receipt: Time,
    pub policy: Policy,
    pub is_partial: bool,
    pub parents: Vec<(ActorId, u64)>,
    /// The number of the first change that is no effect of the journal: what the image itself wrote down about the merge.
    pub books: u64,
    /// The object in `Telos merges`.
    pub record: ObjectId,
    /// Records of open conflicts and of violations.
    pub opened: Vec<ObjectId>,
    pub exceptions: Vec<((ObjectId, Field), Policy)>,
    /// What the reconciler said.
    pub decided: Vec<(ObjectId, Field, Datum)>,
    pub aliases: Vec<Alias>,
    /// As it was admitted, from change 1 on.
    pub journal: Vec<Change>,
}

/// An object of live that the dream made too, under the same key: to the kernel one container, known by its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Alias {
    pub live: ObjectId,
    pub parent: ObjectId,
    pub field: Field,
    /// What the kernel knows it as.
    pub shared: ObjectId,
}

/// The note of a commit, if that is a merge.
pub fn note_of(commit: &Commit, live: ActorId) -> Result<Option<Note>, ImageError> {
    let Some(last) = commit.changes.last().filter(|last| last.id.actor != live) else { return Ok(None) };
    let payload = match &last.operation {
        Operation::Call { name, payload: Datum::Record(fields) } if name.as_bytes() == NAME.as_bytes() => fields,
        _ => return Ok(None),
    };
    let damaged = || ImageError::Damaged(format!("commit {} is a merge whose note cannot be read", commit.number));
    Note::read(last.id.actor, payload).map(Some).ok_or_else(damaged)
}

impl Note {
    /// The same with every container under the id that its author gave it; and what those are in the image that are others
    /// there.
    pub fn in_own_ids(mut self) -> (Note, FxHashMap<ObjectId, ObjectId>) {
        if self.aliases.is_empty() {
            return (self, FxHashMap::default());
        }
        let mut names: FxHashMap<ObjectId, ObjectId> =
            self.aliases.iter().map(|alias| (alias.shared, alias.live)).collect();
        let mut own = FxHashMap::default();
        for change in self.journal.iter().filter(|change| matches!(change.operation, Operation::Create(_))) {
            let minted = ObjectId::minted(change.id);
            if let Some(live) = names.get(&change.object).copied().filter(|live| *live != minted) {
                own.insert(minted, live);
            }
            names.entry(change.object).and_modify(|name| *name = minted);
        }
        let name = |object: ObjectId| names.get(&object).copied().unwrap_or(object);
        for change in &mut self.journal {
            change.operation = renamed(&change.operation, &name);
            if let Operation::Create(creation) = &mut change.operation
                && names.contains_key(&change.object)
            {
                creation.under = None;
            }
            change.object = name(change.object);
        }
        (self, own)
    }

    pub fn operation(&self) -> Result<Operation, ImageError> {
        let mut fields = vec![
            Datum::number(FORM),
            Datum::text(&self.name),
            number(self.fork_commit),
            word(self.forked.0),
            word(self.receipt.0),
            Datum::text(policy_name(self.policy)),
            Datum::Boolean(self.is_partial),
            number(self.books),
            Datum::Object(self.record),
            Datum::bytes(&change::encode(&self.journal).map_err(store::StoreError::from)?),
        ];
        fields.push(number(self.parents.len() as u64));
        self.parents.iter().for_each(|(actor, seq)| fields.extend([word(actor.0), number(*seq)]));
        fields.push(number(self.opened.len() as u64));
        fields.extend(self.opened.iter().map(|object| Datum::Object(*object)));
        fields.push(number(self.exceptions.len() as u64));
        for ((object, field), policy) in &self.exceptions {
            fields.push(Datum::Object(*object));
            fields.extend(field_data(field));
            fields.push(Datum::text(policy_name(*policy)));
        }
        fields.push(number(self.decided.len() as u64));
        for (object, field, value) in &self.decided {
            fields.push(Datum::Object(*object));
            fields.extend(field_data(field));
            fields.push(value.clone());
        }
        fields.push(number(self.aliases.len() as u64));
        for Alias { live, parent, field, shared } in &self.aliases {
            fields.extend([Datum::Object(*live), Datum::Object(*parent), Datum::Object(*shared)]);
            fields.extend(field_data(field));
        }
        Ok(Operation::Call { name: NAME.into(), payload: Datum::record(fields) })
    }

    fn read(actor: ActorId, fields: &Arc<[Datum]>) -> Option<Note> {
        let mut fields = Fields { left: fields };
        if fields.number()? != FORM as u64 {
            return None;
        }
        let (name, fork_commit) = (fields.text()?, fields.number()?);
        let (forked, receipt) = (Time(fields.word()?), Time(fields.word()?));
        let policy = policy_of(fields.text()?.as_bytes())?;
        let is_partial = matches!(fields.next()?, Datum::Boolean(true));
        let (books, record) = (fields.number()?, fields.object()?);
        let Datum::Bytes(bytes) = fields.next()? else { return None };
        let journal = change::decode(bytes).ok()?;
        let parents = fields.several(|fields| Some((ActorId(fields.word()?), fields.number()?)))?;
        let opened = fields.several(Fields::object)?;
        let exceptions = fields.several(|fields| {
            let place = (fields.object()?, fields.field()?);
            Some((place, policy_of(fields.text()?.as_bytes())?))
        })?;
        let decided = fields.several(|fields| Some((fields.object()?, fields.field()?, fields.next()?.clone())))?;
        let aliases = fields.several(|fields| {
            let (live, parent, shared) = (fields.object()?, fields.object()?, fields.object()?);
            Some(Alias { live, parent, shared, field: fields.field()? })
        })?;
        let note = Note {
            actor,
            name,
            fork_commit,
            forked,
            receipt,
            policy,
            is_partial,
            parents,
            books,
            record,
            opened,
            exceptions,
            decided,
            aliases,
            journal,
        };
        Some(note)
    }
}

fn number(number: u64) -> Datum {
    Datum::number(number as f64)
}

/// All 64 bits.
fn word(word: u64) -> Datum {
    Datum::bytes(&word.to_le_bytes())
}

fn field_data(field: &Field) -> [Datum; 2] {
    match field {
        Field::Slot(name) => [Datum::number(0.0), Datum::Text(name.clone())],
        Field::Entry(key) => [Datum::number(1.0), key.clone()],
        Field::Data => [Datum::number(2.0), Datum::Nil],
        Field::Flags => [Datum::number(3.0), Datum::Nil],
    }
}

struct Fields<'f> {
    left: &'f [Datum],
}

impl<'f> Fields<'f> {
    fn next(&mut self) -> Option<&'f Datum> {
        let (first, left) = self.left.split_first()?;
        self.left = left;
        Some(first)
    }

    fn number(&mut self) -> Option<u64> {
        if let Datum::Number(number) = self.next()? { Some(*number as u64) } else { None }
    }

    fn word(&mut self) -> Option<u64> {
        let Datum::Bytes(bytes) = self.next()? else { return None };
        Some(u64::from_le_bytes(bytes[..].try_into().ok()?))
    }

    fn text(&mut self) -> Option<String> {
        if let Datum::Text(text) = self.next()? { Some(text.to_string()) } else { None }
    }

    fn object(&mut self) -> Option<ObjectId> {
        if let Datum::Object(object) = self.next()? { Some(*object) } else { None }
    }

    fn field(&mut self) -> Option<Field> {
        let form = self.number()?;
        match (form, self.next()?) {
            (0, Datum::Text(name)) => Some(Field::Slot(name.clone())),
            (1, key) => Some(Field::Entry(key.clone())),
            (2, _) => Some(Field::Data),
            (3, _) => Some(Field::Flags),
            _ => None,
        }
    }

    fn several<T>(&mut self, read: impl Fn(&mut Fields<'f>) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        (0..count).map(|_| read(self)).collect()
    }
}
