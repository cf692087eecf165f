//! Random writes, small enough to shrink well. Objects, names and places are numbers taken modulo what there is.

use proptest::prelude::*;

#[derive(Clone, Debug)]
pub enum Operation {
    Clone(usize),
    NewList,
    NewMap,
    NewSequence,
    NewRecord,
    NewWeak(usize),
    NewForeign(usize),
    SetSlot(usize, usize, usize),
    /// Enough slots for an owned shape.
    FillSlots(usize),
    RemoveSlot(usize, usize),
    SetProtos(usize, Vec<usize>),
    SetFlag(usize, bool),
    ListPush(usize, usize),
    ListSet(usize, usize, usize),
    ListInsertFirst(usize, usize),
    ListInsert(usize, usize, usize),
    ListRemove(usize, usize),
    /// Enough items for edits to be noted one by one.
    ListFill(usize),
    ListReverse(usize),
    ListClear(usize),
    MapPut(usize, usize, usize),
    MapRemove(usize, usize),
    /// Enough keys for edits to be noted one by one.
    MapFill(usize),
    MapClear(usize),
    Append(usize, u8),
    AppendOther(usize, usize),
    RecordSet(usize, usize, usize),
    RecordPush(usize, usize),
    SetWeak(usize, usize),
    SetNumber(usize, u8),
    ForeignPush(usize, usize),
    Become(usize, usize),
    Drop(usize),
    Collect,
}

pub fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    let at = || 0..64usize;
    let name = || 0..40usize;
    prop_oneof![
        3 => at().prop_map(Clone),
        1 => Just(NewList),
        1 => Just(NewMap),
        1 => Just(NewSequence),
        1 => Just(NewRecord),
        1 => at().prop_map(NewWeak),
        1 => at().prop_map(NewForeign),
        12 => (at(), name(), at()).prop_map(|(a, b, c)| SetSlot(a, b, c)),
        1 => at().prop_map(FillSlots),
        4 => (at(), name()).prop_map(|(a, b)| RemoveSlot(a, b)),
        3 => (at(), prop::collection::vec(at(), 0..4)).prop_map(|(a, b)| SetProtos(a, b)),
        1 => (at(), any::<bool>()).prop_map(|(a, b)| SetFlag(a, b)),
        2 => (at(), at()).prop_map(|(a, b)| ListPush(a, b)),
        1 => (at(), at(), at()).prop_map(|(a, b, c)| ListSet(a, b, c)),
        1 => (at(), at()).prop_map(|(a, b)| ListInsertFirst(a, b)),
        2 => (at(), 0..200usize, at()).prop_map(|(a, b, c)| ListInsert(a, b, c)),
        2 => (at(), 0..200usize).prop_map(|(a, b)| ListRemove(a, b)),
        1 => at().prop_map(ListFill),
        1 => at().prop_map(ListReverse),
        1 => at().prop_map(ListClear),
        2 => (at(), name(), at()).prop_map(|(a, b, c)| MapPut(a, b, c)),
        1 => (at(), name()).prop_map(|(a, b)| MapRemove(a, b)),
        1 => at().prop_map(MapFill),
        1 => at().prop_map(MapClear),
        1 => (at(), any::<u8>()).prop_map(|(a, b)| Append(a, b)),
        1 => (at(), at()).prop_map(|(a, b)| AppendOther(a, b)),
        1 => (at(), at(), at()).prop_map(|(a, b, c)| RecordSet(a, b, c)),
        1 => (at(), at()).prop_map(|(a, b)| RecordPush(a, b)),
        1 => (at(), at()).prop_map(|(a, b)| SetWeak(a, b)),
        1 => (at(), any::<u8>()).prop_map(|(a, b)| SetNumber(a, b)),
        1 => (at(), at()).prop_map(|(a, b)| ForeignPush(a, b)),
        1 => (at(), at()).prop_map(|(a, b)| Become(a, b)),
        2 => at().prop_map(Drop),
        1 => Just(Collect),
    ]
}

pub fn operations(most: usize) -> impl Strategy<Value = Vec<Operation>> {
    prop::collection::vec(operation(), 1..most)
}
