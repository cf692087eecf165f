//! The conformance suite of sandboxes: what a program inside must not be able to do, and what must work for it. One suite
//! for all backends, as root and as an ordinary user. Each row of the tables is a small program; most of them are this
//! binary, which is let into the sandbox and does there what the row says.
//!
//! `cargo test -p sandbox --test conformance [-- NAME]` plays the rows, `-- --list` tells them. A wrong answer fails. A
//! wall that this host lacks, or a program that it has not, is told by name.
//!
//! - `table`: what a row is; `ground`: what it aims at; `play`: one row; `round`: all of them; `saying`: the answers;
//!   `open`: what is known to be wrong; `dream`: rows in a copy of ourselves
//! - attempts: `calls`, `files`, `processes`, `network`, `resources`, `inherited`, `neighbours`, `changes`, `leftovers`,
//!   `orders`, `dreams`
//! - what must work: `works_programs`, `works_system`, `works_order`
//! - `zygote`: the same as children of Python's zygote

mod calls;
mod changes;
mod dream;
mod dreams;
mod files;
mod ground;
mod inherited;
mod leftovers;
mod neighbours;
mod network;
mod open;
mod orders;
mod play;
mod processes;
mod resources;
mod round;
mod saying;
mod table;
mod works_order;
mod works_programs;
mod works_system;
mod zygote;

use sandbox::Backend;
use std::process::ExitCode;
use table::{Program, Row};

/// What must fail, by theme.
const ATTEMPTS: &[&[Row]] = &[
    calls::ROWS,
    calls::OF_THIS_PROCESSOR,
    files::ROWS,
    processes::ROWS,
    network::ROWS,
    resources::ROWS,
    inherited::ROWS,
    neighbours::ROWS,
    changes::ROWS,
    leftovers::ROWS,
    orders::ROWS,
    dreams::ROWS,
];
/// What must work, by theme.
const WORKS: &[&[Row]] = &[works_programs::ROWS, works_system::ROWS, works_order::ROWS, dreams::WORKS];

/// Every backend that there is; each must pass all rows.
fn backends() -> Vec<Box<dyn Backend>> {
    let mut backends: Vec<Box<dyn Backend>> = vec![
        Box::new(sandbox::process::Process::new()),
        Box::new(sandbox::warden::Pooled::new()),
        Box::new(dream::Dream),
    ];
    backends.extend(zygote::Zygotes::new().map(|zygotes| Box::new(zygotes) as Box<dyn Backend>));
    backends
}

/// What only stories run.
const HALVES: &[&[Row]] =
    &[files::HALVES, inherited::HALVES, network::HALVES, neighbours::HALVES, resources::HALVES, leftovers::HALVES];

fn rows() -> impl Iterator<Item = &'static Row> {
    ATTEMPTS.iter().chain(WORKS).flat_map(|rows| rows.iter())
}

fn row(name: &str) -> Option<&'static Row> {
    rows().chain(HALVES.iter().flat_map(|rows| rows.iter())).find(|row| row.name == name)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--inside", name] => say_inside(name),
        ["--row", backend, name, ..] => round::play_alone(backend, name),
        ["--outside", backend, name, ..] => round::play_outside(backend, name),
        ["--list"] => round::list(),
        _ => return round::play_all(arguments.iter().copied().find(|argument| !argument.starts_with('-'))),
    }
    ExitCode::SUCCESS
}

/// Inside: makes the row's attempt and says what came of it.
fn say_inside(name: &str) {
    let Some(Row { program: Program::Own(attempt), .. }) = row(name) else {
        println!("there is no attempt {name}");
        return;
    };
    println!("{}", saying::line(attempt()));
}
