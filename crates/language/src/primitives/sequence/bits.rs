//! Bits, bytes and C structures in a sequence.

use super::super::{ALL, Args, NONE, ONE, Row, TWO};
use super::{change, change_with, mutable, number, own, read, unwrap};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::sequence::{BinaryInteger, ItemType, PackValue, Sequence};
use object::{Data, Kind, Value};

pub const TABLE: &[Row] = &[
    ("bitAt", ONE, |vm, args| {
        let index = args.integer(vm, 0)?;
        let bit = own(vm, &args)?.bit_at(usize::try_from(index).unwrap_or(usize::MAX));
        Ok(number(bit.into()))
    }),
    ("byteAt", ONE, |vm, args| {
        let index = args.integer(vm, 0)?;
        let byte = own(vm, &args)?.byte_at(usize::try_from(index).unwrap_or(usize::MAX));
        Ok(number(byte.into()))
    }),
    ("bitCount", NONE, |vm, args| read(vm, &args, Sequence::bit_count).map(number)),
    ("setAllBitsTo", ONE, |vm, args| {
        let bit = args.number(vm, 0)? != 0.0;
        change(vm, &args, |own| own.set_all_bits_to(bit))?;
        Ok(args.target)
    }),
    ("bitwiseOr", ONE, |vm, args| combined(vm, args, Sequence::bitwise_or)),
    ("bitwiseAnd", ONE, |vm, args| combined(vm, args, Sequence::bitwise_and)),
    ("bitwiseXor", ONE, |vm, args| combined(vm, args, Sequence::bitwise_xor)),
    ("bitwiseNot", NONE, |vm, args| {
        change(vm, &args, Sequence::bitwise_not)?;
        Ok(args.target)
    }),
    ("asBinaryUnsignedInteger", NONE, |vm, args| binary_integer(vm, args, BinaryInteger::Unsigned)),
    ("asBinarySignedInteger", NONE, |vm, args| binary_integer(vm, args, BinaryInteger::Signed)),
    ("asBinaryNumber", ONE, |vm, args| {
        let count = args.optional_number(vm, 0)?.map_or(8, |count| count.max(0.0) as usize);
        let result = own(vm, &args)?.as_binary_number(count);
        unwrap(vm, result).map(Value::number)
    }),
    ("pack", ALL, pack),
    ("unpack", TWO, unpack),
    ("asStruct", ONE, as_struct),
    ("withStruct", ONE, with_struct),
];

fn combined(vm: &mut Vm, args: Args, combine: fn(&mut Sequence, &Sequence)) -> Outcome {
    mutable(vm, &args)?;
    change_with(vm, &args, combine)?;
    Ok(args.target)
}

fn binary_integer(vm: &mut Vm, args: Args, kind: BinaryInteger) -> Outcome {
    let result = own(vm, &args)?.as_binary_integer(kind);
    unwrap(vm, result).map(Value::number)
}

/// pack(format, value, …)
fn pack(vm: &mut Vm, args: Args) -> Outcome {
    let format = args.text(vm, 0)?;
    let mut values = Vec::with_capacity(args.count);
    for index in 1..args.count {
        let value = args.value(vm, index);
        values.push(match (vm.number_of(value), vm.sequence_of(value)) {
            (Some(number), _) => PackValue::Number(number),
            (None, Some(text)) => PackValue::Text(text.clone()),
            (None, None) => return Err(args.wrong(vm, index, "Number")),
        });
    }
    vm.reserve(packed_bytes(&format))?;
    let packed = unwrap(vm, Sequence::pack(&format, &values))?;
    Ok(vm.buffer(packed))
}

/// At least as many bytes as a format asks for: eight for each code, times the counts before them.
fn packed_bytes(format: &str) -> usize {
    let (mut total, mut count) = (0usize, 0usize);
    for character in format.chars() {
        match character.to_digit(10) {
            Some(digit) => count = count.saturating_mul(10).saturating_add(digit as usize),
            None => total = total.saturating_add(std::mem::take(&mut count).max(1).saturating_mul(8)),
        }
    }
    total.min(object::sequence::SIZE_LIMIT_BYTES)
}

/// unpack(format) or unpack(start, format)
fn unpack(vm: &mut Vm, args: Args) -> Outcome {
    let (start, format) = match args.count {
        0 | 1 => (0, args.text(vm, 0)?),
        _ => (args.integer(vm, 0)?.max(0) as usize, args.text(vm, 1)?),
    };
    let bytes = own(vm, &args)?.size_in_bytes();
    vm.reserve(bytes.saturating_mul(8))?;
    let result = read(vm, &args, |own| own.unpack(start, &format))?;
    let values = unwrap(vm, result)?;
    let values: Vec<Value> = values
        .into_iter()
        .map(|value| match value {
            PackValue::Number(number) => Value::number(number),
            PackValue::Text(text) => vm.buffer(text),
        })
        .collect();
    Ok(vm.list(values))
}

/// The types of a structure's members with what the list gives for each: a name or a value.
fn members(vm: &mut Vm, args: &Args) -> Result<Vec<(ItemType, Value)>, Signal> {
    let list = args.of_kind(vm, 0, Kind::List)?;
    let values = vm.heap.list(list).unwrap_or_default().to_vec();
    if !values.len().is_multiple_of(2) {
        return Err(vm.raise("members list must be even number"));
    }
    vm.charge(values.len())?;
    let mut members = Vec::with_capacity(values.len() / 2);
    for pair in values.chunks_exact(2) {
        let Some(name) = vm.text_of(pair[0]) else { return Err(vm.raise("memberTypes must be strings")) };
        members.push((unwrap(vm, ItemType::from_name(&name))?, pair[1]));
    }
    Ok(members)
}

fn as_struct(vm: &mut Vm, args: Args) -> Outcome {
    let members = members(vm, &args)?;
    let types: Vec<ItemType> = members.iter().map(|&(item_type, _)| item_type).collect();
    let result = own(vm, &args)?.as_struct(&types);
    let values = unwrap(vm, result)?;
    let object = vm.heap.clone_of(vm.protos.object, Kind::Object, Data::None);
    for ((_, name), number) in members.into_iter().zip(values) {
        let Some(name) = vm.symbol_of(name)? else { return Err(vm.raise("memberNames must be strings")) };
        vm.put_slot(object, name, Value::number(number));
    }
    Ok(Value::object(object))
}

fn with_struct(vm: &mut Vm, args: Args) -> Outcome {
    let members = members(vm, &args)?;
    let mut values = Vec::with_capacity(members.len());
    for (item_type, value) in members {
        match vm.number_of(value) {
            Some(number) => values.push((item_type, number)),
            None => return Err(vm.raise("memberValues must be numbers")),
        }
    }
    Ok(vm.buffer(Sequence::with_struct(&values)))
}
