//! Commands that need no image that is up, as a user runs them. One program: each more would be linked anew.

#[path = "../launch/mod.rs"]
mod launch;

mod capabilities;
mod demo;
mod golden_host;
mod help;
mod hostile_host;
mod misuse;
mod readme;
mod report;
mod run;
