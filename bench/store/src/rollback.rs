//! Taking a transaction back against making it: writes to many objects that were there before, to one, and to one list and
//! one map. What is timed is what a client's request does: a transaction of the image whose program fails at its end.

use crate::living::{Printed, rested, send};
use image::{Cause, Image};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::Instant;

const SETTING: &str = "
    Item := Object clone do(count := 0)
    items := list()
    one := Item clone
    numbers := list()
    table := Map clone
    fill := method(n, n repeat(items append(Item clone do(count = 0))))
    touched := method(sum := 0; items foreach(item, sum = sum + item count); sum)
    distinct := method(n, items foreach(item, item count = n))
    same := method(n, for(i, 1, n, one count = i))
    appended := method(n, for(i, 1, n, numbers append(i)))
    entries := method(n, for(i, 1, n, table atPut(i asString, i)))
    nested := method(n, transaction(distinct(n)))
    failing := method(n, try(transaction(distinct(n); Exception raise(\"no\"))))
";

/// What is written, and the method that does it.
const CASES: [&str; 4] = ["distinct", "same", "appended", "entries"];

pub fn measure(directory: &Path, writes: u64, rounds: u64) -> Value {
    let mut image = rested(directory, &format!("{SETTING}\nfill({writes}); nil"), &Printed::default());
    send(&mut image, "touched");
    let mut report = Map::new();
    for case in CASES {
        let samples: Vec<(f64, f64)> = (0..rounds).map(|_| sample(&mut image, &format!("{case}({writes})"))).collect();
        let (made, back): (Vec<f64>, Vec<f64>) = samples.into_iter().unzip();
        report.insert(case.into(), json!({ "make_s": made, "back_s": back }));
    }
    // Inside `transaction`, in Io, only the whole can be timed: one that is kept, and one that is taken back.
    let (mut kept, mut failed) = (vec![], vec![]);
    for _ in 0..rounds {
        kept.push(sample(&mut image, &format!("nested({writes})")).0);
        failed.push(sample(&mut image, &format!("failing({writes})")).0);
    }
    report.insert("transaction".into(), json!({ "kept_s": kept, "failed_s": failed }));
    json!({ "writes": writes, "cases": report })
}

/// Seconds to do it, and to take it back.
fn sample(image: &mut Image, source: &str) -> (f64, f64) {
    let mut made = 0.0;
    let start = Instant::now();
    let ended = image.attempt(&Cause::default(), |vm| {
        vm.evaluate(source, "rollback").expect("it runs");
        made = start.elapsed().as_secs_f64();
        Err::<(), ()>(())
    });
    let whole = start.elapsed().as_secs_f64();
    assert!(matches!(ended, Ok(Err(()))), "it is taken back");
    (made, whole - made)
}
