//! `cargo xtask bench`: telos and its peers, interleaved in one run, since the machines are shared and noisy and only
//! ratios from the same minutes mean anything. One file per benchmark; what they share is measuring, statistics, report.

mod dream;
mod extras;
mod language;
mod measure;
mod merge;
mod report;
mod sandbox;
mod statistics;
mod store;

pub use merge::lists;

use crate::workspace::Workspace;
use anyhow::Result;

#[derive(clap::Subcommand)]
pub enum Bench {
    /// Dreams against a bare fork, the same walls made by hand, and bwrap
    Dream(dream::Options),
    /// The language against CPython and Lua
    Language(language::Options),
    /// The merge kernel against automerge, loro and yrs
    Merge(merge::Options),
    /// Sandboxes against plain programs, bwrap, unshare, runc and sandlock
    Sandbox(sandbox::Options),
    /// The store against a raw append, SQLite, LMDB, redb and fjall
    Store(store::Options),
}

pub fn run(workspace: &Workspace, bench: &Bench) -> Result<()> {
    match bench {
        Bench::Dream(options) => dream::run(workspace, options),
        Bench::Language(options) => language::run(workspace, options),
        Bench::Merge(options) => merge::run(workspace, options),
        Bench::Sandbox(options) => sandbox::run(workspace, options),
        Bench::Store(options) => store::run(workspace, options),
    }
}
