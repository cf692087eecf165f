//! From records to the heap: fills hollow objects from the store. What a record holds is not trusted: what cannot be is
//! refused, with the object named.

use crate::capture::Language;
use crate::form::{Flags, known_symbol, symbol_sequence};
use crate::identity::Identities;
use object::change::{Body, Creation, Datum, ObjectId, Run, Text};
use object::sequence::Sequence;
use object::{Data, Handle, Heap, Kind, Loaded, Loader, Symbol, Value};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Where records are.
pub trait Records {
    fn read(&self, id: ObjectId) -> Result<Option<Creation>, String>;
}

pub struct StoreLoader<R, L> {
    pub records: Rc<R>,
    pub identities: Rc<Identities>,
    pub language: L,
}

impl<R: Records, L: Language> Loader for StoreLoader<R, L> {
    fn load(&self, handle: Handle, heap: &Heap) -> Result<Loaded, String> {
        let id = self.identities.id(handle).ok_or_else(|| format!("object {handle:?} has no id"))?;
        let creation = self.records.read(id)?;
        let creation = creation.ok_or_else(|| format!("object {id} is referred to, but not in the image"))?;
        let filling = Filling { heap, identities: &self.identities, language: &self.language };
        filling.object(&creation).map_err(|problem| format!("object {id}: {problem}"))
    }

    fn keeps(&self, handle: Handle) -> bool {
        self.identities.id(handle).is_some()
    }

    fn released(&self, handle: Handle) {
        self.identities.release(handle);
    }
}

/// What one record is made into.
struct Filling<'f> {
    heap: &'f Heap,
    identities: &'f Identities,
    language: &'f dyn Language,
}

impl Filling<'_> {
    fn object(&self, creation: &Creation) -> Result<Loaded, String> {
        let flags = Flags::from_number(creation.flags).ok_or("its kind is none that exists")?;
        let slots = creation.slots.iter().map(|(name, value)| Ok((self.name(name)?, self.value(value)?)));
        let slots: Vec<(Symbol, Value)> = slots.collect::<Result<_, String>>()?;
        if has_twins(&slots) {
            return Err("it has two slots of one name".into());
        }
        let data = self.data(flags, &creation.body)?;
        self.language.check(self.heap, flags.kind, &data)?;
        let protos = creation.protos.iter().map(|&proto| self.handle(proto)).collect();
        Ok(Loaded { kind: flags.kind, is_activatable: flags.is_activatable, protos, slots, data })
    }

    fn handle(&self, id: ObjectId) -> Handle {
        self.identities.handle_or_mint(id, self.heap)
    }

    fn symbol(&self, text: &Text) -> Result<Symbol, String> {
        let sequence = symbol_sequence(text).ok_or_else(|| format!("{text:?} is no text"))?;
        Ok(self.heap.late_symbol(sequence))
    }

    /// As symbol, for what is mostly there already.
    fn name(&self, text: &Text) -> Result<Symbol, String> {
        match known_symbol(self.heap, text) {
            Some(symbol) => Ok(symbol),
            None => self.symbol(text),
        }
    }

    /// What stands in a slot, an item or an entry.
    fn value(&self, datum: &Datum) -> Result<Value, String> {
        match self.field(datum)? {
            value if value.is_absent() => Err("it holds nothing where a value must be".into()),
            value => Ok(value),
        }
    }

    /// What stands in a field of a record, some of which may be empty.
    fn field(&self, datum: &Datum) -> Result<Value, String> {
        Ok(match datum {
            Datum::Absent => Value::ABSENT,
            Datum::Nil => Value::NIL,
            Datum::Boolean(truth) => Value::boolean(*truth),
            Datum::Number(number) => Value::number(*number),
            Datum::Object(id) => Value::object(self.handle(*id)),
            Datum::Text(text) => Value::object(self.symbol(text)?),
            Datum::Bytes(_) | Datum::Record(_) => return Err("it holds a value of a form that no value has".into()),
        })
    }

    fn values<C: FromIterator<Value>>(&self, data: &[Datum]) -> Result<C, String> {
        data.iter().map(|datum| self.value(datum)).collect()
    }

    fn data(&self, flags: Flags, body: &Body) -> Result<Data, String> {
        let kind = flags.kind;
        let mismatch = || format!("its content is not that of a {kind:?}");
        Ok(match (kind, body) {
            (Kind::List, Body::Elements(Run::Items(items)) | Body::Data(Datum::Record(items))) => {
                Data::List(self.values(items)?, 0)
            }
            (Kind::Map, Body::Map(entries)) => self.map(entries.iter().map(|(key, value)| (key, value)))?,
            (Kind::Map, Body::Data(Datum::Record(fields))) if fields.len().is_multiple_of(2) => {
                self.map(fields.chunks_exact(2).map(|pair| (&pair[0], &pair[1])))?
            }
            (Kind::Sequence, Body::Elements(Run::Units { width, bytes })) => {
                sequence(flags, *width, bytes).ok_or_else(mismatch)?
            }
            (Kind::Sequence, Body::Data(Datum::Bytes(bytes))) => match bytes.split_first() {
                Some((width, bytes)) => sequence(flags, *width, bytes).ok_or_else(mismatch)?,
                None => return Err(mismatch()),
            },
            (_, Body::Nothing) => Data::None,
            (Kind::Number, Body::Data(Datum::Number(number))) => Data::Number(*number),
            (Kind::Primitive, Body::Data(Datum::Text(name))) => {
                Data::Primitive(self.language.primitive_index(&name.to_string()))
            }
            (Kind::WeakLink, Body::Data(target)) => Data::Weak(self.value(target)?),
            (_, Body::Data(Datum::Record(fields))) => match &**fields {
                [Datum::Bytes(name), values @ ..] => {
                    let values: Vec<Value> = self.values(values)?;
                    self.language.restore(&String::from_utf8_lossy(name), &values)?
                }
                fields => Data::Record(fields.iter().map(|field| self.field(field)).collect::<Result<_, String>>()?),
            },
            _ => return Err(mismatch()),
        })
    }

    fn map<'d>(&self, entries: impl Iterator<Item = (&'d Datum, &'d Datum)>) -> Result<Data, String> {
        let entries = entries.map(|(key, value)| match key {
            Datum::Text(key) => Ok((self.symbol(key)?, self.value(value)?)),
            _ => Err(format!("{key:?} is no key")),
        });
        Ok(Data::Map(Box::new(entries.collect::<Result<_, String>>()?)))
    }
}

/// Up to here every name is compared with every other.
const COMPARED_MAX: usize = 8;

fn has_twins(slots: &[(Symbol, Value)]) -> bool {
    if slots.len() > COMPARED_MAX {
        let names: FxHashSet<Symbol> = slots.iter().map(|(name, _)| *name).collect();
        return names.len() < slots.len();
    }
    slots.iter().enumerate().any(|(at, (name, _))| slots[..at].iter().any(|(other, _)| other == name))
}

/// None if the units are of another size than the items. Nobody says the size of none.
fn sequence(flags: Flags, width: u8, bytes: &[u8]) -> Option<Data> {
    if usize::from(width) != flags.item_type.size() && !bytes.is_empty() {
        return None;
    }
    Some(Data::Sequence(Box::new(Sequence::from_parts(flags.item_type, flags.encoding, bytes))))
}
