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
    let mut values = vm.heap.list(list).unwrap_or_default().to_vec();
    charge_for(vm, values.len())?;
    let are_numbers = values.iter().all(|value| value.as_number().is_some());
    let run = if are_numbers { Run::Numbers } else { Run::Values };
    sort_values(vm, &mut values, run, &mut Vec::new())?;
    vm.heap.list_edit(list, |items| items.copy_from_slice(&values));
    Ok(args.target)
}

/// What is sorted at one go; longer lists are merged from such runs.
#[derive(Clone, Copy)]
enum Run {
    /// Plain numbers. The standard library sorts only these: it may panic where an order contradicts itself, as that of
    /// other values may, and it knows no fuel.
    Numbers,
    /// Anything, by insertion.
    Values,
}

impl Run {
    fn items(self) -> usize {
        match self {
            Run::Numbers => 1 << 17,
            Run::Values => 16,
        }
    }

    fn sort(self, vm: &mut Vm, values: &mut [Value]) -> Result<(), Signal> {
        match self {
            Run::Numbers => {
                let number = |value: &Value| value.as_number().unwrap_or_default();
                values.sort_by(|left, right| number_order(number(left), number(right)));
                vm.check_interrupt()
            }
            Run::Values => insert_in_order(vm, values),
        }
    }
}

/// The order of numbers in a sorted list: nan, which compares with nothing, comes last.
fn number_order(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
}

/// The order of two values in a sorted list.
fn order(vm: &mut Vm, left: Value, right: Value) -> Result<Ordering, Signal> {
    match (vm.number_of(left), vm.number_of(right)) {
        (Some(left), Some(right)) => Ok(number_order(left, right)),
        _ => vm.compare(left, right),
    }
}

fn insert_in_order(vm: &mut Vm, values: &mut [Value]) -> Result<(), Signal> {
    for end in 1..values.len() {
        let mut at = end;
        while at > 0 && order(vm, values[at - 1], values[at])?.is_gt() {
            values.swap(at - 1, at);
            at -= 1;
        }
    }
    Ok(())
}

/// A stable merge sort by the built-in order. It recurses no deeper than the length has bits, and finishes one half, whose
/// items are at hand, before it looks at the other.
fn sort_values(vm: &mut Vm, values: &mut [Value], run: Run, spare: &mut Vec<Value>) -> Result<(), Signal> {
    if values.len() <= run.items() {
        return run.sort(vm, values);
    }
    let middle = values.len() / 2;
    sort_values(vm, &mut values[..middle], run, spare)?;
    sort_values(vm, &mut values[middle..], run, spare)?;
    if order(vm, values[middle - 1], values[middle])?.is_gt() {
        merge(vm, values, middle, spare)?;
    }
    Ok(())
}

/// Merged items between two looks whether to stop.
const LOOK_ITEMS: usize = 1 << 15;

/// Merges what is in order before the middle with what is from there on.
fn merge(vm: &mut Vm, values: &mut [Value], middle: usize, spare: &mut Vec<Value>) -> Result<(), Signal> {
    spare.clear();
    spare.extend_from_slice(&values[..middle]);
    let (mut left, mut right) = (0, middle);
    while left < middle && right < values.len() {
        let to = left + right - middle;
        if to.is_multiple_of(LOOK_ITEMS) {
            vm.check_interrupt()?;
        }
        if order(vm, spare[left], values[right])?.is_le() {
            values[to] = spare[left];
            left += 1;
        } else {
            values[to] = values[right];
            right += 1;
        }
    }
    let to = left + right - middle;
    values[to..to + middle - left].copy_from_slice(&spare[left..]);
    Ok(())
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
/// How many values that is.
pub(crate) const SORT_BY_HELD: usize = 7;

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
    // What the block was called with is still there.
    let base = vm.top().base as usize;
    vm.stack.values.truncate(base + SORT_BY_HELD);
    if !answer.is_absent() {
        // The block says whether the left one comes first; ties keep their order.
        take(vm, answer.is_true());
    }
    loop {
        let (source, output) = (vm.state(SOURCE), vm.state(OUTPUT));
        let (source, output) = (vm.handle_of(source), vm.handle_of(output));
        let count = vm.heap.list(source).unwrap_or_default().len();
        let [width, start, left, right] = [WIDTH, START, LEFT, RIGHT].map(|field| index_at(vm, field));
        if width >= count || width == 0 {
            return finish(vm, source);
        }
        let (left_end, right_end) =
            (start.saturating_add(width).min(count), start.saturating_add(2 * width).min(count));
        let items = vm.heap.list(source).unwrap_or_default();
        let pair = [left, right].map(|index| items.get(index).copied().unwrap_or(Value::NIL));
        if left < left_end && right < right_end {
            let block = vm.state(BLOCK);
            let locals = vm.top().locals;
            return vm.activate_with_values(vm.handle_of(block), locals, &pair, locals);
        }
        let rest: Vec<Value> = {
            let items = vm.heap.list(source).unwrap_or_default();
            items[left.min(left_end)..left_end].iter().chain(&items[right.min(right_end)..right_end]).copied().collect()
        };
        vm.heap.list_extend(output, &rest);
        if right_end < count && start < right_end {
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
    let item = vm.heap.list(vm.handle_of(source)).and_then(|items| items.get(index)).copied().unwrap_or(Value::NIL);
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
