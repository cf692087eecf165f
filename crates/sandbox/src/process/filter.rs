//! Compiles the table of system calls to a program for the kernel: a balanced search for the call's number, since the kernel
//! runs it for every number when it is installed and for every call that is not simply allowed.

use super::syscalls::{Answer, CHECKED, Check, Checked, GROUPS, HOSTING, SERVING_LAYER, UNCOUNTED, dream};
use system::seccomp::{self, Instruction};

/// Numbers from `first` on, to where the next begins, are treated alike.
#[derive(Clone, Copy)]
struct Range {
    first: u32,
    leaf: Leaf,
}

#[derive(Clone, Copy)]
enum Leaf {
    Answer(u32),
    Checked(&'static Checked),
}

impl Leaf {
    fn is_like(self, other: Leaf) -> bool {
        matches!((self, other), (Leaf::Answer(one), Leaf::Answer(two)) if one == two)
    }
}

/// The filter. Calls in `refused` are not permitted, whatever the table says; `is_counted` where there is no cgroup.
pub fn compile(refused: &[i64], is_counted: bool) -> Vec<Instruction> {
    compile_with(refused, &if is_counted { UNCOUNTED.iter().collect() } else { Vec::new() })
}

/// For who serves a layer inside.
pub fn of_fuse(is_counted: bool) -> Vec<Instruction> {
    let instead: Vec<&'static Checked> = SERVING_LAYER.iter().chain(UNCOUNTED.iter().filter(|_| is_counted)).collect();
    compile_with(&[], &instead)
}

/// For a copy of ours that goes on as it is. What could not be counted it has not, cgroup or none.
pub fn dreaming() -> Vec<Instruction> {
    let refused: Vec<i64> =
        dream::REFUSED.iter().flat_map(|group| group.calls.iter().chain(group.old)).copied().collect();
    compile_with(&refused, &dream::CHECKED.iter().collect::<Vec<_>>())
}

/// `instead` stands in place of what the tables say of the same calls.
fn compile_with(refused: &[i64], instead: &[&'static Checked]) -> Vec<Instruction> {
    let ranges = ranges(refused, instead);
    let mut filter = opening();
    filter.extend(search(&ranges));
    filter
}

/// For the first process of a run whose program is a zygote's child: it only waits and reaps.
pub fn hosting() -> Vec<Instruction> {
    let mut filter = opening();
    for call in HOSTING {
        filter.extend([seccomp::equal(*call as u32, 0, 1), seccomp::answer(seccomp::ALLOW)]);
    }
    filter.push(seccomp::answer(seccomp::NOT_PERMITTED));
    filter
}

/// Looks whether calls are those of this processor, and then at their number.
fn opening() -> Vec<Instruction> {
    vec![
        seccomp::load(seccomp::ARCHITECTURE),
        seccomp::equal(seccomp::NATIVE, 1, 0),
        seccomp::answer(seccomp::KILL),
        seccomp::load(seccomp::NUMBER),
    ]
}

/// Other ways to call the kernel have numbers from here on: nobody who is honest uses them.
const FOREIGN: u32 = 0x4000_0000;

fn ranges(refused: &[i64], instead: &[&'static Checked]) -> Vec<Range> {
    let mut leaves: Vec<(u32, Leaf)> = Vec::new();
    for group in GROUPS {
        let answer = match group.answer {
            Answer::Allow => seccomp::ALLOW,
            Answer::Refuse => seccomp::NOT_PERMITTED,
            Answer::NoSuchCall => seccomp::NO_SUCH_CALL,
            Answer::Nothing => seccomp::DONE,
        };
        let calls = group.calls.iter().chain(group.old);
        leaves.extend(calls.map(|call| (*call as u32, Leaf::Answer(answer))));
    }
    leaves.extend(CHECKED.iter().map(|checked| (checked.call as u32, Leaf::Checked(checked))));
    for checked in instead {
        leaves.retain(|(call, _)| i64::from(*call) != checked.call);
        leaves.push((checked.call as u32, Leaf::Checked(checked)));
    }
    leaves.retain(|(call, _)| !refused.contains(&i64::from(*call)));
    leaves.extend(refused.iter().map(|call| (*call as u32, Leaf::Answer(seccomp::NOT_PERMITTED))));
    leaves.sort_by_key(|(call, _)| *call);
    let unknown = Leaf::Answer(seccomp::NO_SUCH_CALL);
    let mut ranges = vec![Range { first: 0, leaf: unknown }];
    for (call, leaf) in leaves {
        append(&mut ranges, call, leaf);
        append(&mut ranges, call + 1, unknown);
    }
    append(&mut ranges, FOREIGN, Leaf::Answer(seccomp::KILL));
    ranges
}

/// A range that is empty goes, and one that is like the one before it is part of that.
fn append(ranges: &mut Vec<Range>, first: u32, leaf: Leaf) {
    if ranges.last().is_some_and(|last| last.first == first) {
        ranges.pop();
    }
    if !ranges.last().is_some_and(|last| last.leaf.is_like(leaf)) {
        ranges.push(Range { first, leaf });
    }
}

/// So many ranges are searched by one block: all its jumps are short enough for one instruction.
const BLOCK: usize = 64;

/// Halves the ranges until one is left: as deep as their number has bits.
fn search(ranges: &[Range]) -> Vec<Instruction> {
    if ranges.len() <= BLOCK {
        return block(ranges);
    }
    let (lower, upper) = ranges.split_at(ranges.len() / 2);
    let pivot = upper.first().map_or(0, |range| range.first);
    let (below, above) = (search(lower), search(upper));
    let mut code = match u8::try_from(below.len()) {
        Ok(distance) => vec![seccomp::at_least(pivot, distance, 0)],
        Err(_) => vec![seccomp::at_least(pivot, 0, 1), seccomp::skip(below.len() as u32)],
    };
    code.extend(below);
    code.extend(above);
    code
}

/// An instruction of a block, whose jumps lead to places that are not known yet.
enum Item {
    Search { pivot: u32, above: Target, below: Target },
    Ready(Instruction),
}

#[derive(Clone, Copy)]
enum Target {
    Place(usize),
    /// One of the answers at the end of the block, which all its searches share.
    Answer(u32),
}

fn block(ranges: &[Range]) -> Vec<Instruction> {
    let mut items = Vec::new();
    let start = lay(ranges, &mut items);
    let mut answers: Vec<u32> = Vec::new();
    let mut place = |target: Target, length: usize| match target {
        Target::Place(place) => place,
        Target::Answer(answer) => {
            let position = answers.iter().position(|other| *other == answer).unwrap_or_else(|| {
                answers.push(answer);
                answers.len() - 1
            });
            length + position
        }
    };
    let length = items.len();
    let mut code: Vec<Instruction> = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        code.push(match item {
            Item::Ready(instruction) => instruction,
            Item::Search { pivot, above, below } => {
                let distance = |place: usize| u8::try_from(place - index - 1).expect("a block is short");
                seccomp::at_least(pivot, distance(place(above, length)), distance(place(below, length)))
            }
        });
    }
    if let Target::Answer(_) = start {
        place(start, length);
    }
    code.extend(answers.into_iter().map(seccomp::answer));
    code
}

/// Lays out the search of these ranges behind what is there, and says where it begins.
fn lay(ranges: &[Range], items: &mut Vec<Item>) -> Target {
    let (lower, upper) = ranges.split_at(ranges.len() / 2);
    let (Some(pivot), false) = (upper.first(), lower.is_empty()) else {
        return match ranges.first().map(|range| range.leaf) {
            Some(Leaf::Answer(answer)) => Target::Answer(answer),
            Some(Leaf::Checked(checked)) => {
                let place = items.len();
                items.extend(decide(checked).into_iter().map(Item::Ready));
                Target::Place(place)
            }
            None => Target::Answer(seccomp::NO_SUCH_CALL),
        };
    };
    let place = items.len();
    items.push(Item::Search { pivot: pivot.first, above: Target::Place(place), below: Target::Place(place) });
    let (below, above) = (lay(lower, items), lay(upper, items));
    if let Some(item) = items.get_mut(place) {
        *item = Item::Search { pivot: pivot.first, above, below };
    }
    Target::Place(place)
}

fn decide(checked: &Checked) -> Vec<Instruction> {
    let mut code: Vec<Instruction> =
        checked.checks.iter().flat_map(|(index, check, otherwise)| checks(*index, check, *otherwise)).collect();
    code.push(seccomp::answer(seccomp::ALLOW));
    code
}

/// Answers if the check fails, and goes on behind if it holds.
fn checks(index: u32, check: &Check, otherwise: u32) -> Vec<Instruction> {
    let mut code = vec![seccomp::load(seccomp::argument(index))];
    match check {
        Check::NoBitOrHigher(bits) => {
            code.push(seccomp::any_bit(*bits, 2, 0));
            code.push(seccomp::load(seccomp::upper_half(index)));
            code.push(seccomp::equal(0, 1, 0));
        }
        Check::NoBit(bits) => code.push(seccomp::any_bit(*bits, 0, 1)),
        Check::OneOf { bits, values } => {
            code.push(seccomp::mask(*bits));
            for (place, value) in values.iter().enumerate() {
                code.push(seccomp::equal(*value, (values.len() - place) as u8, 0));
            }
        }
        Check::NoneOf { bits, values } => {
            code.push(seccomp::mask(*bits));
            for (place, value) in values.iter().enumerate() {
                let left = (values.len() - place - 1) as u8;
                code.push(seccomp::equal(*value, left, u8::from(left == 0)));
            }
        }
    }
    code.push(seccomp::answer(otherwise));
    code
}

#[cfg(test)]
mod tests;
