//! What every sequence answers: its size, items and order, and its text in other letter case or as numbers.

use super::super::{Args, LAZY, NONE, ONE, Row, TWO, iterate};
use super::{alike, change, count, data, number, optional_integer, other, own, pay, read, read_with, receiver, unwrap};
use crate::signal::Outcome;
use crate::vm::Vm;
use object::sequence::{Sequence, WHITE_SPACE};
use object::{Value, flag};

pub const TABLE: &[Row] = &[
    ("size", NONE, |vm, args| own(vm, &args).map(|own| number(own.len()))),
    ("sizeInBytes", NONE, |vm, args| own(vm, &args).map(|own| number(own.size_in_bytes()))),
    ("isEmpty", NONE, |vm, args| own(vm, &args).map(|own| Value::boolean(own.is_empty()))),
    ("isZero", NONE, |vm, args| read(vm, &args, Sequence::is_zero).map(Value::boolean)),
    ("isSymbol", NONE, |vm, args| is_symbol(vm, &args).map(Value::boolean)),
    ("isMutable", NONE, |vm, args| is_symbol(vm, &args).map(|is| Value::boolean(!is))),
    ("asSymbol", NONE, as_symbol),
    ("asString", NONE, as_symbol),
    ("asMutable", NONE, as_mutable),
    ("asBuffer", NONE, as_mutable),
    ("at", ONE, at),
    ("foreach", LAZY, iterate::begin_foreach_item),
    ("==", ONE, |vm, args| equal(vm, &args).map(Value::boolean)),
    ("!=", ONE, |vm, args| equal(vm, &args).map(|equal| Value::boolean(!equal))),
    ("<", ONE, |vm, args| ordered(vm, args, Sequence::is_less_than)),
    (">", ONE, |vm, args| ordered(vm, args, Sequence::is_greater_than)),
    ("<=", ONE, |vm, args| ordered(vm, args, Sequence::is_less_than_or_equal_to)),
    (">=", ONE, |vm, args| ordered(vm, args, Sequence::is_greater_than_or_equal_to)),
    ("hash", NONE, |vm, args| read(vm, &args, Sequence::hash_number).map(Value::number)),
    ("isEqualAnyCase", ONE, |vm, args| ordered(vm, args, Sequence::is_equal_any_case)),
    ("isLowercase", NONE, |vm, args| read(vm, &args, Sequence::is_lowercase).map(Value::boolean)),
    ("isUppercase", NONE, |vm, args| read(vm, &args, Sequence::is_uppercase).map(Value::boolean)),
    ("asLowercase", NONE, |vm, args| symbol_of(vm, args, Sequence::as_lowercase)),
    ("asUppercase", NONE, |vm, args| symbol_of(vm, args, Sequence::as_uppercase)),
    ("asCapitalized", NONE, |vm, args| {
        let capitalized = read(vm, &args, Sequence::as_capitalized)?;
        Ok(alike(vm, &args, capitalized))
    }),
    ("lowercase", NONE, |vm, args| change(vm, &args, Sequence::lowercase).map(|()| args.target)),
    ("uppercase", NONE, |vm, args| change(vm, &args, Sequence::uppercase).map(|()| args.target)),
    ("capitalize", NONE, |vm, args| change(vm, &args, Sequence::capitalize).map(|()| args.target)),
    ("escape", NONE, |vm, args| change(vm, &args, Sequence::escape).map(|()| args.target)),
    ("unescape", NONE, |vm, args| change(vm, &args, Sequence::unescape).map(|()| args.target)),
    ("asNumber", NONE, |vm, args| read(vm, &args, Sequence::as_number).map(Value::number)),
    ("fromBase", ONE, |vm, args| {
        let base = args.integer(vm, 0)?;
        let result = read(vm, &args, |own| own.from_base(base))?;
        unwrap(vm, result).map(Value::number)
    }),
    ("toBase", ONE, |vm, args| {
        let base = args.integer(vm, 0)?;
        let result = read(vm, &args, |own| own.to_base(base))?;
        let text = unwrap(vm, result)?;
        Ok(vm.buffer(text))
    }),
    ("asList", NONE, as_list),
    ("whiteSpaceStrings", NONE, |vm, _| {
        let strings: Vec<Value> = WHITE_SPACE.chars().map(|each| vm.symbol(each.encode_utf8(&mut [0; 4]))).collect();
        Ok(vm.list(strings))
    }),
    ("asMessage", ONE, as_message),
    ("print", NONE, |vm, args| print(vm, args, b"")),
    ("linePrint", NONE, |vm, args| print(vm, args, b"\n")),
    ("repeated", ONE, repeated),
    ("alignLeft", TWO, |vm, args| aligned(vm, args, Sequence::align_left)),
    ("alignRight", TWO, |vm, args| aligned(vm, args, Sequence::align_right)),
    ("alignCenter", TWO, |vm, args| aligned(vm, args, Sequence::align_center)),
    ("alignLeftInPlace", TWO, align_left_in_place),
];

fn is_symbol(vm: &mut Vm, args: &Args) -> Result<bool, crate::signal::Signal> {
    let handle = receiver(vm, args)?;
    Ok(vm.heap.object(handle).has(flag::SYMBOL))
}

