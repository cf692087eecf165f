//! Sorting lists: natively where the order is the built-in one, as a resumable merge sort where a block decides.

use super::{Args, LAZY, ONE, Row};
use crate::machine::frame::Native;
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::{Kind, Value};
use std::cmp::Ordering;

pub const TABLE: &[Row] = &[("sortInPlace", LAZY, sort_in_place), ("sortInPlaceBy", ONE, begin_sort_by)];

/// Charges for sorting `count` items by comparison.
fn charge_for(vm: &mut Vm, count: usize) -> Result<(), Signal> {
    let levels = usize::BITS - count.leading_zeros();
    vm.charge(count.saturating_mul(levels as usize))
}

fn sort_in_place(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.receiver(vm, Kind::List)?;
    if args.message_count(vm) > 0 {
        return sort_by_message(vm, args);
    }
    let values = vm.heap.list(list).unwrap_or_default().to_vec();
    charge_for(vm, values.len())?;
    let sorted = sorted(vm, values)?;
    vm.heap.list_edit(list, |items| items.copy_from_slice(&sorted));
    Ok(args.target)
}

/// Items that are sorted at one go. Longer lists are merged from such runs, with looks whether to stop in between.
const RUN_ITEMS: usize = 1 << 17;

/// Merged items between two such looks.
const LOOK_ITEMS: usize = 1 << 15;

/// The values in order; equal ones stay as they were. The standard library sorts only numbers that have an order: it may
/// panic where that contradicts itself, as it does where some are nan, and it knows no fuel.
fn sorted(vm: &mut Vm, mut values: Vec<Value>) -> Result<Vec<Value>, Signal> {
    let run_items = if values.iter().all(|value| value.as_number().is_some_and(|number| !number.is_nan())) {
        let number = |value: Value| value.as_number().unwrap_or_default();
        for run in values.chunks_mut(RUN_ITEMS) {
            run.sort_by(|&left, &right| number(left).partial_cmp(&number(right)).unwrap_or(Ordering::Equal));
            vm.check_interrupt()?;
        }
        RUN_ITEMS
    } else {
        1
    };
    merged(vm, values, run_items)
}

/// Merges sorted runs of so many values until there is one.
fn merged(vm: &mut Vm, values: Vec<Value>, run_items: usize) -> Result<Vec<Value>, Signal> {
    let (mut source, mut width) = (values, run_items);
    let mut output = Vec::with_capacity(if width < source.len() { source.len() } else { 0 });
    while width < source.len() {
        output.clear();
        for pair in source.chunks(width * 2) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let (Some(&first), Some(&second)) = (left.first(), right.first()) {
                if output.len() % LOOK_ITEMS == 0 {
                    vm.check_interrupt()?;
                }
                if vm.compare(second, first)?.is_lt() {
                    output.push(second);
                    right = &right[1..];
                } else {
                    output.push(first);
                    left = &left[1..];
                }
            }
            output.extend_from_slice(left);
            output.extend_from_slice(right);
        }
        std::mem::swap(&mut source, &mut output);
        width *= 2;
    }
    Ok(source)
}

/// sortInPlace(message): by what each item answers to the message. Written in Io; see the library.
fn sort_by_message(vm: &mut Vm, args: Args) -> Outcome {
    let name = vm.heap.intern("sortInPlaceByKeyMessage");
    let argument = args.argument(vm, 0)?;
    vm.send_values(args.target, name, &[Value::object(argument)], args.locals)
}

// The state of a merge sort from the bottom up: the run length, where in the source it merges, the two runs' cursors,
// and two lists that take turns as source and destination.
const BLOCK: usize = 0;
const WIDTH: usize = 1;
const START: usize = 2;
const LEFT: usize = 3;
const RIGHT: usize = 4;
const SOURCE: usize = 5;
const OUTPUT: usize = 6;

fn begin_sort_by(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.receiver(vm, Kind::List)?;
    let block = args.of_kind(vm, 0, Kind::Block)?;
    let values = vm.heap.list(list).unwrap_or_default().to_vec();
    charge_for(vm, values.len())?;
    let args = args.reified()?;
    let source = vm.list(values);
    let output = vm.list([]);
    vm.push_native(Native::SortBy, &args);
    let zero = Value::number(0.0);
    vm.stack.values.extend([Value::object(block), Value::number(1.0), zero, zero, Value::number(1.0), source, output]);
    Err(Signal::Entered)
}

fn index_at(vm: &mut Vm, field: usize) -> usize {
    vm.state(field).as_number().unwrap_or(0.0) as usize
}

/// Merges until a comparison is needed, asks the block, and is called again with its answer.
pub fn step_sort_by(vm: &mut Vm, answer: Value) -> Outcome {
    if !answer.is_absent() {
        // The block says whether the left one comes first; ties keep their order.
        take(vm, answer.is_true());
    }
    loop {
        let (source, output) = (vm.state(SOURCE), vm.state(OUTPUT));
        let (source, output) = (vm.handle_of(source), vm.handle_of(output));
        let items = vm.heap.list(source).unwrap_or_default();
        let count = items.len();
        let [width, start, left, right] = [WIDTH, START, LEFT, RIGHT].map(|field| index_at(vm, field));
        if width >= count {
            return finish(vm, source);
        }
        let (left_end, right_end) = ((start + width).min(count), (start + 2 * width).min(count));
        if left < left_end && right < right_end {
            let items = vm.heap.list(source).unwrap_or_default();
            let pair = [items[left], items[right]];
            let block = vm.state(BLOCK);
            let locals = vm.top().locals;
            return vm.activate_with_values(vm.handle_of(block), locals, &pair, locals);
        }
        let rest: Vec<Value> = {
            let items = vm.heap.list(source).unwrap_or_default();
            items[left..left_end].iter().chain(&items[right.min(right_end)..right_end]).copied().collect()
        };
        vm.heap.list_edit(output, |items| items.extend(rest));
        if right_end < count {
            set_run(vm, width, right_end, count);
        } else {
            vm.set_state(SOURCE, Value::object(output));
            vm.set_state(OUTPUT, Value::object(source));
            vm.heap.list_edit(source, |items| items.clear());
            set_run(vm, width * 2, 0, count);
        }
    }
}

fn set_run(vm: &mut Vm, width: usize, start: usize, count: usize) {
    let middle = (start + width).min(count);
    for (field, index) in [(WIDTH, width), (START, start), (LEFT, start), (RIGHT, middle)] {
        vm.set_state(field, Value::number(index as f64));
    }
}

/// Moves the lesser of the two foremost items to the output.
fn take(vm: &mut Vm, left_first: bool) {
    let field = if left_first { LEFT } else { RIGHT };
    let index = index_at(vm, field);
    let (source, output) = (vm.state(SOURCE), vm.state(OUTPUT));
    let item = vm.heap.list(vm.handle_of(source)).map_or(Value::NIL, |items| items[index]);
    vm.heap.list_push(vm.handle_of(output), item);
    vm.set_state(field, Value::number(index as f64 + 1.0));
}

fn finish(vm: &mut Vm, source: object::Handle) -> Outcome {
    let target = vm.top().target;
    let values = vm.heap.list(source).unwrap_or_default().to_vec();
    vm.heap.list_edit(vm.handle_of(target), |items| {
        items.clear();
        items.extend(values);
    });
    Ok(target)
}
