//! From the heap to records: what objects are, as creations. Owns which objects become persistent: those that something
//! persistent refers to.
//!
//! Ids are given when an object is first met, in the order of the changes that will make them, its protos before it.
//! Whoever captures asks again and again for `next` until nothing new is met.

use crate::form::{Flags, kind_number, symbol_text};
use crate::identity::Identities;
use object::change::{ActorId, Body, ChangeId, Creation, Datum, Field, ObjectId, Operation, Run, Text};
use object::{Data, Handle, Heap, Kind, Symbol, Value, flag};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What only the language knows about objects.
pub trait Language {
    fn primitive_name(&self, index: u32) -> Option<&str>;
    fn primitive_index(&self, name: &str) -> u32;
    /// What `Foreign::save` made of foreign data, as data again.
    fn restore(&self, name: &str, values: &[Value]) -> Result<Data, String>;
    /// Whether an object of this kind may hold this. Must load nothing.
    fn check(&self, heap: &Heap, kind: Kind, data: &Data) -> Result<(), String>;
}

impl<L: Language + ?Sized> Language for std::rc::Rc<L> {
    fn primitive_name(&self, index: u32) -> Option<&str> {
        (**self).primitive_name(index)
    }

    fn primitive_index(&self, name: &str) -> u32 {
        (**self).primitive_index(name)
    }

    fn restore(&self, name: &str, values: &[Value]) -> Result<Data, String> {
        (**self).restore(name, values)
    }

    fn check(&self, heap: &Heap, kind: Kind, data: &Data) -> Result<(), String> {
        (**self).check(heap, kind, data)
    }
}

pub struct Capture<'h> {
    pub heap: &'h Heap,
    pub identities: &'h Identities,
    pub language: &'h dyn Language,
    actor: ActorId,
    next_seq: u64,
    /// Objects that got an id, and were not captured yet from here on.
    found: Vec<Handle>,
    captured: usize,
    texts: FxHashMap<Symbol, Text>,
    /// The object that is being captured.
    current: Option<ObjectId>,
    /// Links to objects that may become persistent yet, by the object that is the link.
    open_links: Vec<(ObjectId, Handle)>,
}

