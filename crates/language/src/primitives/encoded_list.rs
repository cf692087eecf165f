//! Lists of numbers, sequences and nil as bytes, and back. Bytes from outside are checked before they are believed.
//!
//! An item is a tag and what belongs to it: 0 nil; 1 a number, as eight bytes; 2 a sequence, as its length in four
//! bytes and its bytes. Numbers are little-endian.

use super::{Args, NONE, ONE, Row};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::sequence::Sequence;
use object::{Kind, Value};

pub const TABLE: &[Row] = &[("asEncodedList", NONE, encode), ("fromEncodedList", ONE, decode)];

const NIL: u8 = 0;
const NUMBER: u8 = 1;
const SEQUENCE: u8 = 2;

fn encode(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.receiver(vm, Kind::List)?;
    let items = vm.heap.list(list).unwrap_or_default().to_vec();
    vm.charge(items.len())?;
    let mut bytes = Vec::new();
    for item in items {
        append(vm, &mut bytes, item)?;
    }
    Ok(vm.buffer(Sequence::from_vec(bytes)))
}

fn append(vm: &mut Vm, bytes: &mut Vec<u8>, item: Value) -> Result<(), Signal> {
    if item.is_nil() {
        bytes.push(NIL);
    } else if let Some(number) = vm.number_of(item) {
        bytes.push(NUMBER);
        bytes.extend(number.to_le_bytes());
    } else if let Some(size) = vm.sequence_of(item).map(|sequence| sequence.as_bytes().len()) {
        let Ok(length) = u32::try_from(size) else { return Err(vm.raise("a Sequence is too long to be encoded")) };
        vm.reserve(size)?;
        bytes.push(SEQUENCE);
        bytes.extend(length.to_le_bytes());
        bytes.extend(vm.sequence_of(item).map(Sequence::as_bytes).unwrap_or_default());
    } else {
        let type_name = vm.type_name(item);
        return Err(vm.raise(format!("'asEncodedList' knows Numbers, Sequences and nil, not a '{type_name}'")));
    }
    Ok(())
}

fn decode(vm: &mut Vm, args: Args) -> Outcome {
    let bytes = args.bytes(vm, 0)?;
    vm.reserve(bytes.len().saturating_mul(size_of::<Value>()))?;
    let mut items = Vec::new();
    let mut rest = &bytes[..];
    while let Some((&tag, behind)) = rest.split_first() {
        match item(vm, tag, behind) {
            Some((value, behind)) => {
                items.push(value);
                rest = behind;
            }
            None => return Err(vm.raise("the bytes are not an encoded List")),
        }
    }
    Ok(vm.list(items))
}

/// The item with this tag, and the bytes behind it.
fn item<'b>(vm: &mut Vm, tag: u8, bytes: &'b [u8]) -> Option<(Value, &'b [u8])> {
    match tag {
        NIL => Some((Value::NIL, bytes)),
        NUMBER => {
            let (number, rest) = bytes.split_first_chunk()?;
            Some((Value::number(f64::from_le_bytes(*number)), rest))
        }
        SEQUENCE => {
            let (length, rest) = bytes.split_first_chunk()?;
            let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            Some((vm.immutable(Sequence::from_bytes(text)), rest))
        }
        _ => None,
    }
}
