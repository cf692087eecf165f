//! From the order of a dream to the answer to the first message inside: of a small image, of a large one, beside the floors and
//! bwrap; and of the hundredth dream while live is written to.

use crate::cycle::file_bytes;
use crate::dreamt::{ask, end, first_answer, microseconds};
use crate::floor::{self, Ballast};
use crate::up::Up;
use crate::{Setting, peer};
use keeper::Client;
use keeper::protocol::Request;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const CROWD: usize = 100;
const CROWDS: u64 = 3;
/// What is made ready once, and files that nobody has read yet, are no part of it.
const WARM_UP: usize = 5;

pub fn measure(setting: &Setting) -> Value {
    let (small, large) = (setting.small_image(), setting.large_image());
    let mut samples = [(); 6].map(|()| Vec::with_capacity(setting.samples));
    {
        let ups = [&small, &large].map(|path| Up::start(&setting.telos, path));
        let mut clients = [ups[0].client(), ups[1].client()];
        for client in &mut clients {
            (0..WARM_UP).for_each(|_| _ = once(client));
        }
        let _ballast = Ballast::like(ups[0].image_pid);
        for round in 0..setting.samples {
            for offset in 0..samples.len() {
                // Who comes behind whom changes from round to round.
                let index = (round + offset) % samples.len();
                samples[index].push(match index {
                    0 | 1 => once(&mut clients[index]),
                    2 => microseconds(floor::bare()),
                    3 => microseconds(floor::in_namespaces()),
                    4 => microseconds(floor::walled()),
                    _ => microseconds(peer::run().expect("bwrap runs")),
                });
            }
        }
    }
    let [ours, ours_large, bare, namespaces, walled, bwrap] = samples;
    let crowds: Vec<Value> = (0..CROWDS).map(|_| crowd(setting, &small)).collect();
    json!({
        "telos": ours, "telos_large": ours_large, "bare_fork": bare, "namespaces": namespaces, "walled": walled,
        "bwrap": bwrap, "large_bytes": file_bytes(&large), "crowds": crowds,
    })
}

fn once(client: &mut Client) -> f64 {
    let (taken, dream) = first_answer(client);
    end(client, &dream).expect("it ends");
    microseconds(taken)
}

/// A hundred that stay, the last of them beside all others; somebody writes to live all the time.
fn crowd(setting: &Setting, image: &Path) -> Value {
    let up = Up::start(&setting.telos, image);
    let (mut client, mut writer) = (up.client(), up.client());
    ask(&mut client, &Request::evaluate("Lobby written := 0")).expect("it is written");
    let calm: Vec<f64> = (0..WARM_UP).map(|_| once(&mut client)).collect();
    let is_over = AtomicBool::new(false);
    let (each, writes) = std::thread::scope(|scope| {
        let write = scope.spawn(|| {
            let mut writes = 0;
            while !is_over.load(Ordering::Relaxed) {
                ask(&mut writer, &Request::evaluate("written = written + 1")).expect("it is written");
                writes += 1;
            }
            writes
        });
        let each: Vec<f64> = (0..CROWD).map(|_| microseconds(first_answer(&mut client).0)).collect();
        is_over.store(true, Ordering::Relaxed);
        (each, write.join().expect("it writes"))
    });
    json!({ "calm": calm, "each": each, "writes": writes })
}
