//! `cargo xtask bench language`: eight programs, each written in Io, Python and Lua to do the same work, and the extras
//! of `extras.rs`. Promises and last values are in `SPECIFICATION.md`.

use super::extras;
use super::measure::{Contender, interleave, require_same_output};
use super::report::{Bar, Comparison, Report};
use crate::workspace::{self, Workspace};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const PROGRAMS: [&str; 8] = ["for_loop", "method_call", "fib", "list", "map", "append", "clone", "slots"];
/// Our CPU time as a part of CPython's, at most, on each program.
const CPYTHON_BAR: f64 = 0.8;
/// On how many programs we are ahead of Lua, at least.
const LUA_BAR: usize = 5;
/// A program shorter than this in CPython measures start-up, not the language.
const CPYTHON_SECONDS: f64 = 0.3;

#[derive(clap::Args)]
pub struct Options {
    /// How often everything is run
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Also write the report, with every sample, to this file
    #[arg(long)]
    json: Option<PathBuf>,
    /// Only this program or extra
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(PROGRAMS.iter().chain(&extras::NAMES)))]
    only: Option<String>,
    /// Count instructions with callgrind instead of measuring time
    #[arg(long, requires = "only")]
    instructions: bool,
}

/// The three interpreters, and where the programs are.
pub struct Runtimes {
    pub telos: PathBuf,
    pub python: PathBuf,
    pub lua: PathBuf,
    pub programs: PathBuf,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let runtimes = Runtimes::find(workspace)?;
    if let (true, Some(name)) = (options.instructions, &options.only) {
        return count_instructions(workspace, &runtimes, name);
    }
    let rounds = options.rounds as usize;
    let is_wanted = |name: &str| options.only.as_deref().is_none_or(|only| only == name);
    let mut report = Report::new("language", rounds, runtimes.versions()?);
    println!("{}", report.machine);
    println!("{}", report.versions.values().cloned().collect::<Vec<_>>().join(" · "));
    compare_programs(&runtimes, is_wanted, &mut report)?;
    extras::measure(workspace, &runtimes, is_wanted, &mut report)?;
    report.finish(options.json.as_deref())
}

impl Runtimes {
    fn find(workspace: &Workspace) -> Result<Runtimes> {
        workspace::require("python3", "python3")?;
        // The interpreter itself: `python3` may be a script that chooses among versions.
        let output = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output()?;
        let python = String::from_utf8(output.stdout)?.trim().into();
        let lua = ["lua5.4", "lua"].into_iter().find(|program| is_lua_5_4(program));
        let Some(lua) = lua else {
            bail!("lua5.4 is missing: install it, on Debian and Ubuntu with `apt-get install lua5.4`")
        };
        let programs = workspace.root.join("bench").join("language");
        Ok(Runtimes { telos: workspace.build_telos(None)?, python, lua: lua.into(), programs })
    }

    /// The same program for each interpreter, ours first.
    pub fn contenders(&self, program: &str) -> [Contender; 3] {
        let source = |extension: &str| self.programs.join(format!("{program}.{extension}"));
        [
            Contender::new("telos", [self.telos.clone(), "run".into(), source("io")]),
            Contender::new("python", [self.python.clone(), source("py")]),
            Contender::new("lua", [self.lua.clone(), source("lua")]),
        ]
    }

    fn versions(&self) -> Result<BTreeMap<String, String>> {
        let version = |program: &Path, flag: &str| -> Result<String> {
            let output = Command::new(program).arg(flag).output()?;
            let text = [output.stdout, output.stderr].concat();
            Ok(String::from_utf8_lossy(&text).lines().next().unwrap_or("unknown").to_string())
        };
        Ok(BTreeMap::from([
            ("telos".into(), version(&self.telos, "--version")?),
            ("python".into(), version(&self.python, "--version")?),
            ("lua".into(), version(&self.lua, "-v")?),
        ]))
    }
}

fn is_lua_5_4(program: &str) -> bool {
    let output = Command::new(program).arg("-v").output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).starts_with("Lua 5.4"))
}

fn compare_programs(runtimes: &Runtimes, is_wanted: impl Fn(&str) -> bool, report: &mut Report) -> Result<()> {
    let wanted: Vec<&str> = PROGRAMS.into_iter().filter(|program| is_wanted(program)).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    for program in &wanted {
        require_same_output(&runtimes.contenders(program)).with_context(|| format!("benchmark {program}"))?;
    }
    println!("\nCPU seconds, median of {} rounds; ratios telos / peer with their 95 % interval\n", report.rounds);
    println!("{:<12} {:>8} {:>8} {:>8}   {:<18} {:<18}", "program", "telos", "python", "lua", "/ python", "/ lua");
    let mut ahead_of_lua = 0;
    for program in &wanted {
        let contenders = runtimes.contenders(program);
        let samples = interleave(&contenders, report.rounds)?;
        let names = contenders.iter().map(|contender| contender.name.clone());
        let comparison = Comparison::of_cpu_seconds(program, names, samples);
        let [telos, python, lua] = &comparison.series[..] else { unreachable!("there are three contenders") };
        let is_small = python.median.value < CPYTHON_SECONDS;
        println!(
            "{program:<12} {:>8.3} {:>8.3} {:>8.3}   {:<18} {:<18}{}",
            telos.median.value,
            python.median.value,
            lua.median.value,
            python.our_ratio.to_string(),
            lua.our_ratio.to_string(),
            if is_small { "too small for this machine" } else { "" },
        );
        ahead_of_lua += usize::from(lua.our_ratio.value < 1.0);
        report.bars.push(Bar::at_most(format!("{program}, telos / python"), python.our_ratio.value, CPYTHON_BAR));
        report.comparisons.push(comparison);
    }
    if wanted.len() == PROGRAMS.len() {
        report.bars.push(Bar::at_least("programs ahead of Lua", ahead_of_lua as f64, LUA_BAR as f64));
    }
    println!();
    Ok(())
}

/// Instructions do not depend on what else the machine does: the measure for small steps.
fn count_instructions(workspace: &Workspace, runtimes: &Runtimes, program: &str) -> Result<()> {
    ensure!(PROGRAMS.contains(&program), "instructions are counted for one of {}", PROGRAMS.join(", "));
    workspace::require("valgrind", "valgrind")?;
    for contender in runtimes.contenders(program) {
        let profile = workspace.target.join(format!("callgrind.{program}.{}", contender.name));
        let mut command = Command::new("valgrind");
        command.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", profile.display()));
        let output = command.args(&contender.words).output()?;
        let log = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{} under valgrind failed:\n{log}", contender.name);
        let instructions = collected(&log).context("callgrind did not say how many instructions it saw")?;
        println!("{:<8} {instructions:>16} instructions   {}", contender.name, profile.display());
    }
    Ok(())
}

fn collected(log: &str) -> Option<u64> {
    log.lines().find_map(|line| line.split("Collected :").nth(1)?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::{PROGRAMS, collected};
    use std::path::Path;

    #[test]
    fn every_program_exists_in_three_languages() {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/language");
        for program in PROGRAMS {
            for extension in ["io", "py", "lua"] {
                assert!(programs.join(format!("{program}.{extension}")).is_file(), "{program}.{extension}");
            }
        }
    }

    #[test]
    fn reads_the_count_of_callgrind() {
        assert_eq!(collected("==7== Events    : Ir\n==7== Collected : 123456\n==7=="), Some(123_456));
    }
}
