//! Random programs against plain maps and lists, with restarts, evictions, transactions, worlds, aborts, halts and
//! checkpoints in between: the image holds what the model holds, at every moment.

mod lab;

use image::{Cause, Image, ImageError, Options};
use lab::{Plain, cases, seed, try_open};
use language::Limits;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use store::{Checkpoints, Durability, IMAGE, LOG};
use tempfile::TempDir;
use testkit::Random;

/// How many objects, lists and maps there are.
const THINGS: usize = 3;
const NAMES: &[&str] = &["a", "b", "c", "d", "é"];

#[derive(Clone, Default, PartialEq, Debug)]
struct Model {
    slots: [BTreeMap<&'static str, usize>; THINGS],
    lists: [Vec<usize>; THINGS],
    maps: [BTreeMap<&'static str, usize>; THINGS],
    texts: [String; THINGS],
}

impl Model {
    /// What the image must say of itself.
    fn text(&self) -> String {
        let table = |table: &BTreeMap<&str, usize>| {
            let pairs: Vec<String> = table.iter().map(|(name, value)| format!("{name}{value}")).collect();
            pairs.join(" ")
        };
        let mut text = String::new();
        for thing in 0..THINGS {
            let list: Vec<String> = self.lists[thing].iter().map(usize::to_string).collect();
            let (slots, map) = (table(&self.slots[thing]), table(&self.maps[thing]));
            write!(text, "[{slots}|{}|{map}|{}]", list.join(" "), self.texts[thing]).expect("a string takes all");
        }
        text
    }
}

const STATE: &str = "
    things := list(); lists := list(); maps := list(); texts := list()
    3 repeat(things append(Object clone); lists append(list()); maps append(Map clone); texts append(\"\" asMutable))
    names := list(\"a\", \"b\", \"c\", \"d\", \"é\")
    world := World clone
    told := method(
        all := \"\" asMutable
        3 repeat(i,
            slots := names select(name, things at(i) hasLocalSlot(name)) map(name, name .. things at(i) getSlot(name))
            keys := names select(name, maps at(i) hasKey(name)) map(name, name .. maps at(i) at(name))
            all appendSeq(\"[\", slots join(\" \"), \"|\", lists at(i) join(\" \"), \"|\", keys join(\" \"), \"|\")
            all appendSeq(texts at(i) asString, \"]\"))
        all asString)
    nil";

/// One edit, done to the model and said in Io.
fn edit(model: &mut Model, random: &mut Random) -> String {
    let (thing, name, value) = (random.below(THINGS), NAMES[random.below(NAMES.len())], random.below(1000));
    let list = &mut model.lists[thing];
    let length = list.len();
    let at = random.below(length.max(1));
    match random.below(11) {
        0 | 1 => {
            model.slots[thing].insert(name, value);
            format!("things at({thing}) setSlot(\"{name}\", {value})")
        }
        2 => {
            model.slots[thing].remove(name);
            format!("things at({thing}) removeSlot(\"{name}\")")
        }
        3 | 4 => {
            list.push(value);
            format!("lists at({thing}) append({value})")
        }
        5 => {
            list.insert(at, value);
            format!("lists at({thing}) atInsert({at}, {value})")
        }
        6 if length > 0 => {
            list.remove(at);
            format!("lists at({thing}) removeAt({at})")
        }
        7 if length > 0 => {
            list[at] = value;
            format!("lists at({thing}) atPut({at}, {value})")
        }
        8 => {
            model.maps[thing].insert(name, value);
            format!("maps at({thing}) atPut(\"{name}\", {value})")
        }
        9 => {
            model.maps[thing].remove(name);
            format!("maps at({thing}) removeAt(\"{name}\")")
        }
        _ => {
            write!(model.texts[thing], "{value}").expect("a string takes all");
            format!("texts at({thing}) appendSeq(\"{value}\")")
        }
    }
}

fn edits(model: &mut Model, random: &mut Random) -> String {
    (0..1 + random.below(5)).map(|_| edit(model, random) + "; ").collect()
}

/// A message to the image, with what the model is after it, and whether it must fail.
fn message(model: &Model, random: &mut Random) -> (String, Model, bool) {
    let mut after = model.clone();
    let before = edits(&mut after, random);
    let mut aside = after.clone();
    let source = match random.below(10) {
        0 => return (format!("{before} Exception raise(\"no\")"), model.clone(), true),
        1 => return (format!("{before} loop(nil)"), model.clone(), true),
        2 => {
            let inner = edits(&mut aside, random);
            after = aside;
            format!("{before} transaction({inner} 1)")
        }
        3 => {
            let inner = edits(&mut aside, random);
            format!("{before} try(transaction({inner} Exception raise(\"no\")))")
        }
        4 => {
            let inner = edits(&mut aside, random);
            format!("{before} world discard run({inner} 1)")
        }
        5 => {
            let inner = edits(&mut aside, random);
            after = aside;
            format!("{before} world discard run({inner} 1); world commit")
        }
        6 => {
            let inner = edits(&mut aside, random);
            format!("{before} world discard run(transaction({inner} 1)); world discard")
        }
        _ => before,
    };
    let end = edits(&mut after, random);
    (format!("{source}; {end} 1"), after, false)
}

struct Bench {
    directory: TempDir,
    image: Option<Image>,
    options: Options,
}

impl Bench {
    fn new(template: &Path, random: &mut Random) -> Bench {
        let directory = TempDir::new().expect("a directory");
        for name in [LOG, IMAGE] {
            std::fs::copy(template.join(name), directory.path().join(name)).expect("it can be copied");
        }
        let checkpoints = if random.chance(50) { Checkpoints::OnRequest } else { Checkpoints::Background };
        let store = store::Options { checkpoints, begin_changes: 20, ..store::Options::default() };
        // Little is enough for the library: much goes out after each message.
        let options = Options { store, cache_bytes: if random.chance(50) { 64 << 10 } else { 64 << 20 } };
        let image = Some(try_open(directory.path(), &options).expect("it opens"));
        Bench { directory, image, options }
    }

    fn send(&mut self, source: &str) -> Result<String, ImageError> {
        let image = self.image.as_mut().expect("it is open");
        image.vm_mut().set_limits(Limits { fuel: Some(200_000), ..Limits::default() });
        let cause = Cause { durability: Durability::Os, ..Cause::default() };
        let (text, ticket) = image.transact(&cause, |vm| {
            let value = vm.evaluate(source, "test")?;
            vm.to_text(value)
        })?;
        ticket.map_or(Ok(()), |ticket| image.wait(ticket))?;
        Ok(text)
    }

    fn reopen(&mut self, is_closed: bool) {
        let image = self.image.take().expect("it is open");
        if is_closed {
            image.close().expect("it closes")
        } else {
            drop(image)
        }
        self.image = Some(try_open(self.directory.path(), &self.options).expect("it opens"));
    }
}

fn run(template: &Path, random: &mut Random, when: &str) {
    let mut bench = Bench::new(template, random);
    let mut model = Model::default();
    let mut said = String::new();
    for _ in 0..20 {
        match random.below(12) {
            0 => bench.reopen(true),
            1 => bench.reopen(false),
            2 => bench.image.as_ref().expect("it is open").store().checkpoint().expect("it can be applied"),
            3 => drop(bench.image.as_mut().expect("it is open").vm_mut().collect()),
            4 => {
                let told = bench.send("told").unwrap_or_else(|error| panic!("{when}: {error}, after{said}"));
                assert_eq!(told, model.text(), "{when}, after{said}");
            }
            _ => {
                let (source, after, fails) = message(&model, random);
                write!(said, "\n{source}").expect("a string takes all");
                let result = bench.send(&source);
                assert_eq!(result.is_err(), fails, "{when}: {result:?}, after{said}");
                model = after;
            }
        }
    }
    bench.reopen(true);
    assert_eq!(bench.send("told").expect("it can be told"), model.text(), "{when}, after{said}");
    let image = bench.image.take().expect("it is open");
    let report = image.store().check(&mut |_| {}).expect("it can be checked");
    assert!(report.is_clean(), "{when}: {report:?}");
}

#[test]
fn an_image_holds_what_a_plain_map_holds() {
    let seed = seed("model");
    let template = TempDir::new().expect("a directory");
    let mut image = Image::create(template.path(), &Options::default(), Box::new(Plain)).expect("a new image");
    lab::answer(&mut image, STATE);
    image.store().checkpoint().expect("it can be applied");
    image.close().expect("it closes");
    for case in 0..cases(40, 10_000) as u64 {
        let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        run(template.path(), &mut random, &format!("TELOS_SEED={seed}, case {case}"));
    }
}
