//! A living image, a copy of it as it was at the fork point, and what the image did since as the journal of a dream.

use dream::show::Names;
use dream::{Bounds, ForkPoint, Journal, RawJournal, Writer};
use image::{Cause, Embedder, Image, Options};
use language::{Host, Vm};
use object::change::*;
use std::collections::BTreeMap;
use store::NewCommit;
use tempfile::TempDir;

struct Plain;

impl Embedder for Plain {
    fn newborn(&self) -> Vm {
        Vm::new(Host::default())
    }

    fn bare(&self) -> Vm {
        Vm::bare(Host::default())
    }
}

pub struct Forked {
    image: Image,
    copy: Image,
    names: BTreeMap<ObjectId, String>,
    /// The first commit and change that are the dream's.
    commit: u64,
    change: u64,
    _directory: TempDir,
}

const DREAM: ActorId = ActorId(7);

fn send(image: &mut Image, source: &str) {
    let done = image.transact(&Cause::default(), |vm| vm.evaluate(source, "test"));
    let (_, ticket) = done.unwrap_or_else(|error| panic!("{source}: {error}"));
    ticket.map_or(Ok(()), |ticket| image.wait(ticket)).expect("it is durable");
}

impl Forked {
    pub fn new(before: &[&str]) -> Forked {
        let directory = tempfile::tempdir().expect("a directory");
        let (live, kept) = (directory.path().join("live"), directory.path().join("copy"));
        let mut image = Image::create(&live, &Options::default(), Box::new(Plain)).expect("a new image");
        before.iter().for_each(|source| send(&mut image, source));
        image.store().backup(&kept).expect("a copy");
        let copy = Image::open(&kept, &Options::default(), Box::new(Plain)).expect("the copy opens");
        let (commit, change) = (image.store().last_commit() + 1, image.store().next_change().seq);
        let names = names(&copy);
        Forked { image, copy, names, commit, change, _directory: directory }
    }

    /// The journal of a dream that was sent this.
    pub fn dream(&mut self, sources: &[&str]) -> Journal {
        sources.iter().for_each(|source| send(&mut self.image, source));
        let store = self.image.store();
        let fork = ForkPoint { store: store.id(), actor: DREAM, forked: Time(0) };
        let (mut writer, mut bytes) = (Writer::new(fork, Bounds::default()), Vec::new());
        for number in self.commit..=store.last_commit() {
            let commit = store.commit_at(number).expect("it is readable").expect("it is there");
            let changes = commit.changes.iter().map(|change| self.as_dreamt(change)).collect();
            let new = NewCommit {
                time: commit.time,
                author: commit.author,
                cause: commit.cause,
                changes,
                ..NewCommit::default()
            };
            writer.write(&new, &mut bytes).expect("it is within the bounds");
        }
        let mut raw = RawJournal::new(Bounds::default());
        raw.push(&bytes).expect("it is within the bounds");
        raw.decode(fork, Time::MAX).expect("it is a journal")
    }

    /// The change as if the dream's actor had made it.
    fn as_dreamt(&self, change: &Change) -> Change {
        let id = ChangeId::new(DREAM, change.id.seq - self.change + 1);
        let operation = match &change.operation {
            Operation::Create(creation) => Operation::Create(Box::new(self.creation(creation))),
            Operation::Put { field, value } => Operation::Put { field: field.clone(), value: self.datum(value) },
            Operation::Insert { line, index, run } => {
                Operation::Insert { line: *line, index: *index, run: self.run(run) }
            }
            Operation::Set { index, value } => Operation::Set { index: *index, value: self.datum(value) },
            other => other.clone(),
        };
        Change { id, time: change.time, object: self.object(change.object), operation, preds: Preds::Seen }
    }

    fn object(&self, object: ObjectId) -> ObjectId {
        match object.minted_by() {
            Some(by) if by.seq >= self.change => ObjectId::minted(ChangeId::new(DREAM, by.seq - self.change + 1)),
            _ => object,
        }
    }

    fn datum(&self, datum: &Datum) -> Datum {
        match datum {
            Datum::Object(object) => Datum::Object(self.object(*object)),
            Datum::Record(fields) => Datum::record(fields.iter().map(|field| self.datum(field))),
            other => other.clone(),
        }
    }

    fn run(&self, run: &Run) -> Run {
        match run {
            Run::Items(items) => Run::items(items.iter().map(|item| self.datum(item))),
            units => units.clone(),
        }
    }

    fn creation(&self, creation: &Creation) -> Creation {
        let body = match &creation.body {
            Body::Data(data) => Body::Data(self.datum(data)),
            Body::Elements(run) => Body::Elements(self.run(run)),
            Body::Map(entries) => {
                Body::Map(entries.iter().map(|(key, value)| (key.clone(), self.datum(value))).collect())
            }
            other => other.clone(),
        };
        let slots = creation.slots.iter().map(|(name, value)| (name.clone(), self.datum(value))).collect();
        let protos = creation.protos.iter().map(|proto| self.object(*proto)).collect();
        Creation { protos, slots, body, ..creation.clone() }
    }
}

/// The paths of what lies in slots below the Lobby.
fn names(image: &Image) -> BTreeMap<ObjectId, String> {
    let lobby = image.id_of(image.vm().lobby()).expect("the Lobby persists");
    let mut names = BTreeMap::from([(lobby, "Lobby".to_string())]);
    let mut waiting = vec![lobby];
    for _ in 0..4 {
        for object in std::mem::take(&mut waiting) {
            let creation = image.store().read(object).expect("it is readable").expect("it is there");
            let holder = names[&object].clone();
            for (name, value) in &creation.slots {
                let Datum::Object(id) = value else { continue };
                if name.as_bytes().is_ascii() && !names.contains_key(id) {
                    let is_root = matches!(holder.as_str(), "Lobby" | "Protos" | "Protos Core");
                    let path = if is_root { name.to_string() } else { format!("{holder} {name}") };
                    names.insert(*id, if name.as_bytes() == b"Core" { "Protos Core".into() } else { path });
                    waiting.push(*id);
                }
            }
        }
    }
    names
}

impl Names for Forked {
    fn name(&self, object: ObjectId) -> Option<String> {
        self.names.get(&object).cloned()
    }

    fn before(&self, object: ObjectId, field: &Field) -> Option<Datum> {
        self.copy.store().read(object).ok()?.map(|creation| creation.field(field))
    }

    fn run_before(&self, object: ObjectId, line: Line) -> Option<Run> {
        self.copy.store().read(object).ok()?.map(|creation| creation.run(line))
    }
}
