//! Quick forms: what the hottest primitives do in the usual case, with nothing but the heap at hand. Compiled code calls
//! them without leaving its loop. Whatever is unusual (another kind, a bad index, work that costs fuel) is declined,
//! and the primitive itself is called: it alone knows the errors.

use crate::machine::evaluate::is_long_way;
use crate::names::Names;
use crate::protos::Protos;
use object::number_text::with_number_text;
use object::{Data, Heap, Kind, Value, flag};

/// What a quick form may use.
pub(crate) struct Bench<'v> {
    pub heap: &'v mut Heap,
    pub names: &'v Names,
    pub protos: &'v Protos,
}

/// Receiver and arguments to an answer, or none: then nothing was done.
pub(crate) type Quick = fn(&mut Bench, Value, &[Value]) -> Option<Value>;

/// Work on this many bytes costs no fuel.
const FREE_BYTES: usize = 63;

/// An object without data of its own, and without an `init` but Object's.
pub(super) fn clone(bench: &mut Bench, target: Value, _: &[Value]) -> Option<Value> {
    let proto = target.as_handle()?;
    let object = bench.heap.object(proto);
    if object.kind() != Kind::Object || object.has(flag::ACTIVATABLE) || !matches!(object.data(), Data::None) {
        return None;
    }
    let (init, steps) = bench.heap.find_counted(proto, bench.names.init);
    (init?.holder == bench.protos.object && !is_long_way(steps))
        .then(|| Value::object(bench.heap.clone_of(proto, Kind::Object, Data::None)))
}

pub(super) fn list_append(bench: &mut Bench, target: Value, arguments: &[Value]) -> Option<Value> {
    let (list, &[value]) = (target.as_handle()?, arguments) else { return None };
    bench.heap.list(list)?;
    bench.heap.list_push(list, value);
    Some(target)
}

pub(super) fn list_at(bench: &mut Bench, target: Value, arguments: &[Value]) -> Option<Value> {
    let index = arguments.first()?.as_number()?;
    let items = bench.heap.list(target.as_handle()?)?;
    if index >= 0.0 { items.get(index as usize).copied() } else { None }
}

pub(super) fn list_at_put(bench: &mut Bench, target: Value, arguments: &[Value]) -> Option<Value> {
    let (list, &[index, value]) = (target.as_handle()?, arguments) else { return None };
    let (index, count) = (index.as_number()?, bench.heap.list(list)?.len());
    if !(0.0..count as f64).contains(&index) {
        return None;
    }
    bench.heap.list_set(list, index as usize, value);
    Some(target)
}

pub(super) fn list_size(bench: &mut Bench, target: Value, _: &[Value]) -> Option<Value> {
    Some(Value::number(bench.heap.list(target.as_handle()?)?.len() as f64))
}

/// A symbol that is there; a missing one may have a default to evaluate.
pub(super) fn map_at(bench: &mut Bench, target: Value, arguments: &[Value]) -> Option<Value> {
    let key = arguments.first()?.as_handle()?;
    bench.heap.map(target.as_handle()?)?.get(&key).copied()
}

pub(super) fn map_at_put(bench: &mut Bench, target: Value, arguments: &[Value]) -> Option<Value> {
    let (map, &[key, value]) = (target.as_handle()?, arguments) else { return None };
    let key = key.as_handle()?;
    if !bench.heap.object(key).has(flag::SYMBOL) {
        return None;
    }
    bench.heap.map(map)?;
    bench.heap.map_put(map, key, value);
    Some(target)
}

pub(super) fn sequence_size(bench: &mut Bench, target: Value, _: &[Value]) -> Option<Value> {
    Some(Value::number(bench.heap.sequence(target.as_handle()?)?.len() as f64))
}

pub(super) fn append_seq(bench: &mut Bench, target: Value, arguments: &[Value]) -> Option<Value> {
    let (sequence, &[more]) = (target.as_handle()?, arguments) else { return None };
    if !bench.heap.append_short(sequence, more.as_handle()?, FREE_BYTES) {
        return None;
    }
    Some(target)
}

/// `..` of short texts, or of one and a number.
pub(super) fn join(bench: &mut Bench, target: Value, arguments: &[Value]) -> Option<Value> {
    let left = bench.heap.sequence(target.as_handle()?)?;
    let &[right] = arguments else { return None };
    let whole = match (right.as_number(), right.as_handle()) {
        (Some(number), _) if left.size_in_bytes() <= FREE_BYTES => {
            let mut whole = left.clone();
            with_number_text(number, |text| whole.push_bytes(text.as_bytes()));
            whole
        }
        (None, Some(right)) => {
            let right = bench.heap.sequence(right)?;
            if left.size_in_bytes() + right.size_in_bytes() > FREE_BYTES {
                return None;
            }
            left.clone_append_seq(right)
        }
        _ => return None,
    };
    Some(Value::object(bench.heap.intern_sequence(whole)))
}
