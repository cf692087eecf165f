//! World dreams: a level of the heap, written to, its journal as bytes, and thrown away. On one thread, by its processor time.

use crate::Setting;
use crate::living::{Printed, rested, send};
use crate::work::cpu_seconds;
use dream::{Bounds, ForkPoint, Writer};
use image::Image;
use language::Vm;
use object::change::{ActorId, Time};
use serde_json::{Value, json};
use store::NewCommit;

const TOGETHER: u64 = 1000;

pub fn measure(setting: &Setting) -> Value {
    let source = "x := 0; step := method(x = x + 1); nil";
    let mut image = rested(&setting.directory.path().join("worlds"), source, &Printed::default());
    let (mut by_message, mut by_source) = (Vec::new(), Vec::new());
    for _ in 0..setting.rounds {
        by_message.push(per_second(setting, &mut image, |vm| {
            let lobby = vm.lobby();
            vm.send(lobby, "step", &[]).expect("it writes");
        }));
        by_source.push(per_second(setting, &mut image, |vm| {
            vm.evaluate("x = x + 1", "bench").expect("it writes");
        }));
    }
    let left = send(&mut image, "x");
    assert_eq!(image.vm().number_of(left), Some(0.0), "nothing of them is left");
    json!({ "message": by_message, "source": by_source })
}

fn per_second(setting: &Setting, image: &mut Image, write: impl Fn(&mut Vm)) -> f64 {
    let store = image.store().id();
    let (start, mut count) = (cpu_seconds(), 0);
    while cpu_seconds() - start < setting.slice.as_secs_f64() {
        for number in 0..TOGETHER {
            dream(image, store, ActorId(1_000_000 + count + number), &write);
        }
        count += TOGETHER;
    }
    count as f64 / (cpu_seconds() - start)
}

fn dream(image: &mut Image, store: [u8; 16], actor: ActorId, write: impl Fn(&mut Vm)) {
    let done: Result<(), ()> = Ok(());
    let imagined = image.imagine(actor, |vm| {
        write(vm);
        done
    });
    let imagined = imagined.expect("the image is whole").expect("it went well");
    let forked = imagined.changes.first().map_or(Time(1), |change| change.time);
    let mut writer = Writer::new(ForkPoint { store, actor, forked }, Bounds::default());
    let mut journal = Vec::new();
    let commit = NewCommit { time: forked, changes: imagined.changes, ..NewCommit::default() };
    writer.write(&commit, &mut journal).expect("it is within all bounds");
    assert!(!journal.is_empty());
    std::hint::black_box(journal);
}