fn as_symbol(vm: &mut Vm, args: Args) -> Outcome {
    if is_symbol(vm, &args)? {
        return Ok(args.target);
    }
    let copy = read(vm, &args, Sequence::clone)?;
    Ok(vm.immutable(copy))
}

fn as_mutable(vm: &mut Vm, args: Args) -> Outcome {
    let bytes = own(vm, &args)?.size_in_bytes();
    vm.reserve(bytes)?;
    let copy = own(vm, &args)?.clone();
    Ok(vm.buffer(copy))
}

fn symbol_of(vm: &mut Vm, args: Args, make: fn(&Sequence) -> Sequence) -> Outcome {
    let made = read(vm, &args, make)?;
    Ok(vm.immutable(made))
}

#[inline]
fn at(vm: &mut Vm, args: Args) -> Outcome {
    let index = count(vm, &args, 0)?;
    Ok(own(vm, &args)?.at(index).map_or(Value::NIL, Value::number))
}

/// Two symbols are equal if they are one, apart from text against numbers.
fn equal(vm: &mut Vm, args: &Args) -> Result<bool, crate::signal::Signal> {
    let right = args.required(vm, 0)?;
    if args.target == right {
        return Ok(true);
    }
    let handles = (args.target.as_handle(), right.as_handle());
    let (Some(left), Some(right)) = handles else { return Ok(false) };
    let (Some(own), Some(other)) = (vm.heap.sequence(left), vm.heap.sequence(right)) else {
        return vm.compare(args.target, Value::object(right)).map(std::cmp::Ordering::is_eq);
    };
    if own.len() != other.len() {
        return Ok(false);
    }
    let bytes = own.size_in_bytes();
    pay(vm, bytes)?;
    Ok(data(vm, left).equals(data(vm, right)))
}

fn ordered(vm: &mut Vm, args: Args, holds: fn(&Sequence, &Sequence) -> bool) -> Outcome {
    read_with(vm, &args, holds).map(Value::boolean)
}

fn as_list(vm: &mut Vm, args: Args) -> Outcome {
    let sequence = own(vm, &args)?;
    let items = sequence.len();
    if sequence.item_type().is_float() {
        vm.reserve(items * 8)?;
        let numbers: Vec<Value> = own(vm, &args)?.numbers().map(Value::number).collect();
        return Ok(vm.list(numbers));
    }
    // Each is a sequence of its own before it is a symbol.
    vm.reserve(items.saturating_mul(size_of::<Value>() + size_of::<Sequence>()))?;
    vm.charge(items)?;
    let characters = own(vm, &args)?.characters();
    let characters: Vec<Value> = characters.into_iter().map(|each| vm.immutable(each)).collect();
    Ok(vm.list(characters))
}

fn as_message(vm: &mut Vm, args: Args) -> Outcome {
    let label = if args.count > 0 { args.symbol(vm, 0)? } else { vm.heap.intern("[asMessage]") };
    let source = read(vm, &args, Sequence::to_text)?;
    vm.parse_message(&source, label).map(Value::object)
}

fn print(vm: &mut Vm, args: Args, end: &[u8]) -> Outcome {
    let text = read(vm, &args, Sequence::as_utf8)?;
    vm.host.write(text.as_bytes());
    if !end.is_empty() {
        vm.host.write(end);
    }
    Ok(args.target)
}

fn repeated(vm: &mut Vm, args: Args) -> Outcome {
    let times = args.integer(vm, 0)?.max(0) as usize;
    let bytes = own(vm, &args)?.size_in_bytes();
    vm.reserve(bytes.saturating_mul(times))?;
    let result = own(vm, &args)?.repeated(times);
    let sequence = unwrap(vm, result)?;
    Ok(vm.buffer(sequence))
}

/// The width and the padding, which may be missing or nil, with the room for the result asked for.
fn alignment(vm: &mut Vm, args: &Args) -> Result<(i64, Option<Sequence>), crate::signal::Signal> {
    let width = args.integer(vm, 0)?;
    let padding = match args.value(vm, 1).is_nil() {
        true => None,
        false => {
            let padding = other(vm, args, 1)?;
            Some(data(vm, padding).clone())
        }
    };
    let sequence = own(vm, args)?;
    let wider = sequence.item_size().max(padding.as_ref().map_or(1, Sequence::item_size));
    let items = (width.max(0) as usize).max(sequence.len());
    vm.reserve(items.saturating_mul(wider))?;
    Ok((width, padding))
}

type Align = fn(&Sequence, i64, Option<&Sequence>) -> Result<Sequence, object::sequence::SequenceError>;

fn aligned(vm: &mut Vm, args: Args, align: Align) -> Outcome {
    let (width, padding) = alignment(vm, &args)?;
    let result = read(vm, &args, |own| align(own, width, padding.as_ref()))?;
    let sequence = unwrap(vm, result)?;
    Ok(vm.buffer(sequence))
}

fn align_left_in_place(vm: &mut Vm, args: Args) -> Outcome {
    let (width, padding) = alignment(vm, &args)?;
    super::changed(vm, &args, |own| own.align_left_in_place(width, padding.as_ref()))
}

/// An index argument that counts from the end if negative; none if the message has none.
pub(super) fn bounds(vm: &mut Vm, args: &Args) -> Result<(i64, Option<i64>), crate::signal::Signal> {
    Ok((args.integer(vm, 0)?, optional_integer(vm, args, 1)?))
}
