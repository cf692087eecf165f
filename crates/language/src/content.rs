//! What an object of a kind holds. The machine reads fields by their places, so whoever makes objects by other means than
//! the machine, such as out of a file, asks here first. Owns the rule; the layouts are in `message` and `block`.
//!
//! Objects that a field names need not be there yet, so what *they* are is not looked at: whoever follows a reference
//! takes what it finds.

use crate::block::{call, field as block};
use crate::message::field as message;
use object::{Data, Heap, Kind, Value};

/// Whether an object of this kind may hold this; if not, why. Loads nothing.
pub fn check_content(heap: &Heap, kind: Kind, data: &Data) -> Result<(), &'static str> {
    match (kind, data) {
        (Kind::Message, Data::Record(fields)) => check_message(heap, fields),
        (Kind::Block, Data::Record(fields)) => check_block(heap, fields),
        (Kind::Call, Data::Record(fields)) => check_call(fields),
        (Kind::Frame | Kind::Object, Data::Record(fields)) => check_values(fields),
        (Kind::Number | Kind::Counter, Data::Number(_))
        | (Kind::Sequence, Data::Sequence(_))
        | (Kind::List, Data::List(..))
        | (Kind::Map, Data::Map(_))
        | (Kind::Primitive, Data::Primitive(_) | Data::None)
        | (Kind::WeakLink, Data::Weak(_))
        | (Kind::Coroutine | Kind::Object, Data::Foreign(_) | Data::None)
        | (Kind::Frame | Kind::Locals, Data::None) => Ok(()),
        _ => Err("its content is not that of its kind"),
    }
}

type Checked = Result<(), &'static str>;

fn require(is_right: bool, what: &'static str) -> Checked {
    if is_right { Ok(()) } else { Err(what) }
}

fn check_values(fields: &[Value]) -> Checked {
    require(fields.iter().all(|field| !field.is_absent()), "a field holds nothing")
}

fn check_message(heap: &Heap, fields: &[Value]) -> Checked {
    require(fields.len() >= message::ARGUMENTS, "a message has more fields")?;
    require(is_symbol(heap, fields[message::NAME]), "a message's name is no symbol")?;
    require(is_symbol(heap, fields[message::LABEL]), "a message's label is no symbol")?;
    require(fields[message::NEXT].as_handle().is_some(), "what follows a message is no object")?;
    require(fields[message::LINE].is_number() && fields[message::COLUMN].is_number(), "a message has no place")?;
    let mut arguments = fields[message::ARGUMENTS..].iter();
    require(arguments.all(|argument| argument.as_handle().is_some()), "an argument of a message is no object")
}

fn check_block(heap: &Heap, fields: &[Value]) -> Checked {
    require(fields.len() >= block::ARGUMENT_NAMES, "a block has more fields")?;
    require(fields[block::MESSAGE].as_handle().is_some(), "a block's body is no object")?;
    check_values(&fields[block::SCOPE..])?;
    let mut names = fields[block::ARGUMENT_NAMES..].iter();
    require(names.all(|&name| is_symbol(heap, name)), "a block's argument has no symbol for its name")
}

/// Who sent it, and what that stands for, is found when somebody asks.
fn check_call(fields: &[Value]) -> Checked {
    require(fields.len() == call::COUNT, "a call has another number of fields")?;
    require(fields[call::MESSAGE].as_handle().is_some(), "a call's message is no object")?;
    check_values(&fields[call::ACTIVATED..])
}

fn is_symbol(heap: &Heap, value: Value) -> bool {
    value.as_handle().is_some_and(|handle| heap.is_symbol(handle))
}
