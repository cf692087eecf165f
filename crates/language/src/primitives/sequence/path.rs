//! Text as a path with `/` between its components.

use super::super::{Args, NONE, ONE, Row};
use super::{change_with, read, read_with};
use crate::signal::Outcome;
use crate::vm::Vm;
use object::sequence::Sequence;

pub const TABLE: &[Row] = &[
    ("pathComponent", NONE, |vm, args| symbol(vm, args, Sequence::path_component)),
    ("pathExtension", NONE, |vm, args| symbol(vm, args, Sequence::path_extension)),
    ("fileName", NONE, |vm, args| symbol(vm, args, Sequence::file_name)),
    // Io paths are what this machine's paths are.
    ("asOSPath", NONE, |vm, args| symbol(vm, args, Sequence::clone)),
    ("asIoPath", NONE, |vm, args| symbol(vm, args, Sequence::clone)),
    ("lastPathComponent", NONE, |vm, args| {
        let component = read(vm, &args, Sequence::last_path_component)?;
        Ok(vm.buffer(component))
    }),
    ("cloneAppendPath", ONE, |vm, args| {
        let path = read_with(vm, &args, Sequence::clone_append_path)?;
        Ok(vm.immutable(path))
    }),
    ("appendPathSeq", ONE, |vm, args| {
        change_with(vm, &args, Sequence::append_path_seq)?;
        Ok(args.target)
    }),
];

fn symbol(vm: &mut Vm, args: Args, part: fn(&Sequence) -> Sequence) -> Outcome {
    let part = read(vm, &args, part)?;
    Ok(vm.immutable(part))
}
