//! `telos demo`: a shop that is open all the while. A test fails, a dream mends the method, what proves good is merged; what
//! breaks something or reaches for the host is refused; a conflict waits for somebody; and all of it can be taken back.
//!
//! Each step runs the commands that it shows, and checks what they came to.

use super::act::{Actor, Ran, Stop};
use super::page::{BOLD, Page};
use super::stage::Stage;
use super::story::{Story, spoken};
use super::traffic::{REQUEST, Traffic};
use crate::command::exec::signals::Received;
use crate::options::Color;
use crate::report;
use crate::session::exit_code;
use anyhow::Context;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::path::Path;
use std::process::ExitCode;

const SHOP: &str = include_str!("../../../demo/shop.io");
const SHOP_FILE: &str = "shop.io";
/// What the customers are answered before and after the mend.
const WRONG: &str = "7";
const RIGHT: &str = "12";
/// A file of the host that everybody may read, a dream excepted; and something that is in it.
const FOREIGN: &str = "/etc/passwd";
const FOREIGN_WORDS: &str = "root:";
/// Enough to see that the shop is open.
const CUSTOMERS: u64 = 20;

pub fn run(keep: Option<&Path>, is_json: bool, color: Color) -> anyhow::Result<ExitCode> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let received = Received::default();
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register_usize(signal, received.clone(), signal as usize)?;
    }
    let stage = Stage::new(keep)?;
    let actor = Actor { program, directory: stage.scratch.clone(), image: stage.image.clone(), received };
    let mut story = Story::new(Page::new(color), is_json, actor, stage);
    let told = tell(&mut story).and_then(|()| close(&mut story, keep.is_some()));
    // Whatever came: nobody calls any more, the image is down, and nothing lies about.
    story.traffic = None;
    let is_cleared = story.stage.clear();
    story.page.output.flush();
    if !is_cleared {
        report::say(&format!("warning: {} could not be removed", story.stage.scratch.display()));
    }
    Ok(match told {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Unread) => ExitCode::from(exit_code::OUTPUT_CLOSED),
        Err(Stop::Interrupted(signal)) => ExitCode::from((128 + signal) as u8),
        Err(Stop::Wrong(why)) => {
            report::say(&report::harmless(&format!("error: {} did not give what it must: {why}", story.place())));
            ExitCode::FAILURE
        }
    })
}

fn tell(story: &mut Story) -> Result<(), Stop> {
    if !story.is_json {
        let title = format!("telos {}: an image that changes itself while it runs\n", env!("CARGO_PKG_VERSION"));
        story.page.styled(BOLD, &title);
    }
    story.step(
        ("serve", "An image serves requests"),
        "A shop, its till and a test are objects in an image that is up. Each request is a transaction.",
        serve,
    )?;
    story.step(
        ("test", "A test fails"),
        "Twelve is asked for and seven is charged: somebody added where they should have multiplied.",
        test,
    )?;
    let mut dream = String::new();
    story.step(
        ("dream", "A dream mends it, while live goes on"),
        "A dream is a sealed fork of the running image, made in milliseconds. What it changes is its own.",
        |story| mend(story, &mut dream),
    )?;
    story.step(
        ("merge", "What proves good is merged, and the next request uses it"),
        "The image's own tests and rules judge a fresh fork of live with that change. What passes is one commit.",
        |story| merge(story, &dream),
    )?;
    story.step(("why", "Each slot knows where it comes from"), "Who, when, why, and on what evidence.", |story| {
        why(story, &dream)
    })?;
    story.step(
        ("bad", "A bad dream is refused"),
        "This one gives a discount that nobody asked for, and breaks the test that passes now.",
        bad,
    )?;
    story.step(
        ("hostile", "A hostile one is refused"),
        "This one tries to take a file of yours along, hides that, and looks harmless.",
        hostile,
    )?;
    story.step(
        ("conflict", "A conflict is kept as data, and decided by somebody"),
        "A dream and live write the same slot. Under keep-both neither is lost, and nothing stops.",
        conflict,
    )?;
    story.step(("undo", "One merge is taken back"), "What was written since stays.", |story| undo(story, &dream))
}

