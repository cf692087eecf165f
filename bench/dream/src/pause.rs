//! How long live stands still for a dream, as its machine sees it; beside a bare fork of a process of the same size.

use crate::Setting;
use crate::dreamt::{ask, begin, end, microseconds};
use crate::floor::{self, Ballast};
use crate::up::Up;
use crate::work::resident_bytes;
use keeper::protocol::Request;
use serde_json::{Value, json};
use std::path::Path;

/// Reads so many items of the image, which are in memory then.
const READ: &str = "sum := 0; shelves foreach(i, shelf, if(i < 10, shelf foreach(item, sum = sum + item count))); sum";

pub fn measure(setting: &Setting) -> Value {
    let fresh = beside_bare_forks(setting, &setting.small_image(), "nil");
    let read = beside_bare_forks(setting, &setting.large_image(), READ);
    json!({ "fresh": fresh, "read": read })
}

fn beside_bare_forks(setting: &Setting, image: &Path, before: &str) -> Value {
    let up = Up::start(&setting.telos, image);
    let mut client = up.client();
    ask(&mut client, &Request::evaluate(before)).expect("it is done");
    let ballast = Ballast::like(up.image_pid);
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..setting.samples {
        bare.push(microseconds(floor::pause()));
        let dream = begin(&mut client).expect("it begins");
        let status = client.status().expect("it is up");
        ours.push(status.image["dreams"]["last_pause_us"].as_f64().expect("it says how long"));
        end(&mut client, &dream).expect("it ends");
    }
    let own_bytes = resident_bytes(std::process::id()).1;
    drop(ballast);
    json!({ "telos": ours, "bare_fork": bare, "anonymous_bytes": resident_bytes(up.image_pid).1, "own_bytes": own_bytes })
}