impl<'h> Capture<'h> {
    /// `next` is the number of the actor's next change.
    pub fn new(heap: &'h Heap, identities: &'h Identities, language: &'h dyn Language, next: ChangeId) -> Capture<'h> {
        Capture {
            heap,
            identities,
            language,
            actor: next.actor,
            next_seq: next.seq,
            found: Vec::new(),
            captured: 0,
            texts: FxHashMap::default(),
            current: None,
            open_links: Vec::new(),
        }
    }

    /// The next object that became persistent, and what it is. Each takes one change number, in this order.
    pub fn next(&mut self) -> Option<(ObjectId, Creation)> {
        let handle = *self.found.get(self.captured)?;
        self.captured += 1;
        let id = self.identity(handle);
        self.begin(id);
        Some((id, self.creation(handle)))
    }

    /// What comes is about this object.
    pub fn begin(&mut self, object: ObjectId) {
        self.current = Some(object);
    }

    /// What links are that could not be told before everything was captured.
    pub fn links(&mut self) -> Vec<(ObjectId, Operation)> {
        let open = std::mem::take(&mut self.open_links).into_iter();
        let known = open.filter_map(|(link, target)| Some((link, self.identities.id(target)?)));
        let put = |(link, id)| (link, Operation::Put { field: Field::Data, value: Datum::Object(id) });
        known.map(put).collect()
    }

    /// Objects that became persistent, in the order of their changes.
    pub fn into_found(self) -> Vec<Handle> {
        self.found
    }

    pub fn datum(&mut self, value: Value) -> Datum {
        if let Some(number) = value.as_number() {
            return Datum::number(number);
        }
        let Some(handle) = value.as_handle() else { return Datum::Absent };
        match value {
            Value::NIL => Datum::Nil,
            Value::TRUE => Datum::Boolean(true),
            Value::FALSE => Datum::Boolean(false),
            _ if self.heap.resident(handle).has(flag::SYMBOL) => Datum::Text(self.text(handle)),
            _ => Datum::Object(self.identity(handle)),
        }
    }

    /// The text of a symbol, shared by all that use it.
    pub fn text(&mut self, symbol: Symbol) -> Text {
        if let Some(text) = self.texts.get(&symbol) {
            return text.clone();
        }
        let text = self.heap.sequence(symbol).map_or_else(|| Text::from(""), symbol_text);
        if self.texts.is_empty() {
            // Enough for most transactions, so that it grows once.
            self.texts.reserve(TEXTS);
        }
        self.texts.insert(symbol, text.clone());
        text
    }

    /// The id of an object, which from now on is persistent.
    pub fn identity(&mut self, handle: Handle) -> ObjectId {
        match self.identities.id(handle) {
            Some(id) => id,
            None => self.mint(handle),
        }
    }

    #[cold]
    fn mint(&mut self, handle: Handle) -> ObjectId {
        // Protos first; in a circle of them somebody has to be the first.
        let (mut pending, mut met) = (vec![handle], FxHashSet::default());
        while let Some(&each) = pending.last() {
            if self.identities.id(each).is_none() && met.insert(each) {
                pending.extend(self.heap.protos(each).iter().rev());
                continue;
            }
            pending.pop();
            if self.identities.id(each).is_none() {
                self.assign(each);
            }
        }
        self.identities.id(handle).expect("the object itself was the first to wait")
    }

    fn assign(&mut self, handle: Handle) {
        self.identities.bind(handle, ObjectId::minted(ChangeId::new(self.actor, self.next_seq)));
        self.next_seq += 1;
        self.found.push(handle);
    }

    fn creation(&mut self, handle: Handle) -> Creation {
        let object = self.heap.object(handle);
        let shape = self.heap.shapes().get(object.shape());
        let protos = shape.protos.iter().map(|&proto| self.identity(proto)).collect();
        let slots = shape.names.iter().enumerate();
        let slots = slots.map(|(index, &name)| (self.text(name), self.datum(object.slot(index)))).collect();
        Creation {
            kind: kind_number(object.kind()),
            flags: Flags::of(object).number(),
            protos,
            slots,
            body: match (object.kind(), object.data()) {
                (Kind::Counter, Data::Number(value)) => counters(*value),
                (_, data) => self.body(data),
            },
            under: None,
        }
    }

    fn body(&mut self, data: &Data) -> Body {
        match data {
            Data::None => Body::Nothing,
            Data::List(values, start) => Body::Elements(Run::Items(self.items(&values[*start as usize..]))),
            Data::Sequence(sequence) => {
                Body::Elements(Run::Units { width: sequence.item_size() as u8, bytes: sequence.as_bytes().into() })
            }
            Data::Map(map) => {
                Body::Map(map.iter().map(|(&key, &value)| (Datum::Text(self.text(key)), self.datum(value))).collect())
            }
            _ => match self.data(data) {
                Datum::Absent => Body::Nothing,
                datum => Body::Data(datum),
            },
        }
    }

    pub fn items(&mut self, values: &[Value]) -> Arc<[Datum]> {
        values.iter().map(|&value| self.datum(value)).collect()
    }

    /// All of the data as one value. Lists, maps and sequences have parts of their own, unless they take the place of
    /// something of another kind.
    pub fn data(&mut self, data: &Data) -> Datum {
        match data {
            Data::None => Datum::Absent,
            Data::List(values, start) => Datum::Record(self.items(&values[*start as usize..])),
            Data::Map(map) => {
                let entries = map.iter().flat_map(|(&key, &value)| [Datum::Text(self.text(key)), self.datum(value)]);
                Datum::record(entries)
            }
            Data::Sequence(sequence) => Datum::bytes(&[&[sequence.item_size() as u8], sequence.as_bytes()].concat()),
            Data::Number(number) => Datum::number(*number),
            Data::Record(values) => Datum::Record(self.items(values)),
            Data::Primitive(index) => {
                let name = self.language.primitive_name(*index);
                Datum::text(name.expect("every primitive has a name"))
            }
            Data::Weak(target) => self.link(*target),
            Data::Foreign(foreign) => match foreign.save() {
                Some((name, values)) => {
                    let name = Datum::bytes(name.as_bytes());
                    Datum::record([name].into_iter().chain(values.iter().map(|&value| self.datum(value))))
                }
                None => Datum::Absent,
            },
        }
    }

    /// A link makes nothing persistent: what nothing else holds is gone when the image is next opened.
    fn link(&mut self, target: Value) -> Datum {
        let is_plain = |handle: Handle| handle.0 <= LAST_CONSTANT || self.heap.resident(handle).has(flag::SYMBOL);
        match target.as_handle() {
            Some(handle) if !is_plain(handle) && self.identities.id(handle).is_none() => {
                self.open_links.extend(self.current.map(|link| (link, handle)));
                Datum::Nil
            }
            _ => self.datum(target),
        }
    }
}

/// The one count of a Counter, which has no name; none at nought.
fn counters(value: f64) -> Body {
    let count = value as i64;
    Body::Counters(if count == 0 { Vec::new() } else { vec![(Datum::Nil, count)] })
}

/// As many as a table of sixteen places takes.
const TEXTS: usize = 14;

/// nil, true and false come first in every heap.
const LAST_CONSTANT: u32 = 2;