fn serve(story: &mut Story) -> Result<(), Stop> {
    let up = format!("{} &", Actor::typed(&["up", &story.stage.name], None));
    story.typed(&up);
    let time = story.stage.start(&story.actor)?;
    story.told(&Ran { command: up, code: Some(0), output: String::new(), errors: String::new(), time });
    story.typed(&format!("export TELOS_IMAGE={}", system::shell::quoted(&story.stage.name)));
    story.stage.write(SHOP_FILE, SHOP)?;
    story.typed(&format!("cat {SHOP_FILE}"));
    story.source(SHOP);
    must(&story.command_with(&["send", "-"], Some(SHOP_FILE))?, 0, &[])?;
    story.traffic = Some(Traffic::begin(story.stage.image.clone()));
    let is_open = |counts: &super::traffic::Counts| counts.failed > 0 || counts.answered() >= CUSTOMERS;
    story.requests()?.wait(&story.actor, "nobody is served", is_open)?;
    let counts = story.check_requests()?;
    story.note(&format!("From now on customers call, one after the other: {REQUEST}. They are answered {WRONG}."));
    story.fact("requests", counts.to_json());
    wanted(counts.last == WRONG, || format!("customers are answered {}, and not {WRONG}", counts.last))
}

fn test(story: &mut Story) -> Result<(), Stop> {
    let ran = story.command(&["send", "Verification runTest(\"ShopTest testTotal\")"])?;
    let ran = Ran { output: ran.errors.clone(), ..ran };
    must(&ran, 1, &["12 != 7"])
}

fn mend(story: &mut Story, dream: &mut String) -> Result<(), Stop> {
    let source = "Shop total = method(price, amount, price * amount); nil";
    let ran = story.command(&["dream", "run", "--keep", "--mandate", "multiply", "-e", source])?;
    if ran.code != Some(0) {
        return Err(Stop::Wrong(unsealed(story).unwrap_or_else(|| ended(&ran))));
    }
    must(&ran, 0, &["price * amount"])?;
    *dream = name_of(&ran)?;
    story.fact("dream", json!(dream));
    story.note("Meanwhile live sells one, which is another slot of the same object, and still charges seven.");
    answers(story, "Shop stock = 99", "99")?;
    answers(story, "Shop total(3, 4)", WRONG)
}

fn merge(story: &mut Story, dream: &str) -> Result<(), Stop> {
    must(&story.command(&["dream", "verify", dream])?, 0, &["nothing speaks against", "1 of 1 tests pass"])?;
    let before = story.check_requests()?.answered();
    let ran = story.command(&["dream", "merge", dream])?;
    must(&ran, 0, &["is merged as commit"])?;
    let served = story.check_requests()?.answered() - before;
    answers(story, "list(Shop total(3, 4), Shop stock)", "list(12, 99)")?;
    let has_come = |counts: &super::traffic::Counts| counts.failed > 0 || counts.last == RIGHT;
    story.requests()?.wait(&story.actor, "no customer is answered by the new code", has_come)?;
    let counts = story.check_requests()?;
    story.fact("requests", counts.to_json());
    story.fact("requests_during_merge", json!(served));
    let (old, new) = (counts.answers.get(WRONG).unwrap_or(&0), counts.answers.get(RIGHT).unwrap_or(&0));
    story.note(&format!(
        "{served} customers were served while that was judged and merged, and none failed. {old} have been answered {WRONG} so \
         far, and {new} have been answered {RIGHT}."
    ));
    wanted(counts.answers.len() == 2, || format!("customers were answered {:?}", counts.answers))
}

fn why(story: &mut Story, dream: &str) -> Result<(), Stop> {
    must(&story.command(&["why", "Shop.total"])?, 0, &[dream, "multiply", "regression"])
}

fn bad(story: &mut Story) -> Result<(), Stop> {
    let source = "Shop total = method(price, amount, price * amount - 1); nil";
    let ran = story.command(&["dream", "run", "--merge", "--mandate", "sell more", "-e", source])?;
    must(&ran, 3, &["is rejected", "ShopTest testTotal: fails, and did not before"])?;
    answers(story, "Shop total(3, 4)", RIGHT)
}

fn hostile(story: &mut Story) -> Result<(), Stop> {
    let source = format!("try(Shop loot := File with(\"{FOREIGN}\") contents); Shop greeting := \"welcome\"; nil");
    let ran = story.command(&["dream", "run", "--merge", "--mandate", "greet people", "-e", &source])?;
    must(&ran, 3, &["is rejected", "not granted"])?;
    wanted(!ran.output.contains(FOREIGN_WORDS), || "the dream has read a file of the host".into())?;
    answers(story, "list(Shop hasSlot(\"loot\"), Shop hasSlot(\"greeting\"))", "list(false, false)")?;
    must(&story.command(&["rejections"])?, 0, &["sell more", "greet people"])
}

