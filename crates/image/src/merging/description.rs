//! What somebody found out about a merge, to become objects: as part of the merge's own commit, or, if there is none, on the
//! machine. Both make the same objects of the same description.

use super::pages::Pages;
use language::{Value, Vm};
use object::change::{Datum, ObjectId};

/// Where all of these have their protos: in a prototype of Core, by this name.
pub type Proto = (&'static str, &'static str);

/// Of lists that belong to records, so that they are known as such.
pub const RECORDS: Proto = ("Dream", "Records");

#[derive(Clone, PartialEq, Debug)]
pub enum Description {
    Value(Datum),
    List(Vec<Description>),
    Object { proto: Proto, slots: Vec<(&'static str, Description)> },
}

impl Default for Description {
    fn default() -> Description {
        Description::Value(Datum::Nil)
    }
}

impl Description {
    pub fn text(text: &str) -> Description {
        Description::Value(Datum::text(text))
    }

    pub fn number(number: u64) -> Description {
        Description::Value(Datum::number(number as f64))
    }

    pub fn texts<'t>(texts: impl IntoIterator<Item = &'t String>) -> Description {
        Description::List(texts.into_iter().map(|text| Description::text(text)).collect())
    }

    /// Makes it on a machine, inside of a transaction; `value_of` knows the image's objects.
    pub fn make(&self, vm: &mut Vm, value_of: &dyn Fn(ObjectId) -> Value) -> Value {
        match self {
            Description::Value(Datum::Text(text)) => vm.symbol(&crate::readable_text(text.as_bytes())),
            Description::Value(Datum::Number(number)) => Value::number(*number),
            Description::Value(Datum::Boolean(truth)) => Value::boolean(*truth),
            Description::Value(Datum::Object(object)) => value_of(*object),
            Description::Value(_) => Value::NIL,
            Description::List(items) => {
                let items: Vec<Value> = items.iter().map(|item| item.make(vm, value_of)).collect();
                let proto = proto_in(vm, RECORDS);
                vm.list_of_proto(proto, items)
            }
            Description::Object { proto, slots } => {
                let proto = proto_in(vm, *proto);
                let object = vm.object(proto);
                for (name, value) in slots {
                    let value = value.make(vm, value_of);
                    vm.set_slot(object, name, value);
                }
                object
            }
        }
    }
}

/// Where an image was born without it, what it would be a clone of.
fn proto_in(vm: &mut Vm, (holder, name): Proto) -> Value {
    let found = vm.get_slot(vm.core(), holder).and_then(|holder| vm.get_slot(holder, name));
    found.unwrap_or_else(|| vm.prototype(if (holder, name) == RECORDS { "List" } else { "Object" }))
}

impl Pages<'_> {
    /// Makes it in the commit.
    pub fn describe(&mut self, description: &Description) -> Datum {
        match description {
            Description::Value(value) => value.clone(),
            Description::List(items) => {
                let items: Vec<Datum> = items.iter().map(|item| self.describe(item)).collect();
                Datum::Object(self.list(items))
            }
            Description::Object { proto, slots } => {
                let slots: Vec<(&str, Datum)> =
                    slots.iter().map(|(name, value)| (*name, self.describe(value))).collect();
                let proto = self.proto_in(*proto);
                Datum::Object(self.make(proto, slots))
            }
        }
    }
}
