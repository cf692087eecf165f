//! Regex: the matcher behind the library's Regex, on the `regex` crate. Owns compilation, and who pays for it.
//!
//! Matching takes time linear in the text whatever the pattern, so there are no look-arounds and no back-references.
//! Bytes are matched where they lie; wide text is matched as UTF-8, and its positions are counted back to items.

use super::{Args, NONE, Row, TWO};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use ::regex::bytes::{Regex, RegexBuilder};
use object::sequence::Sequence;
use object::{Foreign, Kind, Value, flag};
use rustc_hash::FxHashMap;
use std::any::Any;
use std::rc::Rc;

pub const TABLE: &[Row] = &[("rawMatchAt", TWO, raw_match_at), ("captureNames", NONE, capture_names)];

/// Sizes that a compiled pattern may have, each with the fuel of compiling up to there. How big a pattern gets is known
/// only when it is compiled, and a refusal takes as long as the size that it was refused at (some 10 ns for each byte):
/// so the small sizes are tried first, and paid for one after the other.
const STAGES: &[(usize, usize)] = &[(256 << 10, 8_000), (1 << 20, 200_000), (4 << 20, 1_000_000)];

/// The size that each of a pattern's caches may grow to while it is matched.
const CACHE_LIMIT_BYTES: usize = 256 << 10;

/// More than this is not kept for objects to come.
const KEPT_LIMIT_BYTES: usize = 16 << 20;

/// Text that is matched for the price of one message.
const BYTES_PER_FUEL: usize = 16;

/// A matcher may read on to the end of the text before it settles for a match: that costs too, but is done fast.
const LOOKAHEAD_BYTES_PER_FUEL: usize = 512;

/// A pattern, compiled.
struct Pattern {
    source: String,
    regex: Regex,
    /// How many stages it took.
    stages: usize,
}

impl Pattern {
    fn bytes(&self) -> usize {
        STAGES[self.stages - 1].0
    }

    fn fuel(&self) -> usize {
        self.source.len() + STAGES[..self.stages].iter().map(|(_, fuel)| fuel).sum::<usize>()
    }
}

/// What a Regex object carries from its first match on: it has paid for its pattern, and for the last wide text.
struct Compiled {
    pattern: Rc<Pattern>,
    wide: Option<(Value, Rc<WideText>)>,
}

impl Foreign for Compiled {
    fn trace(&self, visit: &mut dyn FnMut(Value)) {
        if let Some((text, _)) = &self.wide {
            visit(*text);
        }
    }

