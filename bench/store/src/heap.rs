//! What persistence costs a program: the eight programs of `bench/language` on a plain machine, and as one transaction of
//! an image. Each sample is a process of its own; what it used until the program had run counts, and in an image the
//! commit until it is durable.

use crate::living::{Printed, rested};
use crate::work::{again, cpu_seconds, required, text_argument};
use image::Cause;
use language::Vm;
use serde_json::{Map, Value, json};
use std::path::Path;

const PROGRAMS: [&str; 8] = ["for_loop", "method_call", "fib", "list", "map", "append", "clone", "slots"];
const HEAPS: [&str; 2] = ["image", "plain"];

pub fn measure(directory: &Path, rounds: u64) -> Value {
    std::fs::create_dir_all(directory).expect("the directory can be made");
    let programs = required("--programs");
    let only = text_argument("--program");
    let mut report = Map::new();
    for program in PROGRAMS.iter().filter(|program| only.as_deref().is_none_or(|only| only == **program)) {
        let path = programs.join(format!("{program}.io"));
        let mut samples: [Vec<Value>; 2] = Default::default();
        for round in 0..rounds as usize {
            for offset in 0..HEAPS.len() {
                let index = (round + offset) % HEAPS.len();
                let place = directory.join(format!("{program}-{round}"));
                let arguments = [
                    ("--program", path.as_os_str()),
                    ("--heap", HEAPS[index].as_ref()),
                    ("--place", place.as_os_str()),
                ];
                samples[index].push(again("program", &arguments));
                let _ = std::fs::remove_dir_all(&place);
            }
            let [image, plain] = &samples;
            assert_eq!(image[round]["output"], plain[round]["output"], "{program} prints the same on both");
        }
        let each = |samples: &[Value], what: &str| samples.iter().map(|sample| sample[what].clone()).collect::<Value>();
        let [image, plain] = &samples;
        report.insert(
            (*program).into(),
            json!({
                "image_s": each(image, "cpu_s"), "plain_s": each(plain, "cpu_s"), "commit_s": each(image, "commit_s"),
                "changes": each(image, "changes"),
            }),
        );
        eprintln!("heap: {program}");
    }
    Value::Object(report)
}

/// One sample.
pub fn run() -> Value {
    let source = std::fs::read_to_string(required("--program")).expect("the program is there");
    let printed = Printed::default();
    let (mut commit_seconds, mut changes) = (0.0, 0);
    let before;
    if text_argument("--heap").as_deref() == Some("image") {
        let mut image = rested(&required("--place"), "nil", &printed);
        before = cpu_seconds();
        let next = image.store().next_change().seq;
        let mut end = 0.0;
        let done = image.transact(&Cause::default(), |vm| {
            let result = vm.evaluate(&source, "program");
            end = cpu_seconds();
            result
        });
        let (_, ticket) = done.expect("the program runs");
        ticket.map_or(Ok(()), |ticket| image.wait(ticket)).expect("it is flushed");
        commit_seconds = cpu_seconds() - end;
        changes = image.store().next_change().seq - next;
    } else {
        let mut vm = Vm::new(printed.host());
        before = cpu_seconds();
        vm.evaluate(&source, "program").expect("the program runs");
    }
    let used = cpu_seconds() - before;
    json!({ "cpu_s": used, "commit_s": commit_seconds, "changes": changes, "output": printed.text() })
}
