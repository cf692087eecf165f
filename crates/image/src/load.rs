//! From records to the heap: fills hollow objects from the store. What a record holds is not trusted: what cannot be is
//! refused, with the object named.

use crate::capture::Language;
use crate::form::{Flags, symbol_of_text};
use crate::identity::Identities;
use object::change::{BodyOf, DatumOf, ObjectId, RunOf};
use object::sequence::Sequence;
use object::{Data, Handle, Kind, Loaded, Loader, Nest, Symbol, Value};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use store::Found;

/// Where records are.
pub trait Records {
    /// Shows an object as it was last committed; none if there is none of this id. `look` reads no other.
    fn look_at<A>(&self, id: ObjectId, look: impl FnOnce(Found<'_>) -> A) -> Result<Option<A>, String>;
}

pub struct StoreLoader<R, L> {
    pub records: Rc<R>,
    pub identities: Rc<Identities>,
    pub language: L,
}

impl<R: Records, L: Language> Loader for StoreLoader<R, L> {
    fn load(&self, handle: Handle, id: Option<ObjectId>, nest: &mut dyn Nest) -> Result<Loaded, String> {
        let id = id.or_else(|| self.identities.id(handle)).ok_or_else(|| format!("object {handle:?} has no id"))?;
        debug_assert_eq!(self.identities.id(handle), Some(id));
        let mut filling = Filling { nest, identities: &self.identities, language: &self.language };
        let loaded = self.records.look_at(id, |found| match found {
            Found::Stored(resting) => filling.object(resting.flags, &resting.protos, &resting.slots, &resting.body),
            Found::Changed(made) => filling.object(made.flags, &made.protos, &made.slots, &made.body),
        })?;
        let loaded = loaded.ok_or_else(|| format!("object {id} is referred to, but not in the image"))?;
        loaded.map_err(|problem| format!("object {id}: {problem}"))
    }

    fn kind(&self, handle: Handle) -> Option<Kind> {
        let flags = |found: Found<'_>| match found {
            Found::Stored(resting) => resting.flags,
            Found::Changed(made) => made.flags,
        };
        let flags = self.records.look_at(self.identities.id(handle)?, flags).ok()??;
        Flags::from_number(flags).map(|flags| flags.kind)
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
    nest: &'f mut dyn Nest,
    identities: &'f Identities,
    language: &'f dyn Language,
}

/// What texts are in a record: `Text`, or bytes of the image itself.
trait Letters: Ord + AsRef<[u8]> {}

impl<T: Ord + AsRef<[u8]>> Letters for T {}

impl Filling<'_> {
    fn object<T: Letters>(
        &mut self,
        flags: u32,
        protos: &[ObjectId],
        slots: &[(T, DatumOf<T>)],
        body: &BodyOf<T>,
    ) -> Result<Loaded, String> {
        let flags = Flags::from_number(flags).ok_or("its kind is none that exists")?;
        let mut loaded = Loaded { kind: flags.kind, is_activatable: flags.is_activatable, ..Loaded::default() };
        for (name, value) in slots {
            loaded.names.push(self.symbol(name)?);
            loaded.values.push(self.value(value)?);
        }
        if has_twins(&loaded.names) {
            return Err("it has two slots of one name".into());
        }
        loaded.data = self.data(flags, body)?;
        self.language.check(self.nest.heap(), flags.kind, &loaded.data)?;
        loaded.protos.extend(protos.iter().map(|&proto| self.handle(proto)));
        Ok(loaded)
    }

    fn handle(&mut self, id: ObjectId) -> Handle {
        self.identities.handle_or_mint(id, self.nest)
    }

    fn symbol(&mut self, text: &impl Letters) -> Result<Symbol, String> {
        let text = text.as_ref();
        symbol_of_text(self.nest, text).ok_or_else(|| format!("{:?} is no text", String::from_utf8_lossy(text)))
    }

    /// What stands in a slot, an item or an entry.
    fn value<T: Letters>(&mut self, datum: &DatumOf<T>) -> Result<Value, String> {
        match self.field(datum)? {
            value if value.is_absent() => Err("it holds nothing where a value must be".into()),
            value => Ok(value),
        }
    }

    /// What stands in a field of a record, some of which may be empty.
    fn field<T: Letters>(&mut self, datum: &DatumOf<T>) -> Result<Value, String> {
        Ok(match datum {
            DatumOf::Absent => Value::ABSENT,
            DatumOf::Nil => Value::NIL,
            DatumOf::Boolean(truth) => Value::boolean(*truth),
            DatumOf::Number(number) => Value::number(*number),
            DatumOf::Object(id) => Value::object(self.handle(*id)),
            DatumOf::Text(text) => Value::object(self.symbol(text)?),
            DatumOf::Bytes(_) | DatumOf::Record(_) => return Err("it holds a value of a form that no value has".into()),
        })
    }

    fn values<C: FromIterator<Value>, T: Letters>(&mut self, data: &[DatumOf<T>]) -> Result<C, String> {
        data.iter().map(|datum| self.value(datum)).collect()
    }

    fn data<T: Letters>(&mut self, flags: Flags, body: &BodyOf<T>) -> Result<Data, String> {
        let kind = flags.kind;
        let mismatch = || format!("its content is not that of a {kind:?}");
        Ok(match (kind, body) {
            (Kind::List, BodyOf::Elements(RunOf::Items(items)) | BodyOf::Data(DatumOf::Record(items))) => {
                Data::List(self.values(items)?, 0)
            }
            (Kind::Map, BodyOf::Map(entries)) => self.map(entries.iter().map(|(key, value)| (key, value)))?,
            (Kind::Map, BodyOf::Data(DatumOf::Record(fields))) if fields.len().is_multiple_of(2) => {
                self.map(fields.chunks_exact(2).map(|pair| (&pair[0], &pair[1])))?
            }
            (Kind::Sequence, BodyOf::Elements(RunOf::Units { width, bytes })) => {
                sequence(flags, *width, bytes).ok_or_else(mismatch)?
            }
            (Kind::Sequence, BodyOf::Data(DatumOf::Bytes(bytes))) => match bytes.split_first() {
                Some((width, bytes)) => sequence(flags, *width, bytes).ok_or_else(mismatch)?,
                None => return Err(mismatch()),
            },
            (_, BodyOf::Nothing) => Data::None,
            (Kind::Number, BodyOf::Data(DatumOf::Number(number))) => Data::Number(*number),
            (Kind::Counter, BodyOf::Counters(counters)) => {
                Data::Number(counters.iter().map(|(_, count)| *count as f64).sum())
            }
            (Kind::Primitive, BodyOf::Data(DatumOf::Text(name))) => {
                Data::Primitive(self.language.primitive_index(&String::from_utf8_lossy(name.as_ref())))
            }
            (Kind::WeakLink, BodyOf::Data(target)) => Data::Weak(self.value(target)?),
            (_, BodyOf::Data(DatumOf::Record(fields))) => match &**fields {
                [DatumOf::Bytes(name), values @ ..] => {
                    let values: Vec<Value> = self.values(values)?;
                    self.language.restore(&String::from_utf8_lossy(name), &values)?
                }
                fields => Data::Record(fields.iter().map(|field| self.field(field)).collect::<Result<_, String>>()?),
            },
            _ => return Err(mismatch()),
        })
    }

    fn map<'d, T: Letters + 'd>(
        &mut self,
        entries: impl Iterator<Item = (&'d DatumOf<T>, &'d DatumOf<T>)>,
    ) -> Result<Data, String> {
        let entries = entries.map(|(key, value)| match key {
            DatumOf::Text(key) => Ok((self.symbol(key)?, self.value(value)?)),
            _ => Err("a key of it is no text".into()),
        });
        Ok(Data::Map(Box::new(entries.collect::<Result<_, String>>()?)))
    }
}

/// Up to here every name is compared with every other.
const COMPARED_MAX: usize = 8;

fn has_twins(names: &[Symbol]) -> bool {
    if names.len() > COMPARED_MAX {
        let different: FxHashSet<Symbol> = names.iter().copied().collect();
        return different.len() < names.len();
    }
    names.iter().enumerate().any(|(at, name)| names[..at].contains(name))
}

/// None if the units are of another size than the items. Nobody says the size of none.
fn sequence(flags: Flags, width: u8, bytes: &[u8]) -> Option<Data> {
    if usize::from(width) != flags.item_type.size() && !bytes.is_empty() {
        return None;
    }
    Some(Data::Sequence(Box::new(Sequence::from_parts(flags.item_type, flags.encoding, bytes))))
}
