//! Journals as a dreamer may write them, from a seed: every kind of change, within the rules.

#![allow(dead_code, reason = "each test uses a part")]
#![allow(clippy::disallowed_methods, reason = "how much it tests is set from outside")]

use dream::{Answered, Bounds, Call, Decoder, Entry, ForkPoint, Journal, JournalError, Received, Recording, Writer};
use object::change::*;
use store::NewCommit;
use testkit::Random;

pub const FORK: ForkPoint =
    ForkPoint { store: *b"a store's own id", actor: ActorId(7), forked: Time::from_ms(1_000_000) };
pub const RECEIPT: Time = Time::from_ms(2_000_000);

pub fn own(seq: u64) -> ChangeId {
    ChangeId::new(FORK.actor, seq)
}

pub fn live(seq: u64) -> ObjectId {
    ObjectId::minted(ChangeId::new(ActorId(1), seq))
}

/// A dreamer that keeps to the rules.
pub struct Dreamer<'r> {
    random: &'r mut Random,
    next: u64,
    made: Vec<ObjectId>,
}

impl<'r> Dreamer<'r> {
    pub fn new(random: &'r mut Random) -> Dreamer<'r> {
        Dreamer { random, next: 1, made: Vec::new() }
    }

    pub fn commits(&mut self, most: usize) -> Vec<NewCommit> {
        (0..self.random.below(most + 1)).map(|_| self.commit()).collect()
    }

    fn commit(&mut self) -> NewCommit {
        let changes = (0..self.random.below(8)).map(|_| self.change()).collect();
        let texts: [&str; 4] = ["", "alice", "größe", "a mandate of several words"];
        let (author, cause) = (self.random.pick(&texts).to_string(), self.random.pick(&texts).to_string());
        NewCommit { time: self.time(), author, cause, changes, ..NewCommit::default() }
    }

    fn time(&mut self) -> Time {
        Time::from_ms(1_000_000 + self.random.below(1_000_000) as u64)
    }

    fn change(&mut self) -> Change {
        let id = own(self.next);
        self.next += 1;
        let (time, object, operation) = (self.time(), self.object(), self.operation());
        let object = match &operation {
            Operation::Create(creation) => creation.object(id),
            _ => object,
        };
        if matches!(&operation, Operation::Create(creation) if creation.under.is_none()) {
            self.made.push(object);
        }
        let preds = match self.random.below(6) {
            0 if id.seq > 1 => Preds::Named([own(1 + self.random.below(id.seq as usize - 1) as u64)].into()),
            1 => Preds::Named([ChangeId::new(ActorId(3), 9)].into()),
            _ => Preds::Seen,
        };
        Change { id, time, object, operation, preds }
    }

    fn object(&mut self) -> ObjectId {
        match (self.random.below(4), self.made.len()) {
            (0, 1..) => self.made[self.random.below(self.made.len())],
            (1, _) => ObjectId::derived(live(2), &Field::Slot("map".into()), 4, &[]),
            _ => live(1 + self.random.below(50) as u64),
        }
    }

    fn datum(&mut self) -> Datum {
        match self.random.below(10) {
            0 => Datum::Nil,
            9 => Datum::Text(self.text()),
            1 => Datum::Boolean(true),
            2 => Datum::number(self.random.below(100) as f64),
            3 => Datum::number(f64::from_bits(self.random.next())),
            4 => Datum::text(self.random.pick(&["x", "", "a longer text", "größe"])),
            5 => Datum::bytes(&[0, 255, 7]),
            6 => Datum::record([Datum::Nil, Datum::text("r"), Datum::Object(self.object())]),
            7 => Datum::Object(self.object()),
            _ => Datum::Absent,
        }
    }

    /// Symbols that are no text in UTF-8 begin with 0xFF, their item type and encoding.
    fn text(&mut self) -> Text {
        let bytes: Vec<u8> = (0..self.random.below(9)).map(|_| self.random.next() as u8).collect();
        let kind = [0xFF, self.random.below(11) as u8, self.random.below(6) as u8];
        Text::from(if self.random.chance(50) { [&kind[..], &bytes].concat() } else { bytes }.as_slice())
    }

    fn run(&mut self) -> (Line, Run) {
        match self.random.below(3) {
            0 => (Line::Protos, Run::items([Datum::Object(self.object())])),
            1 => (Line::Items, Run::items((0..self.random.below(4)).map(|_| self.datum()).collect::<Vec<_>>())),
            _ => (Line::Units, Run::bytes(b"units")),
        }
    }

    fn operation(&mut self) -> Operation {
        let number = self.random.below(300) as u64;
        let (line, run) = self.run();
        match self.random.below(12) {
            0 | 1 => Operation::Create(Box::new(self.creation())),
            2..=4 => Operation::set_slot(self.random.pick(&["x", "y", "a long name"]), self.datum()),
            5 => Operation::Put { field: Field::Entry(self.datum()), value: self.datum() },
            6 => Operation::Put { field: Field::Data, value: self.datum() },
            7 => Operation::Insert { line, index: number, run },
            8 => Operation::Delete { line, index: number, count: 2 },
            9 => Operation::Move { line, from: number, to: 3 },
            10 => {
                let way = Answered::ALL[self.random.below(Answered::ALL.len())];
                let arguments = [Datum::text("https://example.org"), Datum::number(3.0)];
                Call::operation("http get", &arguments[..self.random.below(3)], way, Datum::bytes(b"answer"))
            }
            _ => Operation::Set { index: number, value: self.datum() },
        }
    }

    /// Fields of a message, or nearly so.
    fn message(&mut self) -> Datum {
        let name = Datum::Text(if self.random.chance(60) {
            self.random.pick(&["x", "+", "setSlot", ";", "", "1", "\"t\""]).into()
        } else {
            self.text()
        });
        let mut fields =
            vec![name, self.datum_of_code(), self.datum_of_code(), Datum::text("label"), 1.0.into(), 1.0.into()];
        fields.extend((0..self.random.below(3)).map(|_| Datum::Object(self.object())));
        Datum::record(fields)
    }

    /// A value, but no record: those do not nest.
    fn datum_of_code(&mut self) -> Datum {
        match self.datum() {
            Datum::Record(_) => Datum::Nil,
            datum => datum,
        }
    }

    fn creation(&mut self) -> Creation {
        let body = match self.random.below(6) {
            4 => Body::Data(self.message()),
            5 => Body::Data(Datum::record([
                Datum::Object(self.object()),
                self.datum_of_code(),
                Datum::Nil,
                Datum::text("x"),
            ])),
            0 => Body::Nothing,
            1 => Body::Data(self.datum()),
            2 => Body::Elements(Run::items([self.datum()])),
            _ => Body::Map(vec![(Datum::text("k"), self.datum())]),
        };
        let under = (self.random.below(5) == 0).then(|| (live(2), Field::Slot("map".into())));
        let slots = vec![(Text::from("x"), self.datum()), (self.text(), self.datum())];
        Creation {
            kind: self.random.below(13) as u32,
            flags: self.random.below(13) as u32 * 2,
            protos: vec![self.object()],
            slots,
            body,
            under,
        }
    }
}

/// The stream of these commits.
pub fn written(commits: &[NewCommit]) -> Vec<u8> {
    let (mut writer, mut bytes) = (Writer::new(FORK, Bounds::default()), Vec::new());
    commits.iter().for_each(|commit| writer.write(commit, &mut bytes).expect("it is within the bounds"));
    bytes
}

/// What a decoder makes of it, in pieces of these sizes.
pub fn decoded(
    bytes: &[u8],
    bounds: Bounds,
    mut piece: impl FnMut() -> usize,
) -> (Vec<Entry>, Result<usize, JournalError>) {
    let (mut decoder, mut entries, mut rest) = (Decoder::new(FORK, bounds), Vec::new(), bytes);
    while !rest.is_empty() {
        let (now, later) = rest.split_at(piece().clamp(1, rest.len()));
        if let Err(error) = decoder.feed(now, RECEIPT, &mut |received| entries.push(received.entry)) {
            return (entries, Err(error));
        }
        rest = later;
    }
    (entries, Ok(decoder.unfinished_bytes()))
}

pub fn journal(commits: &[NewCommit]) -> Journal {
    let (entries, end) = decoded(&written(commits), Bounds::default(), || usize::MAX);
    end.expect("what a dreamer writes is read");
    let mut journal = Journal::new(FORK);
    entries.into_iter().for_each(|entry| journal.push(entry));
    journal
}

/// Appends these commits to a file, from the first of which the file has nothing yet.
pub fn append(recording: &mut Recording, commits: &[NewCommit], first: usize) {
    let (mut decoder, mut number) = (Decoder::new(FORK, Bounds::default()), 0);
    let take = &mut |received: Received<'_>| {
        if number >= first {
            recording.append(&received).expect("it is appended");
        }
        number += 1;
    };
    decoder.feed(&written(commits), RECEIPT, take).expect("what a dreamer writes is read");
}

