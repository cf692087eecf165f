//! Random writes and the ends of transactions. Objects and names are numbers taken modulo what there is.

use proptest::prelude::*;

#[derive(Clone, Debug)]
pub enum Step {
    New(usize, Thing),
    SetSlot(usize, usize, usize),
    RemoveSlot(usize, usize),
    SetProtos(usize, Vec<usize>),
    SetFlag(usize, bool),
    Push(usize, usize),
    Fill(usize),
    Insert(usize, usize, usize),
    SetItem(usize, usize, usize),
    RemoveItem(usize, usize),
    Reverse(usize),
    Put(usize, usize, usize),
    FillMap(usize),
    RemoveKey(usize, usize),
    ClearMap(usize),
    Append(usize, u8),
    Truncate(usize, usize),
    Widen(usize),
    SetField(usize, usize, usize),
    Become(usize, usize),
    Evict(usize),
    Collect,
    Commit,
    RollBack,
    Reopen,
}

#[derive(Clone, Copy, Debug)]
pub enum Thing {
    Object,
    Number,
    List,
    Map,
    Sequence,
    Record,
    Link,
    Primitive,
}

impl Step {
    pub fn is_boundary(&self) -> bool {
        matches!(self, Step::Commit | Step::RollBack | Step::Reopen)
    }
}

fn thing() -> impl Strategy<Value = Thing> {
    use Thing::*;
    prop::sample::select(vec![Object, Object, Number, List, List, Map, Map, Sequence, Record, Link, Primitive])
}

fn step() -> impl Strategy<Value = Step> {
    use Step::*;
    let at = || 0..64usize;
    let name = || 0..12usize;
    prop_oneof![
        8 => (at(), thing()).prop_map(|(a, b)| New(a, b)),
        10 => (at(), name(), at()).prop_map(|(a, b, c)| SetSlot(a, b, c)),
        4 => (at(), name()).prop_map(|(a, b)| RemoveSlot(a, b)),
        2 => (at(), prop::collection::vec(at(), 0..3)).prop_map(|(a, b)| SetProtos(a, b)),
        1 => (at(), any::<bool>()).prop_map(|(a, b)| SetFlag(a, b)),
        3 => (at(), at()).prop_map(|(a, b)| Push(a, b)),
        1 => at().prop_map(Fill),
        2 => (at(), 0..200usize, at()).prop_map(|(a, b, c)| Insert(a, b, c)),
        2 => (at(), 0..200usize, at()).prop_map(|(a, b, c)| SetItem(a, b, c)),
        3 => (at(), 0..200usize).prop_map(|(a, b)| RemoveItem(a, b)),
        1 => at().prop_map(Reverse),
        3 => (at(), name(), at()).prop_map(|(a, b, c)| Put(a, b, c)),
        1 => at().prop_map(FillMap),
        2 => (at(), name()).prop_map(|(a, b)| RemoveKey(a, b)),
        1 => at().prop_map(ClearMap),
        2 => (at(), any::<u8>()).prop_map(|(a, b)| Append(a, b)),
        1 => (at(), 0..8usize).prop_map(|(a, b)| Truncate(a, b)),
        1 => at().prop_map(Widen),
        2 => (at(), 0..3usize, at()).prop_map(|(a, b, c)| SetField(a, b, c)),
        2 => (at(), at()).prop_map(|(a, b)| Become(a, b)),
        5 => at().prop_map(Evict),
        1 => Just(Collect),
        3 => Just(Commit),
        1 => Just(RollBack),
        1 => Just(Reopen),
    ]
}

pub fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..most)
}
