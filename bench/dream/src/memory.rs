//! What dreams take that only live: the memory of one for itself, and a thousand at once.

use crate::Setting;
use crate::dreamt::{ask, begin, within};
use crate::up::Up;
use keeper::Client;
use keeper::protocol::{Command, Request};
use serde_json::{Value, json};
use std::time::Instant;

const IDLE: usize = 20;

pub fn idle(setting: &Setting) -> Value {
    let up = Up::start(&setting.telos, &setting.small_image());
    let mut client = up.client();
    for _ in 0..IDLE {
        let dream = begin(&mut client).expect("it begins");
        ask(&mut client, &within(&dream, "1 + 2")).expect("it answers");
    }
    let dreams = up.dreams();
    assert_eq!(dreams.len(), IDLE, "each has an attendant and a dreamer");
    let attendants: Vec<f64> = dreams.iter().map(|(attendant, _)| private_bytes(*attendant)).collect();
    let dreamers: Vec<f64> = dreams.iter().map(|(_, dreamer)| private_bytes(*dreamer)).collect();
    json!({ "attendants": attendants, "dreamers": dreamers })
}

/// Pages that no other process has: of memory that belongs to no file all, of mapped files those that were written to.
fn private_bytes(pid: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps")).expect("it lives");
    let (mut is_of_file, mut kilobytes) = (false, 0.0);
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [range, _, _, _, inode, ..] if range.contains('-') => is_of_file = *inode != "0",
            ["Private_Dirty:", count, _] => kilobytes += count.parse().unwrap_or(0.0),
            ["Private_Clean:", count, _] if !is_of_file => kilobytes += count.parse().unwrap_or(0.0),
            _ => {}
        }
    }
    kilobytes * 1024.0
}

/// All write, all are there when the last has; then each is asked for what it wrote, and its journal for the same.
pub fn many(setting: &Setting) -> Value {
    let up = Up::start(&setting.telos, &setting.small_image());
    let mut client = up.client();
    let (start, before) = (Instant::now(), available_bytes());
    let (mut dreams, mut failures, mut hundreds) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..setting.many {
        let begun = begin(&mut client).and_then(|dream| {
            ask(&mut client, &within(&dream, &format!("Lobby mine := {number}")))?;
            Ok(dream)
        });
        match begun {
            Ok(dream) => dreams.push((number, dream)),
            Err(failure) => failures.push(failure),
        }
        if (number + 1) % 100 == 0 {
            hundreds.push(start.elapsed().as_secs_f64());
            eprintln!("{} after {:.1} s", number + 1, start.elapsed().as_secs_f64());
        }
    }
    let (begun_s, taken) = (start.elapsed().as_secs_f64(), before - available_bytes());
    let at_once = client.status().expect("it is up").dreams.len();
    for (number, dream) in &dreams {
        failures.extend(check(&mut client, *number, dream).err());
    }
    failures.iter().take(3).for_each(|failure| eprintln!("a dream failed: {failure}"));
    let start = Instant::now();
    drop(up);
    let gone_s = start.elapsed().as_secs_f64();
    json!({
        "at_once": at_once, "failures": failures.len(), "begun_s": begun_s, "gone_s": gone_s,
        "hundreds_s": hundreds,
        "system_bytes_each": taken / setting.many as f64,
    })
}

fn check(client: &mut Client, number: usize, dream: &str) -> Result<(), String> {
    let has = ask(client, &within(dream, "mine"))?;
    let page = ask(client, &Request::new(Command::ShowDream(dream.into())))?;
    let page: Value = serde_json::from_str(&page).map_err(|error| error.to_string())?;
    let is_written = page["changes"].as_array().is_some_and(|changes| {
        changes.iter().any(|change| change["slot_name"] == "mine" && change["value"].as_f64() == Some(number as f64))
    });
    if has == number.to_string() && is_written { Ok(()) } else { Err(format!("{dream} has {has}, and wrote {page}")) }
}

/// What the whole system could give away: whatever a dream takes is in it, the kernel's part too, and what others do.
fn available_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let row = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.split_whitespace().next());
    row.and_then(|count| count.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}
