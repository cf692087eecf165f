//! Sequences as vectors of numbers: arithmetic with numbers and other vectors, functions of every item, sums.

use super::super::{ALL, Args, NONE, ONE, Row};
use super::{change, change_with, changed, data, mutable, other, own, pay, raise, read, read_with, size_of, unwrap};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::sequence::{Encoding, Operand, Operator, Sequence, SequenceError, UnaryFunction};
use object::{Handle, Value};

pub const TABLE: &[Row] = &[
    ("+=", ALL, add_equals),
    ("-=", ONE, |vm, args| apply(vm, args, Operator::Subtract)),
    ("*=", ONE, |vm, args| apply(vm, args, Operator::Multiply)),
    ("/=", ONE, |vm, args| apply(vm, args, Operator::Divide)),
    ("**=", ONE, |vm, args| apply(vm, args, Operator::Power)),
    ("+", ONE, |vm, args| applied(vm, args, Operator::Add)),
    ("-", ONE, |vm, args| applied(vm, args, Operator::Subtract)),
    ("*", ONE, |vm, args| applied(vm, args, Operator::Multiply)),
    ("/", ONE, |vm, args| applied(vm, args, Operator::Divide)),
    ("**", ONE, |vm, args| applied(vm, args, Operator::Power)),
    ("dotProduct", ONE, |vm, args| {
        other(vm, &args, 0)?;
        mutable(vm, &args)?;
        read_with(vm, &args, Sequence::dot_product).map(Value::number)
    }),
    ("distanceTo", ONE, |vm, args| read_with(vm, &args, Sequence::distance_to).map(Value::number)),
    ("sum", NONE, |vm, args| read(vm, &args, Sequence::sum).map(Value::number)),
    ("product", NONE, |vm, args| read(vm, &args, Sequence::product).map(Value::number)),
    ("min", NONE, |vm, args| read(vm, &args, Sequence::min).map(Value::number)),
    ("max", NONE, |vm, args| read(vm, &args, Sequence::max).map(Value::number)),
    ("mean", NONE, |vm, args| read(vm, &args, Sequence::mean).map(Value::number)),
    ("meanSquare", NONE, |vm, args| read(vm, &args, Sequence::mean_square).map(Value::number)),
    ("Min", ONE, |vm, args| paired(vm, args, Sequence::minimum_with)),
    ("Max", ONE, |vm, args| paired(vm, args, Sequence::maximum_with)),
    ("logicalOr", ONE, |vm, args| paired(vm, args, Sequence::logical_or)),
    ("logicalAnd", ONE, |vm, args| paired(vm, args, Sequence::logical_and)),
    ("negate", NONE, |vm, args| changed(vm, &args, Sequence::negate)),
    ("square", NONE, |vm, args| each(vm, args, Sequence::square)),
    ("normalize", NONE, |vm, args| each(vm, args, Sequence::normalize)),
    ("rangeFill", NONE, |vm, args| each(vm, args, Sequence::range_fill)),
    ("setItemsToDouble", ONE, |vm, args| {
        mutable(vm, &args)?;
        let number = args.number(vm, 0)?;
        each(vm, args, |own| own.set_items_to(number))
    }),
    ("setItemsToLong", ONE, |vm, args| {
        mutable(vm, &args)?;
        let number = args.integer(vm, 0)? as f64;
        each(vm, args, |own| own.set_items_to(number))
    }),
    ("sin", NONE, |vm, args| function(vm, args, UnaryFunction::Sin)),
    ("cos", NONE, |vm, args| function(vm, args, UnaryFunction::Cos)),
    ("tan", NONE, |vm, args| function(vm, args, UnaryFunction::Tan)),
    ("asin", NONE, |vm, args| function(vm, args, UnaryFunction::Asin)),
    ("acos", NONE, |vm, args| function(vm, args, UnaryFunction::Acos)),
    ("atan", NONE, |vm, args| function(vm, args, UnaryFunction::Atan)),
    ("sinh", NONE, |vm, args| function(vm, args, UnaryFunction::Sinh)),
    ("cosh", NONE, |vm, args| function(vm, args, UnaryFunction::Cosh)),
    ("tanh", NONE, |vm, args| function(vm, args, UnaryFunction::Tanh)),
    ("exp", NONE, |vm, args| function(vm, args, UnaryFunction::Exp)),
    ("log", NONE, |vm, args| function(vm, args, UnaryFunction::Log)),
    ("log10", NONE, |vm, args| function(vm, args, UnaryFunction::Log10)),
    ("sqrt", NONE, |vm, args| function(vm, args, UnaryFunction::Sqrt)),
    ("ceil", NONE, |vm, args| function(vm, args, UnaryFunction::Ceil)),
    ("floor", NONE, |vm, args| function(vm, args, UnaryFunction::Floor)),
    ("abs", NONE, |vm, args| function(vm, args, UnaryFunction::Abs)),
];

