//! Images that nobody's machine wrote: records of any kind with any content, protos in circles, references to nowhere,
//! stacks that never ran. Opening and using one ends with a value or an error that says what is wrong; it never panics,
//! never goes on beyond its fuel, and never commits what it could not load.

#[path = "../lab/mod.rs"]
mod lab;
mod mutate;
mod template;

use image::{Image, ImageError, Options};
use lab::{answer, cases, seed, send, try_open};
use language::Limits;
use std::panic::{AssertUnwindSafe, catch_unwind};
use store::{Checkpoints, StoreError};
use template::{Case, Template};
use testkit::Random;

const LIMITS: Limits = Limits { fuel: Some(100_000), memory_bytes: Some(256 << 20), depth: 10_000 };

fn options() -> Options {
    let store = store::Options { checkpoints: Checkpoints::OnRequest, ..store::Options::default() };
    Options { store, ..Options::default() }
}

/// What a program may do to the victims, which are `v0` to `v5` in the Lobby.
const PROGRAMS: &[&str] = &[
    "v0 asString",
    "getSlot(\"v0\") asString",
    "getSlot(\"v0\") clone slotSummary",
    "getSlot(\"v0\") slotNames map(name, getSlot(\"v0\") getSlot(name) type)",
    "getSlot(\"v0\") call(v1, v2)",
    "getSlot(\"v0\") message asString .. getSlot(\"v0\") code",
    "getSlot(\"v0\") argumentNames; getSlot(\"v0\") scope; getSlot(\"v0\") performOn(v1)",
    "getSlot(\"v0\") doInContext(Lobby, Lobby)",
    "getSlot(\"v0\") next name .. v0 arguments .. v0 label .. v0 lineNumber",
    "getSlot(\"v0\") setName(\"x\") setNext(message(y)) setArguments(list(message(z)))",
    "getSlot(\"v0\") asMessageWithEvaluatedArgs; getSlot(\"v0\") argsEvaluatedIn(Lobby)",
    "getSlot(\"v0\") opShuffle asString",
    "getSlot(\"v0\") sender asString .. v0 target .. v0 slotContext .. v0 activated .. v0 argAt(0)",
    "getSlot(\"v0\") evalArgAt(0)",
    "getSlot(\"v0\") resume",
    "getSlot(\"v0\") resumeLater; yield; yield",
    "Scheduler yieldingCoros foreach(coro, coro resume)",
    "yield; yield; yield",
    "waiting foreach(resume)",
    "future + 1",
    "Coroutine currentCoroutine parentCoroutine resume",
    "getSlot(\"v0\") size + v0 at(0)",
    "getSlot(\"v0\") foreach(value, value type)",
    "getSlot(\"v0\") append(1) sort reverse",
    "getSlot(\"v0\") atPut(\"k\", v1) keys sort",
    "getSlot(\"v0\") .. \"text\"; getSlot(\"v0\") asMutable appendSeq(\"x\") uppercase",
    "getSlot(\"v0\") + 1; getSlot(\"v0\") sqrt",
    "getSlot(\"v0\") link asString",
    "getSlot(\"v0\") asJson",
    "getSlot(\"v0\") serialized",
    "getSlot(\"v0\") newSlot(\"fresh\", 1); getSlot(\"v0\") appendProto(v1); getSlot(\"v0\") setProto(Object)",
    "getSlot(\"v0\") become(list(1, 2)); getSlot(\"v1\") become(getSlot(\"v0\"))",
    "getSlot(\"v0\") isKindOf(getSlot(\"v1\")); getSlot(\"v0\") proto proto proto",
    "getSlot(\"v0\") ancestorWithSlot(\"clone\"); getSlot(\"v0\") nonsense",
    "transaction(v0 = 1; getSlot(\"v1\") x := 2); World clone do(Lobby v0 := 3)",
    "fib(10)",
    "next call; account deposit(5); words map(asString) join(\",\")",
    "phone keys; phone map(key, value, value asString); text appendSeq(\"more\") size",
    "list(3, 1, 2) sort map(*2) join(\" \"); Map clone atPut(\"a\", 1) keys; \"abc\" uppercase split(\"B\")",
    "try(Exception raise(\"no\")) error; try(1 nonsense) asString; nil nonsense",
    "getSlot(\"fib\") code; getSlot(\"fib\") message asString; Lobby slotNames size; Lobby asString size",
    "Date clone asString; Duration clone asString; Date now",
    "Collector collect; Protos Core slotNames size; true ifTrue(1) ifFalse(2); 1 to(5) asList",
];

