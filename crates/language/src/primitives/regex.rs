//! Regex: the matcher behind the library's Regex, on the `regex` crate. Owns compilation and its cache.
//!
//! Matching takes time linear in the text whatever the pattern, so there are no look-arounds and no back-references.
//! Bytes are matched where they lie; wide text is matched as UTF-8, and its positions are counted back to items.

use super::{Args, NONE, Row, TWO};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use ::regex::bytes::{Regex, RegexBuilder};
use object::sequence::Sequence;
use object::{Data, Kind, Value, flag};
use rustc_hash::FxHashMap;
use std::rc::Rc;

const TABLE: &[Row] = &[("rawMatchAt", TWO, raw_match_at), ("captureNames", NONE, capture_names)];

/// The size a compiled pattern and each of its caches may have.
const COMPILED_LIMIT_BYTES: usize = 4 << 20;

/// More patterns than this at once are not kept.
const CACHED_PATTERNS: usize = 64;

/// Text that is matched for the price of one message.
const BYTES_PER_FUEL: usize = 16;

/// A matcher may read on to the end of the text before it settles for a match: that costs too, but is done fast.
const LOOKAHEAD_BYTES_PER_FUEL: usize = 512;

/// What a machine keeps of patterns and of the last wide text. Nothing a program could tell from its absence.
#[derive(Default)]
pub struct RegexCache {
    compiled: FxHashMap<String, Rc<Regex>>,
    wide: Option<(Value, Rc<WideText>)>,
}

impl RegexCache {
    pub fn trace(&self, visit: &mut dyn FnMut(Value)) {
        if let Some((text, _)) = &self.wide {
            visit(*text);
        }
    }
}

/// Wide text as UTF-8, with where each item begins there.
struct WideText {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl WideText {
    fn new(sequence: &Sequence) -> WideText {
        let bytes = sequence.as_utf8().as_bytes().to_vec();
        let mut starts = Vec::with_capacity(sequence.len() + 1);
        for (at, &byte) in bytes.iter().enumerate() {
            if byte & 0xc0 != 0x80 {
                starts.push(at);
            }
            // Four bytes are two items of UTF-16.
            if byte >= 0xf0 && sequence.item_size() == 2 {
                starts.push(at);
            }
        }
        starts.push(bytes.len());
        WideText { bytes, starts }
    }