/// The right side of an operator.
enum Right {
    Number(f64),
    Sequence(Handle),
}

fn right(vm: &mut Vm, args: &Args) -> Result<Right, Signal> {
    let value = args.value(vm, 0);
    match (vm.number_of(value), vm.sequence_of(value), value.as_handle()) {
        (Some(number), _, _) => Ok(Right::Number(number)),
        (None, Some(_), Some(handle)) => Ok(Right::Sequence(handle)),
        _ => Err(args.wrong(vm, 0, "Sequence or Number")),
    }
}

/// The receiver, mutable and made of numbers.
fn numeric(vm: &mut Vm, args: &Args) -> Result<Handle, Signal> {
    let handle = mutable(vm, args)?;
    match data(vm, handle).encoding() {
        Encoding::Number => Ok(handle),
        _ => Err(raise(vm, SequenceError::NotNumberEncoding)),
    }
}

fn apply(vm: &mut Vm, args: Args, operator: Operator) -> Outcome {
    let handle = numeric(vm, &args)?;
    let right = right(vm, &args)?;
    pay(vm, size_of(vm, handle))?;
    let result = match right {
        Right::Number(number) => vm.heap.sequence_edit(handle, |own| own.apply(operator, Operand::Number(number))),
        Right::Sequence(other) => {
            vm.heap.sequence_edit_with(handle, other, |own, other| own.apply(operator, Operand::Sequence(other)))
        }
    };
    unwrap(vm, result.unwrap_or(Ok(())))?;
    Ok(args.target)
}

/// The same on a copy, which is mutable whatever the receiver is.
fn applied(vm: &mut Vm, args: Args, operator: Operator) -> Outcome {
    let bytes = own(vm, &args)?.size_in_bytes();
    vm.reserve(bytes)?;
    pay(vm, bytes)?;
    if own(vm, &args)?.encoding() != Encoding::Number {
        return Err(raise(vm, SequenceError::NotNumberEncoding));
    }
    let result = match right(vm, &args)? {
        Right::Number(number) => own(vm, &args)?.applied(operator, Operand::Number(number)),
        Right::Sequence(other) => {
            let handle = super::receiver(vm, &args)?;
            data(vm, handle).applied(operator, Operand::Sequence(data(vm, other)))
        }
    };
    let result = unwrap(vm, result)?;
    Ok(vm.buffer(result))
}

/// +=(vector), or +=(vector, offset, xScale, yScale)
fn add_equals(vm: &mut Vm, args: Args) -> Outcome {
    if args.count < 2 {
        return apply(vm, args, Operator::Add);
    }
    numeric(vm, &args)?;
    let (offset, x_scale, y_scale) = (args.integer(vm, 1)?, args.number(vm, 2)?, args.number(vm, 3)?);
    change_with(vm, &args, |own, other| own.add_scaled(other, offset, x_scale, y_scale))?;
    Ok(args.target)
}

fn each(vm: &mut Vm, args: Args, edit: impl FnOnce(&mut Sequence)) -> Outcome {
    change(vm, &args, edit)?;
    Ok(args.target)
}

fn function(vm: &mut Vm, args: Args, function: UnaryFunction) -> Outcome {
    let items = own(vm, &args)?.len();
    vm.charge(items / 4)?;
    each(vm, args, |own| own.apply_function(function))
}

fn paired(vm: &mut Vm, args: Args, edit: fn(&mut Sequence, &Sequence)) -> Outcome {
    mutable(vm, &args)?;
    change_with(vm, &args, edit)?;
    Ok(args.target)
}