fn program(image: &Image, random: &mut Random) -> String {
    let primitives = image.vm().primitive_names();
    let (one, other) = (random.below(template::VICTIMS), random.below(template::VICTIMS));
    let text = if random.chance(40) {
        let name = &primitives[random.below(primitives.len())];
        let name = name.rsplit_once('.').map_or(name.as_str(), |(_, name)| name);
        let arguments =
            random.pick(&["", ", getSlot(\"v1\")", ", 1, \"a\"", ", getSlot(\"v1\"), getSlot(\"v2\")", ", 0, list(1)"]);
        format!("getSlot(\"v0\") performWithArgList(\"{name}\", list({}))", arguments.trim_start_matches(", "))
    } else {
        PROGRAMS[random.below(PROGRAMS.len())].to_string()
    };
    text.replace("v0", &format!("v{one}")).replace("v1", &format!("v{other}"))
}

/// What came of the cases, so that a test that tests nothing would show.
#[derive(Default, Debug)]
struct Tally {
    unopened: usize,
    damaged: usize,
    raised: usize,
    halted: usize,
    done: usize,
}

impl Tally {
    fn count(&mut self, result: Result<String, ImageError>, when: &str) {
        match result {
            Ok(_) => self.done += 1,
            Err(ImageError::Damaged(_)) => self.damaged += 1,
            Err(ImageError::Program(language::Error::Halted(_))) => self.halted += 1,
            Err(ImageError::Program(_)) => self.raised += 1,
            // Too much for the log, which a hostile image may well ask for.
            Err(ImageError::Store(StoreError::TooLarge { .. } | StoreError::Full { .. })) => self.halted += 1,
            Err(error) => panic!("{when}: {error}"),
        }
    }
}

fn use_image(case: &Case, random: &mut Random, tally: &mut Tally, when: &str) {
    let mut image = match try_open(case.path(), &options()) {
        Ok(image) => image,
        Err(ImageError::Unborn | ImageError::Damaged(_) | ImageError::Program(_)) => {
            tally.unopened += 1;
            return;
        }
        Err(error) => panic!("{when}: {error}"),
    };
    for _ in 0..12 {
        let source = program(&image, random);
        image.vm_mut().set_limits(LIMITS);
        tally.count(send(&mut image, &source), &format!("{when}: {source}"));
    }
    if random.chance(30) {
        image.vm_mut().collect();
    }
    let _ = image.close();
}

#[test]
fn a_hostile_image_is_refused_or_used_without_harm() {
    let seed = seed("hostile");
    let template = Template::new();
    let mut tally = Tally::default();
    for number in 0..cases(150, 20_000) as u64 {
        let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let case = template.case(&mut random);
        let when = format!("TELOS_SEED={seed}, case {number}: {}", case.told);
        let ended = catch_unwind(AssertUnwindSafe(|| use_image(&case, &mut random, &mut tally, &when)));
        assert!(ended.is_ok(), "{when}");
    }
    println!("hostile: {tally:?}");
    assert!(tally.damaged > 0 && tally.raised > 0 && tally.done > 0, "{tally:?}");
}

/// The story: `message next` indexed whatever record the file had, and one of two fields brought the machine down.
#[test]
fn a_message_with_too_few_fields_is_named_and_refused() {
    let template = Template::new();
    let case = template.with_short_message();
    let mut image = try_open(case.path(), &options()).expect("the root is as it was");
    let error = send(&mut image, "v0 next").expect_err("it cannot be loaded");
    let text = error.to_string();
    assert!(text.contains("a message has more fields"), "{text}");
    assert!(text.contains(&case.victims[0].to_string()), "{text} does not name {}", case.victims[0]);
    assert_eq!(answer(&mut image, "fib(10)"), "55", "the rest of it goes on");
}

/// And not only the first time: an object that could not be loaded stood there empty for the next message.
#[test]
fn a_reference_to_nowhere_is_told_each_time_and_by_the_check() {
    let template = Template::new();
    let case = template.with_a_reference_to_nowhere();
    let mut image = try_open(case.path(), &options()).expect("the root is as it was");
    for source in ["v0 type", "v0 type", "v0 x := 1", "list(1, v0) asString"] {
        let error = send(&mut image, source).expect_err("there is no such object");
        assert!(matches!(error, ImageError::Damaged(_)), "{source}: {error}");
        assert!(error.to_string().contains(&case.victims[0].to_string()), "{source}: {error}");
    }
    assert_eq!(answer(&mut image, "v0 := 1; v0 + 1"), "2", "and can be replaced");
    let case = template.with_a_reference_to_nowhere();
    let store = store::Store::open(case.path(), options().store).expect("it opens");
    let report = store.check(&mut |_| {}).expect("it can be checked");
    assert!(report.findings.iter().any(|finding| finding.contains(&case.victims[0].to_string())), "{report:?}");
}