    fn item_at(&self, byte: usize) -> usize {
        self.starts.partition_point(|&start| start < byte)
    }
}

pub fn install(vm: &mut Vm) {
    let regex = vm.heap.clone_of(vm.protos.object, Kind::Object, Data::None);
    let regex = Value::object(regex);
    let name = vm.symbol("Regex");
    vm.set_slot(regex, "type", name);
    let core = vm.core();
    vm.set_slot(core, "Regex", regex);
    vm.define_table(vm.handle_of(regex), TABLE);
}

/// The compiled form of the slot `source`, or of `pattern` where there is no source.
fn compiled(vm: &mut Vm, regex: Value) -> Result<Rc<Regex>, Signal> {
    let source = match vm.get_slot(regex, "source") {
        Some(source) if vm.kind_of(source) == Kind::Sequence => Some(source),
        _ => vm.get_slot(regex, "pattern"),
    };
    let Some(source) = source.and_then(|source| vm.text_of(source)) else {
        return Err(vm.raise("a Regex needs a pattern that is a Sequence"));
    };
    if let Some(regex) = vm.regexes.compiled.get(&source) {
        return Ok(regex.clone());
    }
    vm.charge(source.len())?;
    let limits = |builder: &mut RegexBuilder| {
        builder.size_limit(COMPILED_LIMIT_BYTES).dfa_size_limit(COMPILED_LIMIT_BYTES).build()
    };
    match limits(&mut RegexBuilder::new(&source)) {
        Ok(regex) => {
            if vm.regexes.compiled.len() >= CACHED_PATTERNS {
                vm.regexes.compiled.clear();
            }
            let regex = Rc::new(regex);
            vm.regexes.compiled.insert(source, regex.clone());
            Ok(regex)
        }
        Err(error) => Err(vm.raise(format!("the pattern \"{source}\" is not valid: {error}"))),
    }
}

/// The names of the captures, nil for those without; the first is the whole match.
fn capture_names(vm: &mut Vm, args: Args) -> Outcome {
    let regex = compiled(vm, args.target)?;
    let names: Vec<Value> = regex.capture_names().map(|name| name.map_or(Value::NIL, |name| vm.symbol(name))).collect();
    Ok(vm.list(names))
}

/// rawMatchAt(text, start): nil, or a list of list(start, end) for the match and each capture.
fn raw_match_at(vm: &mut Vm, args: Args) -> Outcome {
    let text = args.of_kind(vm, 0, Kind::Sequence)?;
    let start = args.optional_number(vm, 1)?.unwrap_or(0.0);
    let regex = compiled(vm, args.target)?;
    let Some(sequence) = vm.heap.sequence(text) else { return Err(args.wrong(vm, 0, "Sequence")) };
    let size = sequence.size_in_bytes();
    if start < 0.0 || start > sequence.len() as f64 {
        return Ok(Value::NIL);
    }
    let start = start as usize;
    if sequence.item_size() == 1 {
        vm.charge(size.saturating_sub(start) / LOOKAHEAD_BYTES_PER_FUEL)?;
        let bytes = vm.heap.sequence(text).map_or(&[][..], Sequence::as_bytes);
        let ranges = ranges(&regex, bytes, start);
        return answer(vm, start, size, ranges);
    }
    let wide = wide_text(vm, Value::object(text), size)?;
    let from = wide.starts.get(start).copied().unwrap_or(wide.bytes.len());
    vm.charge((wide.bytes.len() - from) / LOOKAHEAD_BYTES_PER_FUEL)?;
    let ranges = ranges(&regex, &wide.bytes, from).map(|ranges| {
        let items = |(start, end)| (wide.item_at(start), wide.item_at(end));
        ranges.into_iter().map(|range| range.map(items)).collect()
    });
    answer(vm, start, size, ranges)
}

type Ranges = Vec<Option<(usize, usize)>>;

fn ranges(regex: &Regex, text: &[u8], start: usize) -> Option<Ranges> {
    let captures = regex.captures_at(text, start)?;
    Some(captures.iter().map(|capture| capture.map(|capture| (capture.start(), capture.end()))).collect())
}

fn answer(vm: &mut Vm, start: usize, size: usize, ranges: Option<Ranges>) -> Outcome {
    let Some(ranges) = ranges else {
        vm.charge(size.saturating_sub(start) / BYTES_PER_FUEL)?;
        return Ok(Value::NIL);
    };
    let end = ranges.first().copied().flatten().map_or(start, |(_, end)| end);
    vm.charge(end.saturating_sub(start) / BYTES_PER_FUEL)?;
    let pair =
        |vm: &mut Vm, (start, end): (usize, usize)| vm.list([Value::number(start as f64), Value::number(end as f64)]);
    let pairs: Vec<Value> = ranges.into_iter().map(|range| range.map_or(Value::NIL, |range| pair(vm, range))).collect();
    Ok(vm.list(pairs))
}

/// Wide text made ready, kept for the next match in the same symbol.
fn wide_text(vm: &mut Vm, text: Value, size: usize) -> Result<Rc<WideText>, Signal> {
    if let Some((kept, wide)) = &vm.regexes.wide
        && *kept == text
    {
        return Ok(wide.clone());
    }
    vm.charge(size / BYTES_PER_FUEL)?;
    let Some(sequence) = vm.sequence_of(text) else { return Err(vm.raise("a Regex matches in a Sequence")) };
    let wide = Rc::new(WideText::new(sequence));
    if vm.heap.object(vm.handle_of(text)).has(flag::SYMBOL) {
        vm.regexes.wide = Some((text, wide.clone()));
    }
    Ok(wide)
}