    fn logical_bytes(&self) -> usize {
        self.pattern.bytes() + self.wide.as_ref().map_or(0, |(_, wide)| wide.bytes.len() + wide.starts.len() * 8)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// Patterns that were compiled lately, for programs that make the same Regex over and over. Saves time only: every
/// object pays for its pattern as if there were none, and a collection forgets them all.
#[derive(Default)]
pub struct RegexCache {
    patterns: FxHashMap<String, Rc<Pattern>>,
    bytes: usize,
}

impl RegexCache {
    pub fn clear(&mut self) {
        *self = RegexCache::default();
    }

    /// What it counts for against the memory limit.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn keep(&mut self, pattern: &Rc<Pattern>) {
        if self.bytes + pattern.bytes() > KEPT_LIMIT_BYTES {
            self.clear();
        }
        self.bytes += pattern.bytes();
        self.patterns.insert(pattern.source.clone(), pattern.clone());
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

/// The compiled form of the slot `source`, or of `pattern` where there is no source.
fn compiled(vm: &mut Vm, regex: Value) -> Result<Rc<Pattern>, Signal> {
    let source = match vm.get_slot(regex, "source") {
        Some(source) if vm.kind_of(source) == Kind::Sequence => Some(source),
        _ => vm.get_slot(regex, "pattern"),
    };
    let Some(source) = source.and_then(|source| vm.text_of(source)) else {
        return Err(vm.raise("a Regex needs a pattern that is a Sequence"));
    };
    vm.charge(source.len() / BYTES_PER_FUEL)?;
    let own = vm.foreign(regex).map(|compiled: &Compiled| &compiled.pattern);
    if let Some(pattern) = own.filter(|pattern| pattern.source == source) {
        return Ok(pattern.clone());
    }
    let pattern = match vm.regexes.patterns.get(&source) {
        Some(pattern) => {
            let pattern = pattern.clone();
            vm.charge(pattern.fuel())?;
            pattern
        }
        None => Rc::new(compile(vm, source)?),
    };
    vm.regexes.keep(&pattern);
    vm.set_foreign(regex, Compiled { pattern: pattern.clone(), wide: None });
    Ok(pattern)
}

fn compile(vm: &mut Vm, source: String) -> Result<Pattern, Signal> {
    vm.charge(source.len())?;
    let mut refusal = None;
    for (index, &(limit_bytes, fuel)) in STAGES.iter().enumerate() {
        vm.charge(fuel)?;
        let built = RegexBuilder::new(&source).size_limit(limit_bytes).dfa_size_limit(CACHE_LIMIT_BYTES).build();
        match built {
            Ok(regex) => return Ok(Pattern { source, regex, stages: index + 1 }),
            Err(error) => {
                let is_too_big = matches!(error, ::regex::Error::CompiledTooBig(_));
                refusal = Some(error.to_string());
                if !is_too_big {
                    break;
                }
            }
        }
    }
    Err(vm.raise(format!("the pattern \"{source}\" is not valid: {}", refusal.unwrap_or_default())))
}

/// The names of the captures, nil for those without; the first is the whole match.
fn capture_names(vm: &mut Vm, args: Args) -> Outcome {
    let pattern = compiled(vm, args.target)?;
    let names = pattern.regex.capture_names();
    let names: Vec<Value> = names.map(|name| name.map_or(Value::NIL, |name| vm.symbol(name))).collect();
    Ok(vm.list(names))
}

/// rawMatchAt(text, start): nil, or a list of list(start, end) for the match and each capture.
fn raw_match_at(vm: &mut Vm, args: Args) -> Outcome {
    let text = args.of_kind(vm, 0, Kind::Sequence)?;
    let start = args.optional_number(vm, 1)?.unwrap_or(0.0);
    let pattern = compiled(vm, args.target)?;
    let Some(sequence) = vm.heap.sequence(text) else { return Err(args.wrong(vm, 0, "Sequence")) };
    let size = sequence.size_in_bytes();
    if start < 0.0 || start > sequence.len() as f64 {
        return Ok(Value::NIL);
    }
    let start = start as usize;
    if sequence.item_size() == 1 {
        vm.charge(size.saturating_sub(start) / LOOKAHEAD_BYTES_PER_FUEL)?;
        let bytes = vm.heap.sequence(text).map_or(&[][..], Sequence::as_bytes);
        let ranges = ranges(&pattern.regex, bytes, start);
        return answer(vm, start, size, ranges);
    }
    let wide = wide_text(vm, args.target, Value::object(text), size)?;
    let from = wide.starts.get(start).copied().unwrap_or(wide.bytes.len());
    vm.charge((wide.bytes.len() - from) / LOOKAHEAD_BYTES_PER_FUEL)?;
    let ranges = ranges(&pattern.regex, &wide.bytes, from).map(|ranges| {
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

/// Wide text made ready, kept by the Regex for its next match in the same symbol.
fn wide_text(vm: &mut Vm, regex: Value, text: Value, size: usize) -> Result<Rc<WideText>, Signal> {
    let kept = vm.foreign(regex).and_then(|compiled: &Compiled| compiled.wide.as_ref());
    if let Some((_, wide)) = kept.filter(|(kept, _)| *kept == text) {
        return Ok(wide.clone());
    }
    vm.charge(size / BYTES_PER_FUEL)?;
    let Some(sequence) = vm.sequence_of(text) else { return Err(vm.raise("a Regex matches in a Sequence")) };
    let wide = Rc::new(WideText::new(sequence));
    if vm.heap.object(vm.handle_of(text)).has(flag::SYMBOL) {
        let kept = Some((text, wide.clone()));
        vm.foreign_edit(regex, |compiled: &mut Compiled| compiled.wide = kept);
    }
    Ok(wide)
}
