//! Item types and text encodings, and text made for other places: base64, URLs.

use super::super::{Args, NONE, ONE, Row};
use super::{change, mutable, number, own, pay, read, receiver, size_of, unwrap};
use crate::signal::Outcome;
use crate::vm::Vm;
use object::sequence::{Encoding, ItemType, Sequence};

pub const TABLE: &[Row] = &[
    ("itemType", NONE, |vm, args| {
        let name = own(vm, &args)?.item_type().name();
        Ok(vm.symbol(name))
    }),
    ("itemSize", NONE, |vm, args| own(vm, &args).map(|own| number(own.item_size()))),
    ("encoding", NONE, |vm, args| {
        let name = own(vm, &args)?.encoding().name();
        Ok(vm.symbol(name))
    }),
    ("setItemType", ONE, |vm, args| {
        mutable(vm, &args)?;
        let item_type = item_type(vm, &args)?;
        change(vm, &args, |own| own.set_item_type(item_type))?;
        Ok(args.target)
    }),
    ("convertToItemType", ONE, |vm, args| {
        mutable(vm, &args)?;
        let item_type = item_type(vm, &args)?;
        let items = own(vm, &args)?.len();
        vm.reserve(items * item_type.size())?;
        change(vm, &args, |own| own.convert_to_item_type(item_type))?;
        Ok(args.target)
    }),
    ("setEncoding", ONE, |vm, args| {
        mutable(vm, &args)?;
        let name = args.text(vm, 0)?;
        let encoding = unwrap(vm, Encoding::from_name(&name))?;
        change(vm, &args, |own| own.set_encoding(encoding))?;
        Ok(args.target)
    }),
    ("convertToFixedSizeType", NONE, |vm, args| {
        change(vm, &args, Sequence::convert_to_fixed_size_type)?;
        Ok(args.target)
    }),
    ("asUTF8", NONE, |vm, args| made(vm, args, Sequence::as_utf8)),
    ("asUCS2", NONE, |vm, args| made(vm, args, Sequence::as_ucs2)),
    ("asUCS4", NONE, |vm, args| made(vm, args, Sequence::as_ucs4)),
    ("asFixedSizeType", NONE, |vm, args| made(vm, args, Sequence::as_fixed_size_type)),
    ("asBase64", ONE, |vm, args| {
        let line = if args.count > 0 { args.integer(vm, 0)?.max(0) as usize } else { 0 };
        made(vm, args, |own| own.as_base64(line))
    }),
    ("fromBase64", NONE, |vm, args| made(vm, args, Sequence::from_base64)),
    ("urlEncoded", NONE, |vm, args| coded(vm, args, Sequence::url_encoded)),
    ("urlDecoded", NONE, |vm, args| coded(vm, args, Sequence::url_decoded)),
    ("percentEncoded", NONE, |vm, args| coded(vm, args, Sequence::percent_encoded)),
    ("percentDecoded", NONE, |vm, args| coded(vm, args, Sequence::percent_decoded)),
];

/// No encoding makes more than this of one byte.
const MOST_BYTES_PER_BYTE: usize = 4;

fn item_type(vm: &mut Vm, args: &Args) -> Result<ItemType, crate::signal::Signal> {
    let name = args.text(vm, 0)?;
    unwrap(vm, ItemType::from_name(&name))
}

fn make(vm: &mut Vm, args: &Args, make: impl FnOnce(&Sequence) -> Sequence) -> Result<Sequence, crate::signal::Signal> {
    let handle = receiver(vm, args)?;
    let bytes = size_of(vm, handle);
    vm.reserve(bytes * MOST_BYTES_PER_BYTE)?;
    pay(vm, bytes)?;
    read(vm, args, make)
}

fn made(vm: &mut Vm, args: Args, encode: impl FnOnce(&Sequence) -> Sequence) -> Outcome {
    let sequence = make(vm, &args, encode)?;
    Ok(vm.buffer(sequence))
}

fn coded(vm: &mut Vm, args: Args, encode: fn(&Sequence) -> Sequence) -> Outcome {
    let sequence = make(vm, &args, encode)?;
    Ok(vm.immutable(sequence))
}