fn conflict(story: &mut Story) -> Result<(), Stop> {
    let ran = story.command(&["dream", "run", "--keep", "--mandate", "open early", "-e", "Shop opens = \"8:00\""])?;
    must(&ran, 0, &["8:00"])?;
    let dream = name_of(&ran)?;
    answers(story, "Shop opens = \"10:00\"", "10:00")?;
    must(&story.command(&["dream", "merge", "--policy", "keep-both", &dream])?, 4, &["1 conflict is open"])?;
    let ran = story.command(&["conflicts", "show", "1"])?;
    must(&ran, 0, &["Shop opens", "8:00", "10:00"])?;
    must(&story.command(&["conflicts", "resolve", "1", "--side", "1"])?, 0, &["is resolved"])?;
    answers(story, "Shop opens", "8:00")
}

fn undo(story: &mut Story, dream: &str) -> Result<(), Stop> {
    must(&story.command(&["undo", dream])?, 0, &["takes back"])?;
    answers(story, "list(Shop total(3, 4), Shop stock, Shop opens)", "list(7, 99, \"8:00\")")
}

/// The end: what came of all the requests, and what is left.
fn close(story: &mut Story, is_kept: bool) -> Result<(), Stop> {
    story.step(
        ("end", "The shop closes"),
        "Every request was answered, from the first step to the last.",
        |story| {
            story.check_requests()?;
            let counts = story.traffic.as_mut().map(Traffic::end).unwrap_or_default();
            // Neither a merge nor what was taken back has lost one of them.
            answers(story, "Till sold", &counts.answered().to_string())?;
            let time = story.start.elapsed();
            story.fact("requests", counts.to_json());
            story.fact("total_ms", json!(super::act::milliseconds(time)));
            let (answered, failed, slowest) = (counts.answered(), counts.failed, spoken(counts.slowest));
            story.note(&format!(
                "{answered} requests, {failed} failed, the slowest took {slowest}. All of this: {}.",
                spoken(time)
            ));
            wanted(story.stage.end(), || "the image did not come to its end by itself".into())
        },
    )?;
    if story.is_json {
        return Ok(());
    }
    let shown = system::shell::quoted(&story.stage.image);
    let [first, second] = match is_kept {
        true => [
            ("The image is yours:   ", format!("telos up {shown}")),
            ("in another terminal:  ", format!("telos send --image {shown} 'Shop total(3, 4)'")),
        ],
        false => [
            ("To play with it:  ", "telos demo --keep shop".to_string()),
            ("The language:     ", "telos demo language".to_string()),
        ],
    };
    for (words, command) in [first, second] {
        story.page.plain(&format!("\n{words}"));
        story.page.styled(BOLD, &command);
    }
    story.page.plain("\n");
    Ok(())
}

/// A command that ended as it must, and printed these words.
fn must(ran: &Ran, code: i32, words: &[&str]) -> Result<(), Stop> {
    if ran.code != Some(code) {
        return Err(Stop::Wrong(ended(ran)));
    }
    let missing = words.iter().find(|word| !ran.output.contains(**word));
    missing.map_or(Ok(()), |word| Err(Stop::Wrong(format!("`{}` does not say {word:?}", ran.command))))
}

fn ended(ran: &Ran) -> String {
    let words = [ran.output.trim_end(), ran.errors.trim_end()].join("\n");
    let code = ran.code.map_or("by a signal".to_string(), |code| format!("with exit code {code}"));
    format!("`{}` ended {code}: {}", ran.command, words.trim())
}

fn wanted(is_so: bool, otherwise: impl FnOnce() -> String) -> Result<(), Stop> {
    if is_so { Ok(()) } else { Err(Stop::Wrong(otherwise())) }
}

/// What the image says to a request by hand.
fn answers(story: &mut Story, expression: &str, right: &str) -> Result<(), Stop> {
    let ran = story.command(&["send", expression])?;
    story.check_requests()?;
    wanted(ran.code == Some(0) && ran.value() == right, || format!("{}, and not {right}", ended(&ran)))
}

/// The dream that `run --keep` tells of.
fn name_of(ran: &Ran) -> Result<String, Stop> {
    let name = ran.errors.lines().find_map(|line| line.strip_prefix("telos: ")?.split_once(" is kept"));
    name.map(|(name, _)| name.to_string()).ok_or_else(|| Stop::Wrong(format!("`{}` names no dream", ran.command)))
}

/// Why this host cannot seal dreams, if it cannot.
fn unsealed(story: &Story) -> Option<String> {
    let ran = story.actor.run(&["doctor", "--json"], None).ok()?;
    let told: Value = serde_json::from_str(&ran.output).ok()?;
    let walls = told["walls"].as_array()?;
    let missing = walls.iter().find(|wall| wall["strength"] == "missing")?;
    let (wall, why) = (missing["wall"].as_str()?, missing["why"].as_str()?);
    Some(format!("this host cannot seal dreams: {wall}: {why}; `telos doctor` says what is missing and how to get it"))
}