/// Whether an entry says what was written.
pub fn is_same(entry: &Entry, commit: &NewCommit) -> bool {
    entry.time() == commit.time
        && entry.author() == commit.author
        && entry.cause() == commit.cause
        && entry.changes() == commit.changes
}

/// Bytes made worse, in a few places.
pub fn worsened(random: &mut Random, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() + 1);
        match random.below(5) {
            0 => bytes.insert(at, random.next() as u8),
            1 => bytes.truncate(at),
            _ if at == bytes.len() => {}
            2 => bytes[at] ^= 1 << random.below(8),
            3 => bytes[at] = [0, 1, 127, 128, 255][random.below(5)],
            _ => {
                bytes.remove(at);
            }
        }
    }
    bytes
}

/// Frames whose payloads are made worse and whose checksums are right: what a forger would send.
pub fn forged(random: &mut Random, commits: &[NewCommit]) -> Vec<u8> {
    let chosen = random.below(commits.len().max(1));
    let mut stream = Vec::new();
    for (index, commit) in commits.iter().enumerate() {
        let mut payload = commit.encode().expect("it can be encoded");
        if index == chosen {
            payload = worsened(random, payload);
        }
        frame(&mut stream, 1, &payload);
    }
    stream
}

/// A frame as `docs/dream-format.md` says, at the end of a stream.
pub fn frame(stream: &mut Vec<u8>, kind: u8, payload: &[u8]) {
    let seed = store::checksum(FORK.actor.0, &FORK.store).wrapping_add(stream.len() as u64);
    let mut checked = (payload.len() as u32).to_le_bytes().to_vec();
    checked.push(kind);
    checked.extend(payload);
    stream.extend(store::checksum(seed, &checked).to_le_bytes());
    stream.extend(checked);
}
